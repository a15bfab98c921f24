#include "tests/gpu/host_network.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace dtnn::runtime::cuda {

std::string HostNetwork::exchange(int rank, plan::CollectiveKind kind, std::byte* data,
                                  std::int64_t count, DType dtype) {
    std::unique_lock lock(mutex_);
    const What what{kind, count, dtype};
    if (arrived_ == 0) what_ = what;
    if (*what_ != what) problem_ = "the ranks' exchanges are not the same";
    data_[std::size_t(rank)] = data;
    const std::int64_t mine = done_;
    if (++arrived_ == data_.size()) {
        if (problem_.empty()) {
            if (dtype == DType::f32) carry<float>(what);
            if (dtype == DType::f64) carry<double>(what);
            if (dtype == DType::i64) carry<std::int64_t>(what);
        }
        arrived_ = 0;
        ++done_;
        changed_.notify_all();
    }
    const bool came =
        changed_.wait_for(lock, std::chrono::seconds(120), [&] { return done_ > mine || left_; });
    if (!came) return "a rank has not come";
    if (done_ == mine) return "a rank has left";
    return problem_;
}

void HostNetwork::leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
}

/// Numbers are added in the order of the ranks. All memory is open: every rank waits in its work.
template <class T>
void HostNetwork::carry(const What& what) const {
    const auto at = [&](std::size_t rank) { return reinterpret_cast<T*>(data_[rank]); };
    const auto count = std::size_t(what.count);
    const auto sum = [&](std::size_t first) {
        std::vector<T> sums(count);
        for (std::size_t rank = 0; rank < data_.size(); ++rank)
            for (std::size_t i = 0; i < count; ++i)
                sums[i] += at(rank)[first + i];
        return sums;
    };
    if (what.kind == plan::CollectiveKind::all_reduce) {
        const std::vector<T> sums = sum(0);
        for (std::size_t rank = 0; rank < data_.size(); ++rank)
            std::copy(sums.begin(), sums.end(), at(rank));
        return;
    }
    if (what.kind == plan::CollectiveKind::all_gather) {
        for (std::size_t rank = 0; rank < data_.size(); ++rank)
            for (std::size_t of = 0; of < data_.size(); ++of)
                if (of != rank) std::copy_n(at(of) + of * count, count, at(rank) + of * count);
        return;
    }
    std::vector<std::vector<T>> sums;
    for (std::size_t rank = 0; rank < data_.size(); ++rank)
        sums.push_back(sum(rank * count));
    for (std::size_t rank = 0; rank < data_.size(); ++rank) {
        // The others' parts hold anything.
        std::memset(static_cast<void*>(at(rank)), 0xFF, data_.size() * count * sizeof(T));
        std::copy(sums[rank].begin(), sums[rank].end(), at(rank) + rank * count);
    }
}

}  // namespace dtnn::runtime::cuda
