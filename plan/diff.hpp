#pragma once
/// What differs between two plans, and what the difference means for the run.

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

enum class Meaning {
    mathematics,  ///< another function is trained, or trained in another way
    performance,  ///< the same values but for rounding; time and memory may differ
    result,       ///< a consequence that is measured, not chosen: memory, work
    name,         ///< what things are called
};
const char* label_of(Meaning meaning);  ///< "changes the mathematics", "performance only",
                                        ///< "consequence", "name only"

struct Change {
    std::string section;  ///< layers, parameters, settings, target, memory, work, fusion, kernels,
                          ///< programs, passes
    std::string what;     ///< "training.batch_size", "conv2d_1.filters", "train: conv2d_1"
    std::string before;   ///< empty: was not there
    std::string after;    ///< empty: is gone
    Meaning meaning = Meaning::performance;
    std::string reason;  ///< one sentence: why it means that
};

/// In a fixed order: layers, parameters, settings, target, passes, programs, fusion, kernels,
/// memory, work. Where a value was written (places, origins) is no difference.
std::vector<Change> diff(const Plan& a, const Plan& b);

std::string diff_text(const std::vector<Change>& changes, const std::string& a,
                      const std::string& b);
/// {"version": 1, "same", "changes": [{"section", "what", "before", "after", "meaning", "reason"}],
///  "changes_the_mathematics"}
std::string diff_json(const std::vector<Change>& changes);

}  // namespace dtnn::plan
