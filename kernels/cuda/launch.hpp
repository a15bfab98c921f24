#pragma once
/// The small language that our own kernels are written in. nvcc compiles it for devices; any C++
/// compiler compiles it for the host, where a grid is a loop and a barrier the end of one, so that
/// the arithmetic can be compared with kernels/reference where there is no device.
///
///     launch.each(count, [=] DTNN_DEVICE(std::int64_t i) { dst[i] = src[i]; });
///
///     struct Shared { double sums[kThreads]; };
///     launch.groups<Shared>(rows,
///         [=] DTNN_DEVICE(std::int64_t row, int thread, Shared& shared) { ... },
///         // a barrier of the group
///         [=] DTNN_DEVICE(std::int64_t row, int thread, Shared& shared) { ... });
///
/// Of groups that work towards one result, the last to arrive goes on (LastOf, below). Where a
/// group works through its operands step by step, `launch.steps(count, tile)` keeps what each
/// thread has worked out from step to step, and reads ahead (below).
///
/// Elements and groups run in any order and at the same time; so do the threads of a group between
/// two barriers. Nothing survives a barrier but memory. What a launch does is done before the next
/// one of the same stream begins. Lambdas capture plain values and pointers to device memory, by
/// value, and so the arguments of a kernel where they have no lists.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/device.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#else
#include <array>
#include <cstring>
#include <functional>
#endif

namespace dtnn::kernels::cuda {

/// A step asks for an engine that its library does not have (KernelInfo::library).
struct NoSuchEngine {};

/// Threads of a group.
inline constexpr int kThreads = 256;

/// The things that a bound kernel keeps from run to run: lists that its arguments have, on the
/// device, and what it has asked of NVIDIA's libraries. They are made in its first run, which must
/// be outside of a capture.
class Kept {
  public:
    Kept() = default;
    ~Kept();
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    /// From now on list() gives again what it gave since the last time.
    void begin() { next_ = 0; }
    void* list(const void* bytes, std::size_t size);
    /// The result of make() in the first run: one object of a kernel, always of the same type.
    template <class State, class Make>
    State& state(const Make& make) {
        if (!state_) state_ = std::make_shared<State>(make());
        return *static_cast<State*>(state_.get());
    }

