#pragma once
/// Blocks of factors that are rounded to bfloat16 (to the nearest, ties to even), and their
/// products. Both factors of a product come in chunks of kRoundedDepth, that much of what is summed
/// over:
///
///     rows     [chunk][kRoundedRows][kRoundedDepth]
///     panels   [chunk][kRoundedDepth / kPair][kPanelColumns][kPair]
///
/// A factor takes 16 bits where the processor multiplies bfloat16, and the two of a pair that are
/// multiplied and added at once lie side by side; elsewhere factors are floats, in which rounding
/// leaves 16 zero bits. Products of rounded factors are exact in floats, sums are floats: AMX and
/// AVX512-BF16 add them in pairs, and take subnormal numbers for 0.

#include <cstdint>
#include <cstring>

#include "kernels/cpu/conv/gather_panels.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/workspace/bf16.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

inline constexpr int kPanelColumns = 2 * kLanes<float>;
inline constexpr int kDeep = int(kRoundedDepth);
inline constexpr std::int64_t kRowsOfChunk = kRoundedRows * kRoundedDepth;  ///< elements
inline constexpr std::int64_t kPanelOfChunk = kRoundedDepth * kPanelColumns;

#if defined(__AVX512BF16__)
using Factor = std::uint16_t;
inline constexpr int kPair = 2;
#else
using Factor = float;
inline constexpr int kPair = 1;
#endif

/// Before the products of a thread and behind them.
DTNN_INLINE void begin_products() {
#if defined(__AMX_BF16__)
    struct alignas(64) Shapes {
        std::uint8_t palette = 1, start = 0, reserved[14] = {};
        std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    const Shapes shapes;
    asm volatile("" ::: "memory");
    _tile_loadconfig(&shapes);
#endif
}
DTNN_INLINE void end_products() {
#if defined(__AMX_BF16__)
    _tile_release();
#endif
}

#if defined(__AVX512BF16__)

/// to[i] = from[i] rounded, for 0 <= i < count.
DTNN_INLINE void round_some(const float* from, Factor* to, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m512bh both =
            _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + 16), _mm512_loadu_ps(from + i));
        _mm512_storeu_si512(to + i, (__m512i)both);
    }
    for (; i < count; i += 16) {
        const std::int64_t left = count - i;
        const auto mask = __mmask16(left >= 16 ? 0xFFFF : (1 << left) - 1);
        const __m256bh some = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from + i));
        _mm256_mask_storeu_epi16(to + i, mask, (__m256i)some);
    }
}

/// Numbers of two rows in turn, the first `count` of kLanes<float>, and zeros: one row of a panel's
/// half.
DTNN_INLINE void interleave(const float* even, const float* odd, std::int64_t count, Factor* to) {
    const auto mask = __mmask16(count >= 16 ? 0xFFFF : (1 << count) - 1);
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(mask, odd),
                                                      _mm512_maskz_loadu_ps(mask, even));
    const __m512i turns =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(turns, both));
}

/// All lanes. The forms with a mask have no operand that GCC's own headers leave undefined, which
/// it warns of.
inline constexpr __mmask16 kAll = 0xFFFF;
inline constexpr __mmask8 kAllWide = 0xFF;

/// Rows of 16 pairs become columns: to[j * to_stride + i] = rows[i][j], in pairs.
DTNN_INLINE void transpose_pairs(__m512i (&rows)[16], Factor* to, std::int64_t to_stride) {
    __m512i half[16];
    unroll<8>([&](auto i) DTNN_UNROLLED {
        half[2 * i] = _mm512_maskz_unpacklo_epi32(kAll, rows[2 * i], rows[2 * i + 1]);
        half[2 * i + 1] = _mm512_maskz_unpackhi_epi32(kAll, rows[2 * i], rows[2 * i + 1]);
    });
    unroll<4>([&](auto i) DTNN_UNROLLED {
        rows[4 * i] = _mm512_maskz_unpacklo_epi64(kAllWide, half[4 * i], half[4 * i + 2]);
        rows[4 * i + 1] = _mm512_maskz_unpackhi_epi64(kAllWide, half[4 * i], half[4 * i + 2]);
        rows[4 * i + 2] = _mm512_maskz_unpacklo_epi64(kAllWide, half[4 * i + 1], half[4 * i + 3]);
        rows[4 * i + 3] = _mm512_maskz_unpackhi_epi64(kAllWide, half[4 * i + 1], half[4 * i + 3]);
    });
    unroll<4>([&](auto i) DTNN_UNROLLED {
        half[i] = _mm512_maskz_shuffle_i32x4(kAll, rows[i], rows[i + 4], 0x88);
        half[i + 4] = _mm512_maskz_shuffle_i32x4(kAll, rows[i], rows[i + 4], 0xDD);
        half[i + 8] = _mm512_maskz_shuffle_i32x4(kAll, rows[i + 8], rows[i + 12], 0x88);
        half[i + 12] = _mm512_maskz_shuffle_i32x4(kAll, rows[i + 8], rows[i + 12], 0xDD);
    });
    unroll<4>([&](auto i) DTNN_UNROLLED {
        _mm512_storeu_si512(to + i * to_stride,
                            _mm512_maskz_shuffle_i32x4(kAll, half[i], half[i + 8], 0x88));
        _mm512_storeu_si512(to + (i + 8) * to_stride,
                            _mm512_maskz_shuffle_i32x4(kAll, half[i], half[i + 8], 0xDD));
        _mm512_storeu_si512(to + (i + 4) * to_stride,
                            _mm512_maskz_shuffle_i32x4(kAll, half[i + 4], half[i + 12], 0x88));
        _mm512_storeu_si512(to + (i + 12) * to_stride,
                            _mm512_maskz_shuffle_i32x4(kAll, half[i + 4], half[i + 12], 0xDD));
    });
}

