#pragma once
/// The part of the arena that lives through a whole run.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "plan/name_index.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// Collects parameters, states and inputs of all programs of a plan, and lays them out: parameters,
/// then the optimizer's state, then inputs, and room for the next run's where the device has memory
/// of its own, then what is kept from step to step. Parameters are merged by name, inputs are as
/// large as the largest program wants.
class PersistentRegion {
  public:
    explicit PersistentRegion(plan::Plan& plan) : plan_(plan) {}

    void collect(const Graph& graph);

    /// Parameters, as marks, become one buffer of so many bytes: one after the other, each at a
    /// multiple of plan::kAlignment. Every program that says so says the same.
    void share_buffer(const std::string& name, const std::vector<int>& marks, std::int64_t bytes);

    /// The residual that an exchange of this name keeps for the next time, on each rank its own: as
    /// a mark. Every program that has the exchange has as many numbers.
    int residual_of(const std::string& exchange, std::int64_t elements);

    /// Lays everything out and returns where it ends; afterwards marks lead to buffers.
    std::int64_t finish();

    /// Stands for the buffer of a parameter or an input of the graph that was collected last, until
    /// finish() has made it: less than -1.
    int mark_of(const Graph& graph, ValueId id) const;
    /// Likewise of a parameter, its place among the plan's.
    int parameter_of(int mark) const;
    int buffer_of(int mark) const;
    /// The offset of a parameter or an input in its buffer.
    std::int64_t offset_of(int mark) const;

  private:
    struct SharedBuffer {
        std::string name;
        std::vector<std::size_t> parameters;  // by arrival
        std::int64_t bytes = 0;
        int buffer = -1;
    };

    // The parameter's place in the order of arrival.
    int collect(const Graph& graph, const Parameter& parameter);

    /// All inputs of such buffers.
    void place_inputs(plan::BufferRole role);

    int add(const std::string& name, plan::BufferRole role, std::int64_t bytes);

    plan::Plan& plan_;
    plan::NameIndex parameter_index_;     // of plan_.parameters, in the order of arrival
    std::vector<int> mark_of_parameter_;  // by parameter of the last graph
    std::unordered_map<std::string, std::size_t> inputs_;
    std::vector<int> buffer_of_parameter_, buffer_of_input_;  // by arrival, after finish()
    std::vector<int> place_of_parameter_;                     // likewise
    std::vector<SharedBuffer> shared_;
    std::vector<int> shared_of_parameter_;           // by arrival: an index into shared_, or -1
    std::vector<std::int64_t> offset_of_parameter_;  // by arrival: in its buffer
    std::vector<std::string> input_names_;
    std::vector<std::int64_t> input_bytes_;
    std::vector<plan::BufferRole> input_roles_;  // by input: of the buffer that it is to have
    std::int64_t end_ = 0;
};

}  // namespace dtnn::compiler