  private:
    std::vector<void*> lists_;
    std::size_t next_ = 0;
    std::shared_ptr<void> state_;
};

/// Groups that share a counter, and how many they are. If none, this group is not to go on.
struct Meeting {
    std::int64_t counter, groups;
};

/// A phase of `groups` behind which a group goes on only if it is the last to arrive of those of
/// meeting(group), a Meeting: it reads what all of them have written. Which one it is differs from
/// run to run, so that what it does must not depend on it. The counters (Launch::counters) are zero
/// again when all have arrived.
template <class Of>
struct LastOf {
    unsigned* counters;
    Of meeting;
};
template <class Of>
LastOf(unsigned*, Of) -> LastOf<Of>;

#if defined(__CUDACC__)
using Stream = cudaStream_t;

/// A call of the CUDA runtime that has failed; `code` is its cudaError_t.
struct LaunchFailed {
    int code = 0;
};

namespace detail {

template <class F>
__global__ void __launch_bounds__(kThreads) each_kernel(std::int64_t count, F f) {
    const std::int64_t step = std::int64_t(gridDim.x) * kThreads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
        f(i);
}

/// Whether the group goes on.
template <class Shared, class Phase>
__device__ bool run(const Phase& phase, std::int64_t group, Shared& shared) {
    phase(group, int(threadIdx.x), shared);
    __syncthreads();
    return true;
}
/// Asked by one thread of the group, behind a barrier: what the group has written is seen before
/// its arrival, and nothing is read before it.
template <class Of>
__device__ bool is_last(const LastOf<Of>& phase, std::int64_t group) {
    const Meeting of = phase.meeting(group);
    if (of.groups <= 1) return of.groups == 1;
    __threadfence();
    const bool last = atomicAdd(phase.counters + of.counter, 1U) + 1 == unsigned(of.groups);
    __threadfence();
    if (last) phase.counters[of.counter] = 0;
    return last;
}
template <class Shared, class Of>
__device__ bool run(const LastOf<Of>& phase, std::int64_t group, Shared&) {
    return __syncthreads_or(threadIdx.x == 0 && is_last(phase, group)) != 0;
}

template <class Shared, class... Phases>
__global__ void __launch_bounds__(kThreads) groups_kernel(std::int64_t count, Phases... phases) {
    __shared__ alignas(16) unsigned char bytes[sizeof(Shared)];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    for (std::int64_t group = blockIdx.x; group < count; group += gridDim.x)
        (void)(run(phases, group, shared) && ...);
}

template <class Tile>
__global__ void __launch_bounds__(kThreads) steps_kernel(std::int64_t count, Tile tile) {
    __shared__ alignas(16) unsigned char bytes[2][sizeof(typename Tile::Shared)];
    const auto shared = [&](std::int64_t step) -> typename Tile::Shared& {
        return *reinterpret_cast<typename Tile::Shared*>(bytes[step & 1]);
    };
    const int thread = int(threadIdx.x);
    const std::int64_t steps = tile.steps();
    for (std::int64_t group = blockIdx.x; group < count; group += gridDim.x) {
        typename Tile::Own own;
        tile.begin(group, thread, own);
        tile.fetch(0, thread, own);
        tile.put(thread, own, shared(0));
        __syncthreads();
        for (std::int64_t step = 0; step < steps; ++step) {
            const bool more = step + 1 < steps;
            if (more) tile.fetch(step + 1, thread, own);
            tile.add(thread, shared(step), own);
            if (more) tile.put(thread, own, shared(step + 1));
            __syncthreads();
        }
        tile.end(group, thread, own);
    }
}

inline unsigned blocks_of(std::int64_t wanted) {
    // Enough to fill any device, few enough for a grid's first dimension.
    constexpr std::int64_t kMost = std::int64_t{1} << 20;
    return unsigned(wanted < kMost ? wanted : kMost);
}

inline void check() {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw LaunchFailed{int(error)};
}

}  // namespace detail
#else
/// In what order the host runs what a device runs at the same time: a kernel whose results depend
/// on it has a race.
enum class HostOrder { forward, backward };
/// A stream as the host plays it. Launches go to the list, if there is one, and are done when
/// somebody calls them, in the list's order: until then no memory of the device is read or written,
/// as it would not be on a device.
struct Stream {
    HostOrder order = HostOrder::forward;
    std::vector<std::function<void(HostOrder)>>* later = nullptr;
};

namespace detail {

/// Whether the group goes on.
template <class Shared, class Phase>
bool run(const Phase& phase, std::int64_t group, Shared& shared, bool forward) {
    for (int thread = 0; thread < kThreads; ++thread)
        phase(group, forward ? thread : kThreads - 1 - thread, shared);
    return true;
}
template <class Shared, class Of>
bool run(const LastOf<Of>& phase, std::int64_t group, Shared&, bool) {
    const Meeting of = phase.meeting(group);
    if (of.groups <= 1) return of.groups == 1;
    unsigned& counter = phase.counters[of.counter];
    const bool last = ++counter == unsigned(of.groups);
    if (last) counter = 0;
    return last;
}

}  // namespace detail
#endif

/// The destination of the kernels of one call.
class Launch {
  public:
    Launch(Stream stream, Kept& kept) : stream_(stream), kept_(kept) { kept_.begin(); }
    Stream stream() const { return stream_; }

    /// f(i) for i = 0 .. count - 1.
    template <class F>
    void each(std::int64_t count, const F& f) const;

    /// phase(group, thread, shared) for the groups 0 .. count - 1 and the threads 0 .. kThreads - 1
    /// of each, with a barrier of the group behind every phase. A phase may be a LastOf. `Shared`
    /// is a trivial struct; it holds anything at first.
    template <class Shared, class... Phases>
    void groups(std::int64_t count, const Phases&... phases) const;

    /// For the groups 0 .. count - 1 and the threads of each
    ///     tile.begin(group, thread, own)
    ///     for the steps 0 .. tile.steps() - 1, of which there is at least one:
    ///         tile.fetch(step, thread, own)    reads from the device's memory
    ///         tile.put(thread, own, shared)    gives it to the group: a barrier comes behind
    ///         tile.add(thread, shared, own)    works on what all threads gave
    ///     tile.end(group, thread, own)
    /// where a step's fetch comes before the add of the one before, and its put behind it. `Own` is
    /// a thread's, `Shared` a step's; both are trivial structs that hold anything at first.
    template <class Tile>
    void steps(std::int64_t count, const Tile& tile) const;

#if !defined(__CUDACC__)
    /// work(order), now or later.
    template <class Work>
    void on_host(const Work& work) const {
        if (stream_.later == nullptr)
            work(stream_.order);
        else
            stream_.later->push_back(work);
    }
#endif

