#include "kernels/dispatch.hpp"

#include <utility>

#include "kernels/built.hpp"
#include "kernels/codegen/loop.hpp"

#define DTNN_ARGUMENTS_HEADERS
#include "kernels/catalogue.def"
#undef DTNN_ARGUMENTS_HEADERS

namespace dtnn::kernels {

// The functions behind the catalogue's lines: the naive ones once, the others in a namespace per
// instruction set.
namespace reference {
#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace)
#define REFERENCE(op, Arguments, operands) \
    DTNN_DECLARE_KERNEL(op##_reference, Arguments, ThreadTeam)
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE
}  // namespace reference

#define REFERENCE(op, Arguments, operands)
#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace) \
    DTNN_DECLARE_KERNEL(op##_##name, Arguments, ThreadTeam)
#define DTNN_VECTOR_FUNCTIONS \
    template <class T>        \
    const void* const* vector_functions();
// NOLINTBEGIN(readability-duplicate-include)
namespace isa_baseline {
#include "kernels/catalogue.def"
DTNN_VECTOR_FUNCTIONS
}  // namespace isa_baseline
namespace isa_avx2 {
#include "kernels/catalogue.def"
DTNN_VECTOR_FUNCTIONS
}  // namespace isa_avx2
namespace isa_avx512 {
#include "kernels/catalogue.def"
DTNN_VECTOR_FUNCTIONS
}  // namespace isa_avx512
namespace isa_avx512_bf16 {
#include "kernels/catalogue.def"
}  // namespace isa_avx512_bf16
namespace isa_amx {
#include "kernels/catalogue.def"
}  // namespace isa_amx
// NOLINTEND(readability-duplicate-include)
#undef KERNEL
#undef REFERENCE

namespace {

template <class Arguments>
using Function = void (*)(const Arguments&, ThreadTeam&);

template <class Arguments>
class BoundFunction final : public BoundKernel {
  public:
    BoundFunction(Arguments arguments, Function<Arguments> function)
        : arguments_(std::move(arguments)), function_(function) {}
    void run(ThreadTeam& team) override { function_(arguments_, team); }

  private:
    Arguments arguments_;
    Function<Arguments> function_;
};

/// One kernel in one precision: the function for each instruction set, null where it is not built.
template <class Arguments, Function<Arguments> baseline, Function<Arguments> avx2,
          Function<Arguments> avx512, Function<Arguments> avx512_bf16 = avx512,
          Function<Arguments> amx = avx512>
std::unique_ptr<BoundKernel> bind_function(const Operands& operands) {
    const Isa isa = operands.problem.isa;
    constexpr Function<Arguments> functions[] = {baseline, avx2, avx512, avx512_bf16,
                                                 amx};  // as enum Isa
    const Function<Arguments> function = functions[std::size_t(isa)];
    if (function == nullptr) return nullptr;
    return std::make_unique<BoundFunction<Arguments>>(Arguments(operands), function);
}

using Binder = std::unique_ptr<BoundKernel> (*)(const Operands&);
struct Entry {
    Binder f32, f64;
};

#define DTNN_BINDER(function, Arguments, T)                                    \
    &bind_function<Arguments<T>, DTNN_BASELINE(function), DTNN_AVX2(function), \
                   DTNN_AVX512(function)>
#define DTNN_ENTRY_both(function, Arguments) \
    { DTNN_BINDER(function, Arguments, float), DTNN_BINDER(function, Arguments, double) }
#define DTNN_ENTRY_both_by_blis(function, Arguments) DTNN_ENTRY_both(function, Arguments)
#define DTNN_ENTRY_both_by_terms(function, Arguments) DTNN_ENTRY_both(function, Arguments)
#define DTNN_ENTRY_f32_only(function, Arguments) \
    { DTNN_BINDER(function, Arguments, float), nullptr }
#define DTNN_ENTRY_f32_transformed(function, Arguments) DTNN_ENTRY_f32_only(function, Arguments)
// These kernels have instructions of their own in the sets above avx512.
#define DTNN_ENTRY_f32_rounded(function, Arguments)                                            \
    {                                                                                          \
        &bind_function<Arguments<float>, DTNN_BASELINE(function), DTNN_AVX2(function),         \
                       DTNN_AVX512(function), DTNN_AVX512_BF16(function), DTNN_AMX(function)>, \
            nullptr                                                                            \
    }
#define DTNN_ENTRY_f64_only(function, Arguments) \
    { nullptr, DTNN_BINDER(function, Arguments, double) }

// In the order of catalogue(), which expands the same list.
constexpr Entry kEntries[] = {
#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace) \
    DTNN_ENTRY_##dtypes(op##_##name, Arguments),
#define REFERENCE(op, Arguments, operands)                                                     \
    {&bind_function<Arguments<float>, &reference::op##_reference, &reference::op##_reference,  \
                    &reference::op##_reference>,                                               \
     &bind_function<Arguments<double>, &reference::op##_reference, &reference::op##_reference, \
                    &reference::op##_reference>},
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE
};

}  // namespace

bool is_built(Isa isa) {
#if defined(DTNN_BUILT_AMX)
    if (isa == Isa::amx) return is_built(Isa::avx512);
#endif
#if defined(DTNN_BUILT_AVX512_BF16)
    if (isa == Isa::avx512_bf16) return is_built(Isa::avx512);
#endif
#if defined(DTNN_BUILT_AVX512)
    if (isa == Isa::avx512) return true;
#endif
#if defined(DTNN_BUILT_AVX2)
    if (isa == Isa::avx2) return true;
#endif
#if defined(DTNN_BUILT_BASELINE)
    if (isa == Isa::baseline) return true;
#endif
    return false;
}

const void* const* vector_functions(Isa isa, DType dtype) {
    using Table = const void* const* (*)();
    constexpr Table f32[] = DTNN_EVERY_ISA(vector_functions<float>);
    constexpr Table f64[] = DTNN_EVERY_ISA(vector_functions<double>);
    if (isa > host_isa() || (dtype != DType::f32 && dtype != DType::f64)) return nullptr;
    const Table table = (dtype == DType::f32 ? f32 : f64)[std::size_t(isa)];
    return table == nullptr ? nullptr : table();
}

std::unique_ptr<BoundKernel> bind(const KernelInfo& kernel, const Problem& problem,
                                  std::span<const void* const> sources,
                                  std::span<void* const> destinations,
                                  std::span<std::byte> workspace) {
    if (refusal(kernel, problem) || problem.isa > host_isa()) return nullptr;
    if (sources.size() != problem.sources.size() ||
        destinations.size() != problem.destinations.size()) {
        return nullptr;
    }
    if (std::int64_t(workspace.size()) < workspace_bytes(kernel, problem)) return nullptr;
    const std::span<const KernelInfo> all = catalogue();
    if (&kernel < all.data() || &kernel >= all.data() + all.size()) return nullptr;
    const Entry& entry = kEntries[&kernel - all.data()];
    const Binder binder = problem.dtype == DType::f32 ? entry.f32 : entry.f64;
    return binder == nullptr ? nullptr
                             : binder(Operands(problem, sources, destinations, workspace));
}

}  // namespace dtnn::kernels
