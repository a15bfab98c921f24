#include "runtime/train/divergence.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/quantity_text.hpp"

namespace dtnn::runtime {
namespace {

NotANumber found_at(const TrainingPlace& place, const char* what = "", double value = 0) {
    return {what, value, place.epoch, place.step, std::nullopt, ""};
}

}  // namespace

Divergence::Divergence(Session& session, TrainingObserver& observer, const TrainingRequest& request)
    : session_(session), observer_(observer), request_(request) {
    if (request.check_numbers) check_.emplace(session.executor());
}

void Divergence::look_at_batch(double loss, const TrainingPlace& place) {
    const bool finite = std::isfinite(loss);
    if (finite && !(check_ && check_->found())) return;
    if (found_) return;
    found_ = found_at(place, finite ? "" : "loss", loss);
    if (check_) found_->first = check_->suspect();
    if (session_.ranks() == 1) report(place);
}

void Divergence::look_at_validation(const PassValues& validation, const TrainingPlace& place) {
    if (validation.samples == 0) return;
    if (!std::isfinite(validation.loss()))
        report(found_at(place, "validation loss", validation.loss()), place);
    if (check_ && check_->found()) found_ = found_at(place);
}

void Divergence::report(const TrainingPlace& place) {
    report(found_.value_or(NotANumber{}), place);
}

void Divergence::report(const NotANumber& mine, const TrainingPlace& place) {
    session_.pipeline().stop();
    found_.reset();
    NotANumber found = first_of_ranks(mine, session_.communicator());
    if (!check_) {
        // A validation loss of NaN though all weights are finite: the validation makes the NaN.
        if (found.what == "validation loss" && !parameter_not_finite(session_.executor()))
            found = validated_again(found);
        if (!found.first) found.search = search(place.step);
    } else if (!found.first) {
        NotANumber seen = found;
        seen.first = check_->suspect();
        found = first_of_ranks(seen, session_.communicator());
    }
    if (!found.first) found.first = parameter_not_finite(session_.executor());
    throw SharedRunError(not_a_number(session_.plan(), found));
}

/// The same validation again, with a look at every result.
NotANumber Divergence::validated_again(NotANumber found) {
    NumberCheck check(session_.executor());
    static_cast<void>(session_.validate(&check));
    found.first = check.suspect();
    return first_of_ranks(found, session_.communicator());
}

/// Repeats the steps since the last state that can be gone back to, looking at every result, and
/// throws what that finds. Otherwise returns what is said of a search that has found nothing.
std::string Divergence::search(std::int64_t until_step) {
    if (!request_.rewind) return "";
    const std::string remedy = "; --check-numbers looks at every result from the beginning";
    if (session_.agreement().agree({.stop = session_.agreement().asked_to_stop()}).stop)
        return "a stop was requested" + remedy;
    TrainingState from;
    try {
        from = request_.rewind();
    } catch (const RunError& error) {
        return fmt::format("no step can be repeated: {}", error.what());
    }
    if (from.step >= until_step) return "";
    observer_.searching(from, until_step);
    TrainingRequest again;
    again.from = &from;
    again.check_numbers = true;
    again.until_step = until_step;
    again.until_seconds = kSearchSeconds;
    TrainingObserver nobody;
    const std::int64_t until = train(session_, nobody, again).step;
    if (until < until_step) {
        return fmt::format("steps {} to {} were repeated in {} and made none{}", from.step + 1,
                           until, limit_text(kSearchSeconds), remedy);
    }
    return fmt::format("steps {} to {} were repeated and made none", from.step + 1, until);
}

}  // namespace dtnn::runtime
