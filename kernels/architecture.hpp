#pragma once
/// What C++ has no words for, by architecture: a block for each. On others threads that wait just
/// look again, and subnormal numbers stay what they are.

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace dtnn::kernels::architecture {

#if defined(__x86_64__)

inline constexpr const char* kName = "x86_64";

/// Told by a thread that waits for another in a loop.
inline void relax() {
    _mm_pause();
}

/// How the calling thread computes: flags of its control register (MXCSR).
inline unsigned number_mode() {
    return _mm_getcsr() & ~unsigned(_MM_EXCEPT_MASK);
}
inline void set_number_mode(unsigned mode) {
    _mm_setcsr(mode);
}
/// The flags by which subnormal results, and operands, are 0: FTZ, DAZ.
inline constexpr unsigned kFlushes = 0x8000 | 0x0040;
/// Whose code kernels/codegen loads, as ELF has it (e_machine: EM_X86_64).
inline constexpr unsigned kLoadedMachine = 62;

#elif defined(__aarch64__)

inline constexpr const char* kName = "aarch64";

inline void relax() {
    asm volatile("yield");
}

// FPCR, whose upper half is 0.
inline unsigned number_mode() {
    std::uint64_t mode = 0;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return unsigned(mode);
}
inline void set_number_mode(unsigned mode) {
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t(mode)) : "memory");
}
inline constexpr unsigned kFlushes = 1U << 24U;  // FZ: results and operands
inline constexpr unsigned kLoadedMachine = 0;    // EM_NONE: expressions are interpreted

#else

inline constexpr const char* kName = "unknown";

inline void relax() {}
inline unsigned number_mode() {
    return 0;
}
inline void set_number_mode(unsigned) {}
inline constexpr unsigned kFlushes = 0, kLoadedMachine = 0;

#endif

}  // namespace dtnn::kernels::architecture
