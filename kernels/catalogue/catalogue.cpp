#include "kernels/catalogue.hpp"

#include "base/tensor/members.hpp"
#include "kernels/catalogue/precisions.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/cuda/catalogue.hpp"

namespace dtnn::kernels {
namespace {

constexpr KernelInfo kCpuCatalogue[] = {
#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace) \
    {#op,                                                                      \
     #name,                                                                    \
     "cpu",                                                                    \
     precisions::dtypes.f32,                                                   \
     precisions::dtypes.f64,                                                   \
     precisions::dtypes.reduced,                                               \
     false,                                                                    \
     Isa::needs,                                                               \
     &predicates::refuses,                                                     \
     &predicates::workspace,                                                   \
     precisions::dtypes.transforms,                                            \
     precisions::dtypes.blis,                                                  \
     precisions::dtypes.rounds,                                                \
     false,                                                                    \
     precisions::dtypes.terms,                                                 \
     &predicates::slower},
#define REFERENCE(op, Arguments, operands) \
    {#op, "reference", "cpu", true, true, false, false, Isa::baseline, nullptr, nullptr, false},
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE
};

std::span<const KernelInfo> cpu_catalogue() {
    return kCpuCatalogue;
}

/// Of every device (plan/devices.cpp), the kernels.
constexpr struct {
    std::string_view device;
    std::span<const KernelInfo> (*catalogue)();
} kCatalogues[] = {
    {"cpu", cpu_catalogue},
    {"cuda", cuda::catalogue},
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
    for (const auto& one : kCatalogues)
        if (one.device == device) return one.catalogue();
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

bool reads_terms(const KernelInfo& kernel, const Problem& problem) {
    if (has_written_epilogue(problem)) return kernel.name != kReference;
    return kernel.terms;
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
