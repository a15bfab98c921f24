#pragma once
/// Matrix products of BLIS on the calling thread, whole ones and those of its micro-kernel alone.
/// blis.h is full of macros: what includes this is compiled by itself.

#include <blis.h>

#include <cstdint>

#include "kernels/blis_kernels.hpp"
#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// c[m,n] = a[m,k] * b[k,n]. A matrix is a pointer and the elements between its rows and columns.
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
};

/// The settings are written out, because blis.h's functions for them are inline and would be one
/// symbol for all instruction sets. `packed`: copy the operands to panels first, which pays where
/// both are read across their rows.
template <class T>
void multiply(const Product<T>& p, bool packed) {
    rntm_t settings = BLIS_RNTM_INITIALIZER;
    settings.num_threads = 1;
    settings.l3_sup = !packed;
    T one = 1, zero = 0;
    auto* context = static_cast<cntx_t*>(blis_kernels(kVectorBytes, sizeof(T) == 8).context);
    const auto run = [&](auto function) {
        function(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, p.m, p.n, p.k, &one,
                 const_cast<T*>(p.a.data), p.a.row, p.a.column, const_cast<T*>(p.b.data), p.b.row,
                 p.b.column, &zero, p.c, p.c_row, inc_t{1}, context, &settings);
    };
    if constexpr (sizeof(T) == sizeof(float)) {
        run(bli_sgemm_ex);
    } else {
        run(bli_dgemm_ex);
    }
}

/// BLIS's micro-kernel with the result's rows contiguous: the side that it writes in vectors,
/// `wide`, lies along them and the other, `narrow`, across. Operands come in panels: of all that is
/// summed over, `wide` (or `narrow`) numbers each, side by side.
template <class T>
class MicroKernel {
  public:
    explicit MicroKernel(const BlisKernels& of)
        : function_(reinterpret_cast<Function*>(of.tile)),
          context_(static_cast<cntx_t*>(of.context)),
          writes_rows_(of.writes_rows),
          narrow(of.writes_rows ? of.rows : of.columns),
          wide(of.writes_rows ? of.columns : of.rows),
          depth(of.depth),
          block_(of.block < of.rows ? 1 : of.block / of.rows) {}

    /// How many of the rows of a result with so many columns are best packed at a time: those of a
    /// panel, if it meets all others while it is in the first cache.
    std::int64_t rows_at_once(std::int64_t columns, std::int64_t most) const {
        return !writes_rows_ && columns <= block_ * wide ? narrow : most;
    }

    /// c[rows,columns] = (adds ? c : 0) + the product of panels of `summed` numbers a side.
    void multiply(std::int64_t rows, std::int64_t columns, std::int64_t summed,
                  const T* narrow_panels, const T* wide_panels, bool adds, T* c,
                  std::int64_t c_row) const {
        const std::int64_t narrows = (rows + narrow - 1) / narrow;
        const std::int64_t wides = (columns + wide - 1) / wide;
        T one = 1, kept = adds ? 1 : 0;
        auxinfo_t next{};
        // The operand that BLIS calls a stays in the second cache, a panel of the other in the
        // first.
        const auto tile = [&](std::int64_t n, std::int64_t w, std::int64_t next_n,
                              std::int64_t next_w) {
            const std::int64_t m = rows - n * narrow < narrow ? rows - n * narrow : narrow;
            const std::int64_t k = columns - w * wide < wide ? columns - w * wide : wide;
            T* const across = const_cast<T*>(narrow_panels) + n * narrow * summed;
            T* const along = const_cast<T*>(wide_panels) + w * wide * summed;
            T* const next_across = const_cast<T*>(narrow_panels) + next_n * narrow * summed;
            T* const next_along = const_cast<T*>(wide_panels) + next_w * wide * summed;
            T* const to = c + n * narrow * c_row + w * wide;
            next.a_next = writes_rows_ ? next_across : next_along;
            next.b_next = writes_rows_ ? next_along : next_across;
            if (writes_rows_)
                function_(m, k, summed, &one, across, along, &kept, to, c_row, 1, &next, context_);
            else
                function_(k, m, summed, &one, along, across, &kept, to, 1, c_row, &next, context_);
        };
        const std::int64_t inner = writes_rows_ ? narrows : wides;
        const std::int64_t outer = writes_rows_ ? wides : narrows;
        for (std::int64_t first = 0; first < inner; first += block_) {
            const std::int64_t last = first + block_ < inner ? first + block_ : inner;
            for (std::int64_t o = 0; o < outer; ++o) {
                for (std::int64_t i = first; i < last; ++i) {
                    const std::int64_t next_i = i + 1 < last ? i + 1 : first;
                    const std::int64_t next_o = i + 1 < last || o + 1 == outer ? o : o + 1;
                    if (writes_rows_)
                        tile(i, o, next_i, next_o);
                    else
                        tile(o, i, next_o, next_i);
                }
            }
        }
    }

  private:
    using Function = void(dim_t, dim_t, dim_t, T*, T*, T*, T*, T*, inc_t, inc_t, auxinfo_t*,
                          cntx_t*);
    Function* function_;
    cntx_t* context_;
    bool writes_rows_;

  public:
    const std::int64_t narrow, wide;  ///< at most kMostBlisSide (kernels/workspace/implicit.hpp)
    const std::int64_t depth;         ///< the most that pays to be summed over at a time

  private:
    std::int64_t block_;
};

/// That of this instruction set.
template <class T>
MicroKernel<T> micro_kernel() {
    return MicroKernel<T>(blis_kernels(kVectorBytes, sizeof(T) == 8));
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
