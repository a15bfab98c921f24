#pragma once
/// A job as a list that edits are made to, and its text as a spec. It knows nothing of how plans
/// are compared.

#include <map>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn {

struct EditedLayer {
    int id = 0;  ///< stays when the layer moves or gets another name
    std::string type;
    std::string name;          ///< written when the job has names, or another layer needs it
    bool keeps_name = false;   ///< written in any case
    std::vector<int> sources;  ///< ids; -1: the model's input
    Attributes fields;
    Dims shape;  ///< of its result, before any edit
};

struct EditedJob {
    bool names = true;  ///< whether every layer's name is written, or made by the compiler
    Dims input;
    std::vector<EditedLayer> layers;
    /// Fields by name, their values as YAML; those of an optimizer as "optimizer.momentum".
    std::map<std::string, std::string> job, dataset, training;
    std::string optimizer = "sgd";

    /// A small job around the layers of a plan.
    static EditedJob of(const plan::Plan& plan, bool names);

    std::string text() const;
    int index_of(int id) const;  ///< -1: not there
    /// Whether it is written without `from`: it reads what is written before it.
    bool chained(std::size_t index) const;
    std::vector<std::size_t> readers(int id) const;
    int fresh_id() const;
};

}  // namespace dtnn