    /// The list on the device; null: it is empty.
    template <class V>
    const V* constant(const std::vector<V>& values) const {
        if (values.empty()) return nullptr;
        return static_cast<const V*>(kept_.list(values.data(), std::span(values).size_bytes()));
    }

    /// So many counters on the device, which a launch finds zero and leaves zero; null: none.
    unsigned* counters(std::int64_t count) const {
        if (count == 0) return nullptr;
        const std::vector<unsigned> zeros(static_cast<std::size_t>(count));
        return static_cast<unsigned*>(kept_.list(zeros.data(), std::span(zeros).size_bytes()));
    }

    /// The result of make() in the kernel's first run (Kept).
    template <class State, class Make>
    State& state(const Make& make) const {
        return kept_.state<State>(make);
    }

  private:
    Stream stream_;
    Kept& kept_;
};

template <class F>
void Launch::each(std::int64_t count, const F& f) const {
    if (count <= 0) return;
#if defined(__CUDACC__)
    detail::
        each_kernel<<<detail::blocks_of((count + kThreads - 1) / kThreads), kThreads, 0, stream_>>>(
            count, f);
    detail::check();
#else
    on_host([count, f](HostOrder order) {
        for (std::int64_t i = 0; i < count; ++i)
            f(order == HostOrder::forward ? i : count - 1 - i);
    });
#endif
}

template <class Shared, class... Phases>
void Launch::groups(std::int64_t count, const Phases&... phases) const {
    if (count <= 0) return;
#if defined(__CUDACC__)
    detail::groups_kernel<Shared>
        <<<detail::blocks_of(count), kThreads, 0, stream_>>>(count, phases...);
    detail::check();
#else
    on_host([=](HostOrder order) {
        // On the heap, where the address sanitizer looks.
        const auto shared = std::make_unique<Shared>();
        const bool forward = order == HostOrder::forward;
        for (std::int64_t i = 0; i < count; ++i) {
            std::memset(static_cast<void*>(shared.get()), 0xA5, sizeof(Shared));
            const std::int64_t group = forward ? i : count - 1 - i;
            (void)(detail::run(phases, group, *shared, forward) && ...);
        }
    });
#endif
}

template <class Tile>
void Launch::steps(std::int64_t count, const Tile& tile) const {
    if (count <= 0) return;
#if defined(__CUDACC__)
    detail::steps_kernel<<<detail::blocks_of(count), kThreads, 0, stream_>>>(count, tile);
    detail::check();
#else
    on_host([=](HostOrder order) {
        // On the heap, where the address sanitizer looks. Steps have two places by turns.
        const auto own = std::make_unique<std::array<typename Tile::Own, kThreads>>();
        const auto shared = std::make_unique<std::array<typename Tile::Shared, 2>>();
        const bool forward = order == HostOrder::forward;
        for (std::int64_t i = 0; i < count; ++i) {
            std::memset(static_cast<void*>(own.get()), 0xA5, sizeof(*own));
            std::memset(static_cast<void*>(shared.get()), 0xA5, sizeof(*shared));
            const std::int64_t group = forward ? i : count - 1 - i;
            const auto all = [&](const auto& work) {
                for (int j = 0; j < kThreads; ++j) {
                    const int thread = forward ? j : kThreads - 1 - j;
                    work(thread, (*own)[std::size_t(thread)]);
                }
            };
            const auto place = [&](std::int64_t step) -> auto& {
                return (*shared)[step & 1];
            };
            all([&](int thread, auto& mine) {
                tile.begin(group, thread, mine);
                tile.fetch(0, thread, mine);
                tile.put(thread, mine, place(0));
            });
            for (std::int64_t step = 0; step < tile.steps(); ++step) {
                all([&](int thread, auto& mine) {
                    const bool more = step + 1 < tile.steps();
                    if (more) tile.fetch(step + 1, thread, mine);
                    tile.add(thread, place(step), mine);
                    if (more) tile.put(thread, mine, place(step + 1));
                });
            }
            all([&](int thread, auto& mine) { tile.end(group, thread, mine); });
        }
    });
#endif
}

}  // namespace dtnn::kernels::cuda
