#include "kernels/blis_kernels.hpp"

#include <doctest/doctest.h>

#include "kernels/workspace/implicit.hpp"

namespace dtnn::kernels {
namespace {

TEST_CASE("BLIS's micro-kernels have room in the workspaces that are booked for them") {
    for (const int vector_bytes : {16, 32, 64}) {
        for (const bool in_double : {false, true}) {
            CAPTURE(vector_bytes);
            CAPTURE(in_double);
            const BlisKernels kernels = blis_kernels(vector_bytes, in_double);
            REQUIRE(kernels.context != nullptr);
            REQUIRE(kernels.tile != nullptr);
            CHECK(kernels.rows >= 1);
            CHECK(kernels.rows <= kMostBlisSide);
            CHECK(kernels.columns >= 1);
            CHECK(kernels.columns <= kMostBlisSide);
            CHECK(kernels.depth >= 1);
            CHECK(kernels.block >= kernels.rows);
        }
    }
}

#if defined(__x86_64__)
// Those of Haswell and Skylake-X, which fill the registers of their instruction sets. What BLIS
// takes by itself is another on most processors.
TEST_CASE("BLIS's kernels are those of the instruction set, whatever the processor") {
    for (const bool in_double : {false, true}) {
        CAPTURE(in_double);
        const BlisKernels avx2 = blis_kernels(32, in_double);
        CHECK(avx2.rows == 6);
        CHECK(avx2.columns == (in_double ? 8 : 16));
        CHECK(avx2.writes_rows);
        const BlisKernels avx512 = blis_kernels(64, in_double);
        CHECK(avx512.rows == (in_double ? 16 : 32));
        CHECK(avx512.columns == (in_double ? 14 : 12));
        CHECK_FALSE(avx512.writes_rows);
        CHECK(avx2.context != avx512.context);
    }
}
#endif

}  // namespace
}  // namespace dtnn::kernels
