#include "runtime/train/not_a_number.hpp"

#include <fmt/format.h>

namespace dtnn::runtime {

RunError not_a_number(const plan::Plan& plan, const NotANumber& found) {
    std::string detail = fmt::format("epoch {}, step {}", found.epoch, found.step);
    bool from_data = false;
    if (found.first) {
        detail += fmt::format("\n  the first result that was not finite: {}: {}",
                              found.first->place, found.first->fact);
        from_data = found.first->place.starts_with("the input");
    }
    if (!found.search.empty()) detail += "\n  " + found.search;
    const std::string fact =
        found.what.empty() ? fmt::format("a result of step {} is not finite", found.step)
                           : fmt::format("the {} is {}", found.what, number_text(found.value));
    const std::string remedy =
        from_data ? std::string("the samples hold what is no number: mend the dataset")
                  : fmt::format(
                        "the learning rate is {}; a smaller one, or one that begins small "
                        "(the schedule warm_up), is what most often helps "
                        "(--set training.optimizer.{}.learning_rate=...)",
                        plan.training.learning_rate, plan.training.optimizer);
    return RunError(Exit::diverged, fact, remedy, detail);
}

}  // namespace dtnn::runtime
