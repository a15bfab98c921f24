// What the processor has, by architecture: of those that are not here it is what all have. A file
// of its own: CMake runs it too, to find the instruction sets of -DDTNN_INSTRUCTION_SETS=host.
#include "kernels/catalogue.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace dtnn::kernels {

#if defined(__x86_64__)

namespace {

/// Bits of CPUID's leaf 7, by which compilers' built-ins do not ask in all versions that we take.
struct Features {
    bool avx512_bf16 = false, amx_bf16 = false;

    Features() {
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
        if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return;
        const unsigned subleaves = eax;
        constexpr unsigned kBf16 = 1U << 22U, kTile = 1U << 24U;
        amx_bf16 = (edx & kBf16) != 0 && (edx & kTile) != 0;
        if (subleaves >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0)
            avx512_bf16 = (eax & 1U << 5U) != 0;
    }
};

/// Asks the system to save tile registers: it does from then on, for all threads of the process.
bool may_use_tiles() {
    constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

Isa above_avx512() {
    const Features features;
    if (!features.avx512_bf16) return Isa::avx512;
    return features.amx_bf16 && may_use_tiles() ? Isa::amx : Isa::avx512_bf16;
}

}  // namespace

Isa host_isa() {
    // The levels x86-64-v3 and x86-64-v4 of the psABI, as far as compilers make use of them. The
    // built-in asks the operating system too, whether it saves the wide registers.
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#if !defined(__clang__)
    // Clang 14 does not know these two; no processor has the others without them.
    v3 = v3 && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("f16c");
#endif
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v3 && v4) {
        static const Isa best = above_avx512();
        return best;
    }
    return v3 ? Isa::avx2 : Isa::baseline;
}

#else

Isa host_isa() {
    return Isa::baseline;
}

#endif

}  // namespace dtnn::kernels
