#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Multiplies and adds on as many vectors at once as hide the latency of either; `rounds` times.
/// Returns the floating-point operations that it was.
template <class T>
double multiply_and_add(std::int64_t rounds, T* sum) {
    using V = Simd<T>;
    constexpr int kChains = 12;
    typename V::Vector chains[kChains];
    for (int i = 0; i < kChains; ++i)
        chains[i] = V::broadcast(T(i));
    const typename V::Vector factor = V::broadcast(T(0.5)), term = V::broadcast(T(0.25));
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
        for (int i = 0; i < kChains; ++i)
            chains[i] = V::fma(chains[i], factor, term);
    }
    typename V::Vector all = V::zero();
    for (int i = 0; i < kChains; ++i)
        all += chains[i];
    *sum = V::reduce_add(all);
    return 2.0 * kChains * V::kLanes * double(rounds);
}

/// to = a + b / 2: two streams in and one out.
template <class T>
void stream_sum(const T* a, const T* b, T* to, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = a[i] + T(0.5) * b[i];
}

template double multiply_and_add<float>(std::int64_t, float*);
template double multiply_and_add<double>(std::int64_t, double*);
template void stream_sum<float>(const float*, const float*, float*, std::int64_t);

}  // namespace dtnn::kernels::DTNN_ISA
