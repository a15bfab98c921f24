#pragma once
/// A matrix product of BLIS on the calling thread. blis.h is full of macros: what includes this is
/// compiled by itself.

#include <blis.h>

#include <cstdint>

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The context (blocking, micro-kernels) of BLIS's kernels for this instruction set: those of
/// Haswell for AVX2, of Skylake for AVX-512. Left to itself BLIS takes the processor's own, so that
/// a plan's bits would depend on the machine, and portable loops, three times as slow, on a
/// processor that is newer than the library (0.9 knows nothing after Zen 3). Null, which leaves
/// the choice to BLIS, where the library was built without these kernels or keeps their contexts
/// to itself.
inline cntx_t* blis_context() {
#if !defined(DTNN_BLIS_CONTEXTS)
    return nullptr;
#else
    bli_init();
#if defined(__AVX512F__) && defined(BLIS_CONFIG_SKX)
    return bli_gks_lookup_nat_cntx(BLIS_ARCH_SKX);
#elif defined(BLIS_CONFIG_HASWELL)
    return bli_gks_lookup_nat_cntx(BLIS_ARCH_HASWELL);
#else
    return nullptr;
#endif
#endif
}

/// c[m,n] = a[m,k] * b[k,n], or, with `adds`, c + that. A matrix is a pointer and the elements
/// between its rows and columns.
template <class T>
struct Product {
    struct Matrix {
        const T* data;
        std::int64_t row, column;
    };
    std::int64_t m, n, k;
    Matrix a, b;
    T* c;
    std::int64_t c_row;
    bool adds = false;
};

/// The settings are written out, because blis.h's functions for them are inline and would be one
/// symbol for all instruction sets. `packed`: copy the operands to panels first, which pays where
/// both are read across their rows.
template <class T>
void multiply(const Product<T>& p, bool packed) {
    rntm_t settings = BLIS_RNTM_INITIALIZER;
    settings.num_threads = 1;
    settings.l3_sup = !packed;
    T one = 1;
    T kept = p.adds ? 1 : 0;
    cntx_t* const context = blis_context();
    const auto run = [&](auto function) {
        function(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, p.m, p.n, p.k, &one,
                 const_cast<T*>(p.a.data), p.a.row, p.a.column, const_cast<T*>(p.b.data), p.b.row,
                 p.b.column, &kept, p.c, p.c_row, inc_t{1}, context, &settings);
    };
    if constexpr (sizeof(T) == sizeof(float)) {
        run(bli_sgemm_ex);
    } else {
        run(bli_dgemm_ex);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
