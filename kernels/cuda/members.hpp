#pragma once
/// One launch for several nodes of an operator (base/tensor/members.hpp): a group of threads does a
/// chunk of one of them, and finds which in a list on the device.
///
///     DTNN_CUDA_KERNEL_OF_MEMBERS(operator_name, Arguments) {
///         each_of(on_device(a, launch), launch,
///                 [=] DTNN_DEVICE(const Arguments<T>& a, std::int64_t i) { a.dst[i] = ...; });
///     }

#include <cstdint>
#include <vector>

#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {

/// The arguments of a kernel that joins: `Of<T>` lists those of its members.
template <template <class> class Arguments>
struct Members {
    template <class T>
    using Of = std::vector<Arguments<T>>;
};

/// Begin a kernel whose arguments `a` are those of its members.
#define DTNN_CUDA_KERNEL_OF_MEMBERS(function, Arguments) \
    DTNN_CUDA_KERNEL(function, Members<Arguments>::template Of)
#define DTNN_CUDA_KERNEL_OF_VALUE_MEMBERS(function, Arguments) \
    DTNN_CUDA_KERNEL_OF_VALUES(function, Members<Arguments>::template Of)

/// Elements that a group of threads does.
inline constexpr std::int64_t kMemberChunk = 4096;

template <class Arguments>
struct Member {
    Arguments arguments;
    std::int64_t first_chunk;
};

/// The members where kernels read them.
template <class Arguments>
struct MemberList {
    const Member<Arguments>* of;
    std::int64_t count, chunks;

    /// Whose chunk it is.
    DTNN_DEVICE const Member<Arguments>& member_of(std::int64_t chunk) const {
        std::int64_t first = 0, end = count;
        while (end - first > 1) {
            const std::int64_t middle = (first + end) / 2;
            (of[middle].first_chunk <= chunk ? first : end) = middle;
        }
        return of[first];
    }
};

template <class Arguments>
static MemberList<Arguments> on_device(const std::vector<Arguments>& members,
                                       const Launch& launch) {
    std::vector<Member<Arguments>> list;
    list.reserve(members.size());
    std::int64_t chunks = 0;
    for (const Arguments& arguments : members) {
        list.push_back({arguments, chunks});
        chunks += (arguments.count + kMemberChunk - 1) / kMemberChunk;
    }
    return {launch.constant(list), std::int64_t(list.size()), chunks};
}

/// f(arguments, i, numbers) for the elements i = 0 .. count - 1 of each member, where
/// prepare(arguments, numbers) has worked out what is alike for all of them: `Numbers` is a trivial
/// struct.
template <class Numbers, class Arguments, class Prepare, class F>
static void each_of(const MemberList<Arguments>& members, const Launch& launch,
                    const Prepare& prepare, const F& f) {
    launch.template groups<Numbers>(
        members.chunks,
        [=] DTNN_DEVICE(std::int64_t chunk, int thread, Numbers& numbers) {
            if (thread == 0) prepare(members.member_of(chunk).arguments, numbers);
        },
        [=] DTNN_DEVICE(std::int64_t chunk, int thread, Numbers& numbers) {
            const Member<Arguments>& member = members.member_of(chunk);
            // A copy, because what is stored might be what it points to.
            const Arguments arguments = member.arguments;
            const std::int64_t first = (chunk - member.first_chunk) * kMemberChunk;
            const std::int64_t left = arguments.count - first;
            const std::int64_t end = first + (left < kMemberChunk ? left : kMemberChunk);
#if defined(__CUDACC__)
// Unrolled it takes so many registers that too few threads are left to hide what reading takes.
#pragma unroll 1
#endif
            for (std::int64_t i = first + thread; i < end; i += kThreads)
                f(arguments, i, numbers);
        });
}

struct NoNumbers {};

template <class Arguments, class F>
static void each_of(const MemberList<Arguments>& members, const Launch& launch, const F& f) {
    each_of<NoNumbers>(
        members, launch, [] DTNN_DEVICE(const Arguments&, NoNumbers&) {},
        [=] DTNN_DEVICE(const Arguments& a, std::int64_t i, NoNumbers&) { f(a, i); });
}

}  // namespace dtnn::kernels::cuda
