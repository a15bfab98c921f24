#include "tools/dtnn_run/restarts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity_text.hpp"
#include "base/text.hpp"

namespace dtnn {
namespace {

bool another_try_may_mend(int code) {
    constexpr std::array<int, 8> kFinal = {0, 2, 3, 4, 5, 6, 70, 75};
    return std::find(kFinal.begin(), kFinal.end(), code) == kFinal.end();
}

}  // namespace

Decision Restarts::after(const TryEnd& end) {
    if (most_ == 0 || end.stop_asked || end.answer_lost || !another_try_may_mend(end.code))
        return {};
    const bool no_further = done_ > 0 && end.step.value_or(-1) <= step_.value_or(-1);
    idle_ = no_further ? idle_ + 1 : 0;
    step_ = end.step;
    const std::string where =
        end.step ? fmt::format("the checkpoint of step {}", *end.step) : "the beginning";
    if (done_ == most_) {
        return {false, 0,
                fmt::format("given up after {}: {}; the last try came {}",
                            count_text(most_, "restart"), end.reason,
                            no_further ? fmt::format("no further than {}", where)
                                       : fmt::format("to {}", where))};
    }
    ++done_;
    const double seconds = std::min(60.0, std::pow(2.0, std::min(idle_, 10)));
    return {true, seconds,
            fmt::format("restart {} of {} in {} from {}{}: {}", done_, most_, limit_text(seconds),
                        where, no_further ? ", no further than the one before" : "", end.reason)};
}

}  // namespace dtnn
