#include "runtime/train/not_a_number.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "runtime/base/text_bytes.hpp"

namespace dtnn::runtime {

namespace {

/// The bytes in which it travels: the numbers, then its three texts.
std::vector<std::byte> bytes_of(const NotANumber& found) {
    const double numbers[] = {double(found.epoch), double(found.step), found.value,
                              found.first ? 1.0 : 0.0};
    const auto head = std::as_bytes(std::span(numbers));
    std::vector<std::byte> bytes(head.begin(), head.end());
    for (const std::string& text : {found.what, found.first ? found.first->place : std::string(),
                                    found.first ? found.first->fact : std::string()})
        append_text(bytes, text);
    return bytes;
}

NotANumber found_of(std::span<const std::byte> bytes) {
    NotANumber found;
    double numbers[4] = {};
    if (bytes.size() < sizeof numbers) return found;
    std::memcpy(numbers, bytes.data(), sizeof numbers);
    std::vector<std::string> texts = texts_of(bytes.subspan(sizeof numbers));
    texts.resize(3);
    found.epoch = std::int64_t(numbers[0]);
    found.step = std::int64_t(numbers[1]);
    found.value = numbers[2];
    found.what = texts[0];
    if (numbers[3] != 0) found.first = NotFinite{texts[1], texts[2]};
    return found;
}

}  // namespace

NotANumber first_of_ranks(const NotANumber& mine, Communicator& communicator) {
    if (communicator.ranks() == 1) return mine;
    NotANumber best;
    int rank = 0, from = -1;
    for (const auto& bytes : communicator.all_gather(bytes_of(mine), "what is not a number")) {
        const NotANumber found = found_of(bytes);
        const bool earlier = from < 0 || found.step < best.step ||
                             (found.step == best.step && found.first && !best.first);
        if (found.epoch > 0 && earlier) {
            best = found;
            from = rank;
        }
        ++rank;
    }
    // A finding that all have alike, as the loss of a validation, is nobody's; `what` is text for
    // people but for this one.
    if (best.what == "loss") best.what = fmt::format("loss of {}", communicator.name_of(from));
    return best;
}

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