/// A chunk of rows with rows and depth exchanged.
DTNN_INLINE void transpose_rows(const Factor* from, Factor* to) {
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40,
                                         8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i step = _mm512_set1_epi16(16);
    for (int half = 0; half < 2; ++half) {
        const __m512i turns = half == 0 ? low : _mm512_add_epi16(low, step);
        __m512i pairs[16];
        unroll<16>([&](auto i) DTNN_UNROLLED {
            pairs[i] = _mm512_permutex2var_epi16(_mm512_loadu_si512(from + 2 * i * kDeep), turns,
                                                 _mm512_loadu_si512(from + (2 * i + 1) * kDeep));
        });
        transpose_pairs(pairs, to + half * 16 * kDeep, kDeep);
    }
}

/// kLanes<float> rows of a chunk's depth become that many columns of a panel.
DTNN_INLINE void turn_into_panel(const Factor* rows, Factor* to) {
    __m512i pairs[16];
    unroll<16>([&](auto i) DTNN_UNROLLED { pairs[i] = _mm512_loadu_si512(rows + i * kDeep); });
    transpose_pairs(pairs, to, kPanelColumns * kPair);
}

#else

DTNN_INLINE void round_some(const float* from, Factor* to, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint32_t bits;
        __builtin_memcpy(&bits, from + i, 4);
        const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) & 0xFFFF0000U;
        const bool is_number = (bits & 0x7FFFFFFFU) <= 0x7F800000U;
        const std::uint32_t kept = is_number ? rounded : bits | 0x400000U;
        __builtin_memcpy(to + i, &kept, 4);
    }
}

/// The first `count` of kLanes<float> numbers of a row, and zeros.
DTNN_INLINE void interleave(const float* even, const float*, std::int64_t count, Factor* to) {
    round_some(even, to, count);
    for (std::int64_t j = count; j < kLanes<float>; ++j)
        to[j] = 0;
}

DTNN_INLINE void transpose_rows(const Factor* from, Factor* to) {
    for (int i = 0; i < kRoundedRows; i += 4)
        for (int j = 0; j < kDeep; j += 4)
            transpose_4x4(from + i * kDeep + j, kDeep, to + j * kDeep + i, kDeep);
}

DTNN_INLINE void turn_into_panel(const Factor* rows, Factor* to) {
    for (int i = 0; i < kLanes<float>; i += 4)
        for (int j = 0; j < kDeep; j += 4)
            transpose_4x4(rows + i * kDeep + j, kDeep, to + j * kPanelColumns + i, kPanelColumns);
}

#endif

/// A row of a block while it is filled from the left: `to` is its part of the first chunk.
struct RoundedRow {
    Factor* to;
    std::int64_t at = 0;  ///< how much of the depth is filled

    Factor* place() const { return to + at / kDeep * kRowsOfChunk + at % kDeep; }

    DTNN_INLINE void add(const float* from, std::int64_t count) {
        while (count > 0) {
            const std::int64_t room = kDeep - at % kDeep, some = count < room ? count : room;
            round_some(from, place(), some);
            from += some;
            at += some;
            count -= some;
        }
    }
    DTNN_INLINE void fill_up(std::int64_t until) {
        while (at < until) {
            const std::int64_t room = kDeep - at % kDeep,
                               some = until - at < room ? until - at : room;
            std::memset(place(), 0, std::size_t(some) * sizeof(Factor));
            at += some;
        }
    }
};

#if defined(__AMX_BF16__)

