#include "runtime/train/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/base/text_bytes.hpp"

namespace dtnn::runtime {
namespace {

/// The bytes in which a RunError travels: the exit code, and its three texts.
std::vector<std::byte> bytes_of(const std::optional<RunError>& error) {
    std::vector<std::byte> bytes;
    if (!error) return bytes;
    bytes.push_back(std::byte(error->exit()));
    for (const std::string& text : {std::string(error->what()), error->help(), error->detail()})
        append_text(bytes, text);
    return bytes;
}

RunError error_of(std::span<const std::byte> bytes, const std::string& rank) {
    std::vector<std::string> texts = texts_of(bytes.subspan(1));
    texts.resize(3);
    return RunError(Exit(std::to_integer<int>(bytes.front())), rank + texts[0], texts[1], texts[2]);
}

}  // namespace

Agreement::Agreement(Communicator& communicator) : communicator_(communicator) {
    if (communicator.ranks() == 1) return;
    exchange_ = communicator.all_reduce(flags_.data(), std::int64_t(flags_.size()), DType::i64,
                                        Reduction::maximum, "what the ranks have found");
}

Findings Agreement::tell(const Findings& mine) {
    if (!exchange_) return mine;
    const Findings found = settle();
    flags_ = {mine.stop, mine.checkpoint, mine.enough, mine.broken};
    exchange_->start();
    under_way_ = true;
    return found;
}

Findings Agreement::settle() {
    if (!under_way_) return {};
    exchange_->wait();
    under_way_ = false;
    stopped_ = stopped_ || flags_[0] != 0;
    return {flags_[0] != 0, flags_[1] != 0, flags_[2] != 0, flags_[3] != 0};
}

Findings Agreement::agree(const Findings& mine) {
    if (!exchange_) return mine;
    const Findings before = tell(mine);
    const Findings now = settle();
    return {before.stop || now.stop, before.checkpoint || now.checkpoint,
            before.enough || now.enough, before.broken || now.broken};
}

bool Agreement::stopped() const {
    return exchange_ ? stopped_ : asked_to_stop();
}

bool Agreement::asked_to_stop() const {
    return asked_ || stop_requested() != 0;
}

void together(Communicator& communicator, const std::string& name,
              const std::function<void()>& work) {
    if (communicator.ranks() == 1) return work();
    std::optional<RunError> error;
    try {
        work();
    } catch (const RunError& found) {
        error = found;
    } catch (const std::bad_alloc&) {
        error = RunError(Exit::failed, "there is not enough memory",
                         "run on a machine with more, or with fewer ranks on each");
    } catch (const std::system_error& found) {
        error = system_error(found);
    }
    const std::vector<std::vector<std::byte>> all = communicator.all_gather(bytes_of(error), name);
    const auto first =
        std::find_if(all.begin(), all.end(), [](const auto& bytes) { return !bytes.empty(); });
    if (first == all.end()) return;
    const bool alike =
        std::all_of(all.begin(), all.end(), [&](const auto& bytes) { return bytes == *first; });
    throw SharedRunError(
        error_of(*first, alike ? "" : communicator.name_of(int(first - all.begin())) + ": "));
}

}  // namespace dtnn::runtime
