// A file of its own: CMake runs it too, to find the instruction sets of
// -DDTNN_INSTRUCTION_SETS=host.
#include "kernels/catalogue.hpp"

namespace dtnn::kernels {

Isa host_isa() {
#if defined(__x86_64__)
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
    if (v3 && v4) return Isa::avx512;
    if (v3) return Isa::avx2;
#endif
    return Isa::baseline;
}

}  // namespace dtnn::kernels