/// sums[row][column], kRoundedRows by kPanelColumns = the sum over `chunks` of rows times panel.
/// Chunk i of the rows meets chunk order[i] of the panel, or chunk i where order is null. Only the
/// first `rows` and `columns` are wanted: what is behind them is arbitrary.
inline void multiply_block(float* sums, const Factor* rows, const Factor* panel,
                           const std::int32_t* order, std::int64_t chunks, std::int64_t wanted,
                           std::int64_t columns) {
    asm volatile("" ::: "memory");
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    constexpr int kRowStride = kDeep * 2, kPanelStride = kPanelColumns * 4;
    if (columns > 16 && wanted > 16) {
        for (std::int64_t i = 0; i < chunks; ++i) {
            const Factor* a = rows + i * kRowsOfChunk;
            const Factor* b = panel + (order != nullptr ? order[i] : i) * kPanelOfChunk;
            _tile_loadd(4, a, kRowStride);
            _tile_loadd(6, b, kPanelStride);
            _tile_loadd(5, a + 16 * kDeep, kRowStride);
            _tile_loadd(7, b + 32, kPanelStride);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 5, 6);
            _tile_dpbf16ps(2, 4, 7);
            _tile_dpbf16ps(3, 5, 7);
        }
    } else if (wanted > 16) {
        for (std::int64_t i = 0; i < chunks; ++i) {
            const Factor* a = rows + i * kRowsOfChunk;
            _tile_loadd(4, a, kRowStride);
            _tile_loadd(6, panel + (order != nullptr ? order[i] : i) * kPanelOfChunk, kPanelStride);
            _tile_loadd(5, a + 16 * kDeep, kRowStride);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 5, 6);
        }
    } else {
        for (std::int64_t i = 0; i < chunks; ++i) {
            const Factor* b = panel + (order != nullptr ? order[i] : i) * kPanelOfChunk;
            _tile_loadd(4, rows + i * kRowsOfChunk, kRowStride);
            _tile_loadd(6, b, kPanelStride);
            _tile_loadd(7, b + 32, kPanelStride);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(2, 4, 7);
        }
    }
    constexpr int kSumStride = kPanelColumns * 4;
    _tile_stored(0, sums, kSumStride);
    _tile_stored(1, sums + 16 * kPanelColumns, kSumStride);
    _tile_stored(2, sums + 16, kSumStride);
    _tile_stored(3, sums + 16 * kPanelColumns + 16, kSumStride);
    asm volatile("" ::: "memory");
}

#else

#if defined(__AVX512F__)
inline constexpr int kBlockRows = 8;
#else
inline constexpr int kBlockRows = 4;
#endif

/// kBlockRows rows of a block by one chunk of a panel.
template <int V>
DTNN_INLINE void multiply_chunk(Vector<float, kLanes<float>> (&sums)[kBlockRows][V],
                                const Factor* rows, const Factor* panel) {
#if defined(__AVX512BF16__)
    for (int k = 0; k < kDeep; k += 2) {
        const Factor* from = panel + k * kPanelColumns;
        __m512bh b[V];
        unroll<V>([&](auto v)
                      DTNN_UNROLLED { b[v] = (__m512bh)_mm512_loadu_si512(from + v * 32); });
        unroll<kBlockRows>([&](auto r) DTNN_UNROLLED {
            int pair;
            __builtin_memcpy(&pair, rows + r * kDeep + k, 4);
            const auto a = (__m512bh)_mm512_set1_epi32(pair);
            unroll<V>([&](auto v)
                          DTNN_UNROLLED { sums[r][v] = _mm512_dpbf16_ps(sums[r][v], a, b[v]); });
        });
    }
#else
    const float* pointers[kBlockRows];
    for (int r = 0; r < kBlockRows; ++r)
        pointers[r] = rows + r * kDeep;
    Ahead ahead{reinterpret_cast<const char*>(panel), 0};
    multiply_rows<float, kLanes<float>, kBlockRows, V>(sums, pointers, kDeep, panel, kPanelColumns,
                                                       ahead);
#endif
}

template <int V>
DTNN_INLINE void multiply_rows_of_block(float* sums, const Factor* rows, const Factor* panel,
                                        const std::int32_t* order, std::int64_t chunks) {
    constexpr int L = kLanes<float>;
    Vector<float, L> all[kBlockRows][V] = {};
    for (std::int64_t i = 0; i < chunks; ++i)
        multiply_chunk<V>(all, rows + i * kRowsOfChunk,
                          panel + (order != nullptr ? order[i] : i) * kPanelOfChunk);
    unroll<kBlockRows>([&](auto r) DTNN_UNROLLED {
        unroll<V>([&](auto v) DTNN_UNROLLED {
            store<float, L>(sums + r * kPanelColumns + v * L, all[r][v]);
        });
    });
}

inline void multiply_block(float* sums, const Factor* rows, const Factor* panel,
                           const std::int32_t* order, std::int64_t chunks, std::int64_t wanted,
                           std::int64_t columns) {
    for (std::int64_t r = 0; r < wanted; r += kBlockRows) {
        float* to = sums + r * kPanelColumns;
        if (columns > kLanes<float>)
            multiply_rows_of_block<2>(to, rows + r * kDeep, panel, order, chunks);
        else
            multiply_rows_of_block<1>(to, rows + r * kDeep, panel, order, chunks);
    }
}

#endif

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
