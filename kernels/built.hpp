#pragma once
/// The functions of `kernels/cpu` by instruction set: null where it is not built.

#include "kernels/problem.hpp"

// CMake defines DTNN_BUILT_... for the instruction sets that kernels/cpu is compiled for.
#if defined(DTNN_BUILT_BASELINE)
#define DTNN_BASELINE(function) &isa_baseline::function
#else
#define DTNN_BASELINE(function) nullptr
#endif
#if defined(DTNN_BUILT_AVX2)
#define DTNN_AVX2(function) &isa_avx2::function
#else
#define DTNN_AVX2(function) nullptr
#endif
#if defined(DTNN_BUILT_AVX512)
#define DTNN_AVX512(function) &isa_avx512::function
#else
#define DTNN_AVX512(function) nullptr
#endif

#if defined(DTNN_BUILT_AVX512_BF16)
#define DTNN_AVX512_BF16(function) &isa_avx512_bf16::function
#else
#define DTNN_AVX512_BF16(function) nullptr
#endif
#if defined(DTNN_BUILT_AMX)
#define DTNN_AMX(function) &isa_amx::function
#else
#define DTNN_AMX(function) nullptr
#endif

/// The initialiser of an array of pointers, in the order of enum Isa: the sets above avx512 have
/// its functions.
#define DTNN_EVERY_ISA(function)                                             \
    {                                                                        \
        DTNN_BASELINE(function), DTNN_AVX2(function), DTNN_AVX512(function), \
            DTNN_AVX512(function), DTNN_AVX512(function)                     \
    }
