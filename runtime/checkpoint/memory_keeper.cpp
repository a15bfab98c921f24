#include "runtime/checkpoint/memory_keeper.hpp"

#include <algorithm>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

template <class Use>
void MemoryKeeper::each(HostView::Access access, const Use& use) {
    const std::vector<plan::Parameter>& parameters = executor_.plan().parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].optimizer_state && parameters[i].kind != plan::ParameterKind::average)
            continue;
        const HostView view = executor_.parameter_view(i, access);
        use(view.bytes());
    }
}

void MemoryKeeper::keep_best(const BestWeights& best) {
    for (const std::int64_t epoch : best.dropped)
        best_.erase({best.key, epoch});
    if (!best.to_restore) return;
    std::vector<std::byte>& kept = best_[{best.key, best.epoch}];
    kept.clear();
    each(HostView::Access::read,
         [&](std::span<std::byte> bytes) { kept.insert(kept.end(), bytes.begin(), bytes.end()); });
}

void MemoryKeeper::forget_others(const std::vector<KeptWeights>& kept) {
    std::erase_if(best_, [&](const auto& one) {
        return std::none_of(kept.begin(), kept.end(), [&](const KeptWeights& other) {
            return other.key == one.first.first && other.epoch == one.first.second;
        });
    });
}

void MemoryKeeper::take_back(const BestWeights& best) {
    const auto found = best_.find({best.key, best.epoch});
    if (found == best_.end())
        throw RunError(Exit::failed, "the best weights were not kept", "train from the beginning");
    const std::byte* from = found->second.data();
    each(HostView::Access::write, [&](std::span<std::byte> bytes) {
        std::copy_n(from, bytes.size(), bytes.begin());
        from += bytes.size();
    });
}

}  // namespace dtnn::runtime
