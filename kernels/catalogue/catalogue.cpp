#include "kernels/catalogue.hpp"

#include "base/tensor/members.hpp"
#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels {
namespace {

struct Precisions {
    bool f32, f64, reduced, transforms, blis = false, rounds = false;
};
constexpr Precisions both{true, true, false, false};
constexpr Precisions all{true, true, true, false};
constexpr Precisions both_by_blis{true, true, false, false, true};
[[maybe_unused]] constexpr Precisions f32_only{true, false, false, false};
[[maybe_unused]] constexpr Precisions f64_only{false, true, false, false};
constexpr Precisions f32_transformed{true, false, false, true};
constexpr Precisions f32_rounded{true, false, false, false, false, true};

constexpr KernelInfo kCatalogue[] = {
#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace) \
    {#op,                                                                      \
     #name,                                                                    \
     "cpu",                                                                    \
     dtypes.f32,                                                               \
     dtypes.f64,                                                               \
     dtypes.reduced,                                                           \
     false,                                                                    \
     Isa::needs,                                                               \
     &predicates::refuses,                                                     \
     &predicates::workspace,                                                   \
     dtypes.transforms,                                                        \
     dtypes.blis,                                                              \
     dtypes.rounds,                                                            \
     false,                                                                    \
     &predicates::slower},
#define REFERENCE(op, Arguments, operands) \
    {#op, "reference", "cpu", true, true, false, false, Isa::baseline, nullptr, nullptr, false},
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE
};

constexpr KernelInfo kCudaCatalogue[] = {
#define DEVICE_KERNEL(op, name, dtypes, library, refuses, workspace, joins) \
    {#op,                                                                   \
     #name,                                                                 \
     "cuda",                                                                \
     dtypes.f32,                                                            \
     dtypes.f64,                                                            \
     dtypes.reduced,                                                        \
     library,                                                               \
     Isa::baseline,                                                         \
     &predicates::refuses,                                                  \
     &predicates::workspace,                                                \
     dtypes.transforms,                                                     \
     dtypes.blis,                                                           \
     dtypes.rounds,                                                         \
     joins,                                                                 \
     nullptr},
#define KERNEL(op, name, Arguments, dtypes, refuses, workspace) \
    DEVICE_KERNEL(op, name, dtypes, false, refuses, workspace, false)
#define JOINED(op, name, Arguments, dtypes) \
    DEVICE_KERNEL(op, name, dtypes, false, nothing, none, true)
#define LIBRARY(op, name, Arguments, dtypes, refuses, workspace) \
    DEVICE_KERNEL(op, name, dtypes, true, refuses, workspace, false)
#include "kernels/cuda/catalogue.def"
#undef KERNEL
#undef JOINED
#undef LIBRARY
#undef DEVICE_KERNEL
};

}  // namespace

namespace predicates {
Refused nothing(const Problem&) {
    return std::nullopt;
}
Refused never(const Problem&) {
    return std::nullopt;
}
std::int64_t element_bytes(const Problem& problem) {
    return problem.dtype == DType::f64 ? 8 : is_reduced(problem.dtype) ? 2 : 4;
}

std::int64_t vector_bytes(const Problem& problem) {
    return problem.isa >= Isa::avx512 ? 64 : problem.isa == Isa::avx2 ? 32 : 16;
}

std::int64_t none(const Problem&) {
    return 0;
}
}  // namespace predicates

std::span<const KernelInfo> catalogue(std::string_view device) {
    if (device == "cpu") return kCatalogue;
    if (device == "cuda") return kCudaCatalogue;
    return {};
}

std::span<const KernelInfo> kernels_of(std::string_view op, std::string_view device) {
    const std::span<const KernelInfo> all = catalogue(device);
    std::size_t begin = 0;
    while (begin < all.size() && all[begin].op != op)
        ++begin;
    std::size_t end = begin;
    while (end < all.size() && all[end].op == op)
        ++end;
    return all.subspan(begin, end - begin);
}

const KernelInfo* find_kernel(std::string_view op, std::string_view name, std::string_view device) {
    for (const KernelInfo& kernel : kernels_of(op, device)) {
        if (kernel.name == name) return &kernel;
    }
    return nullptr;
}

std::optional<std::string> refusal(const KernelInfo& kernel, const Problem& problem) {
    if (problem.op != kernel.op) {
        return "it computes " + std::string(kernel.op) + ", not " + problem.op;
    }
    if (!kernel.joins && member_count(problem.attributes) > 1)
        return "it does one member at a time";
    if (!takes(kernel, problem.dtype))
        return "it has no version for " + std::string(name_of(problem.dtype));
    if (problem.isa < kernel.needs) {
        return "it needs " + std::string(name_of(kernel.needs)) + ", the target has " +
               std::string(name_of(problem.isa));
    }
    if (kernel.name != kReference && kernel.rounds != problem.flag("bf16"))
        return kernel.rounds ? "it rounds factors to bf16" : "it does not round factors to bf16";
    if (kernel.transforms && problem.strict)
        return "`numerics: strict` asks for sums of the products themselves";
    if (kernel.refuses == nullptr) return std::nullopt;
    return kernel.refuses(problem);
}

std::optional<std::string> expected_slower(const KernelInfo& kernel, const Problem& problem) {
    return kernel.slower == nullptr ? std::nullopt : kernel.slower(problem);
}

bool takes(const KernelInfo& kernel, DType dtype) {
    if (is_reduced(dtype)) return kernel.reduced;
    return dtype == DType::f32 ? kernel.f32 : dtype == DType::f64 && kernel.f64;
}

// Those whose stack has an end are those that have one.
bool reads_terms(const KernelInfo& kernel, const Problem& problem) {
    if (has_written_epilogue(problem)) return kernel.name != kReference;
    constexpr decltype(KernelInfo::refuses) kOfTerms[] = {predicates::unless_expression_is_shallow,
                                                          predicates::unless_stack_fits_registers,
                                                          predicates::unless_stack_fits_thread};
    for (const auto one : kOfTerms)
        if (kernel.refuses == one) return true;
    return false;
}

std::string types_of(const KernelInfo& kernel) {
    std::string text;
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::fp16})
        if (takes(kernel, dtype)) text += (text.empty() ? "" : ", ") + std::string(name_of(dtype));
    return text;
}

std::int64_t workspace_bytes(const KernelInfo& kernel, const Problem& problem) {
    return kernel.workspace == nullptr ? 0 : kernel.workspace(problem);
}

std::vector<Problem> members_of(const Problem& problem) {
    const auto count = std::size_t(member_count(problem.attributes));
    std::vector<Problem> members;
    members.reserve(count);
    for (std::size_t m = 0; m < count; ++m) {
        Problem& member = members.emplace_back(problem);
        member.attributes.erase(kMembers);
        member.sources = of_member(problem.sources, m, count);
        member.destinations = of_member(problem.destinations, m, count);
    }
    return members;
}

}  // namespace dtnn::kernels
