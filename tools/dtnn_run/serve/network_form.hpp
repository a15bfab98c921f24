#pragma once
/// What a served network takes and gives, as clients are told.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/train/predict.hpp"
#include "tools/dtnn_run/serve/http.hpp"

namespace dtnn::serve {

/// The name of the output.
inline constexpr const char* kOutputName = "predictions";

struct NetworkForm {
    /// `name` is what clients call it.
    NetworkForm(std::string name, const plan::Plan& plan, std::string checksum,
                std::vector<std::string> classes);

    std::string name;
    std::string checksum;  ///< of the plan
    /// Each with a name: the only one that the plan does not name is `x`, as in files of arrays.
    std::vector<plan::Feature> inputs;
    bool lengths = false;  ///< the last of them says how many steps each sample has
    runtime::PredictionForm output;
    DType dtype = DType::f32;          ///< of the output
    std::vector<std::string> classes;  ///< names; empty: nobody has named them
    std::int64_t batch = 1;            ///< samples that are computed together at most
    std::int64_t numbers_per_sample = 0;

    /// The answer to /v2/models/NAME.
    Answer metadata() const;
};

}  // namespace dtnn::serve
