#pragma once
/// The message about a training that has met a NaN or an infinity.

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/exec/number_check.hpp"

namespace dtnn::runtime {

/// Steps are repeated for at most so long to find the first result that was not finite.
inline constexpr double kSearchSeconds = 300;

struct NotANumber {
    std::string what;  ///< "loss", "validation loss"; empty: a result, not the loss
    double value = 0;
    std::int64_t epoch = 0;          ///< from 1
    std::int64_t step = 0;           ///< from 1, over the training
    std::optional<NotFinite> first;  ///< where it came from, if that is known
    std::string search;              ///< what was repeated, or why nothing was
};

/// Together: the earliest of what the ranks have found, as told by the lowest rank that knows most
/// about it. A rank that has found nothing gives a NotANumber as it is made. With several ranks,
/// `what` says whose it is.
NotANumber first_of_ranks(const NotANumber& mine, Communicator& communicator);

/// Exit 6: the fact, epoch and step, the result that came first, what was repeated, the remedy.
RunError not_a_number(const plan::Plan& plan, const NotANumber& found);

}  // namespace dtnn::runtime
