#pragma once
/// A matrix product of BLIS on the calling thread. blis.h is full of macros: what includes this is
/// compiled by itself.

#include <blis.h>

#include <cstdint>

namespace dtnn::kernels::DTNN_ISA {
namespace {

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
    const auto run = [&](auto function) {
        function(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, p.m, p.n, p.k, &one,
                 const_cast<T*>(p.a.data), p.a.row, p.a.column, const_cast<T*>(p.b.data), p.b.row,
                 p.b.column, &kept, p.c, p.c_row, inc_t{1}, nullptr, &settings);
    };
    if constexpr (sizeof(T) == sizeof(float)) {
        run(bli_sgemm_ex);
    } else {
        run(bli_dgemm_ex);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
