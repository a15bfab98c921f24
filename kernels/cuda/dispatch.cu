#include <utility>
#include <vector>

#include "kernels/cuda/dispatch.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/members.hpp"

#define DTNN_ARGUMENTS_HEADERS
#include "kernels/catalogue.def"
#undef DTNN_ARGUMENTS_HEADERS

namespace dtnn::kernels::cuda {

#define KERNEL(op, name, Arguments, dtypes, refuses, workspace) \
    DTNN_DECLARE_CUDA_KERNEL(op##_##name, Arguments)
#define JOINED(op, name, Arguments, dtypes) \
    DTNN_DECLARE_CUDA_KERNEL(op##_##name, Members<Arguments>::template Of)
#define LIBRARY KERNEL
#include "kernels/cuda/catalogue.def"
#undef KERNEL
#undef JOINED
#undef LIBRARY

namespace {

template <class Arguments>
using Function = void (*)(const Arguments&, const Launch&);

template <class Arguments>
class BoundFunction final : public BoundDeviceKernel {
  public:
    BoundFunction(Arguments arguments, Function<Arguments> function)
        : arguments_(std::move(arguments)), function_(function) {}
    void run(Stream stream) override { function_(arguments_, Launch(stream, kept_)); }

  private:
    Arguments arguments_;
    Function<Arguments> function_;
    Kept kept_;
};

/// The operands of each member; of kernels that do not join them there is one.
using MemberOperands = std::span<const Operands>;

template <class Arguments>
struct ArgumentsOf {
    static Arguments make(MemberOperands members) { return Arguments(members[0]); }
};
template <class Arguments>
struct ArgumentsOf<std::vector<Arguments>> {
    static std::vector<Arguments> make(MemberOperands members) {
        return std::vector<Arguments>(members.begin(), members.end());
    }
};

template <class Arguments, Function<Arguments> function>
std::unique_ptr<BoundDeviceKernel> bind_function(MemberOperands members) {
    return std::make_unique<BoundFunction<Arguments>>(ArgumentsOf<Arguments>::make(members),
                                                      function);
}

using Binder = std::unique_ptr<BoundDeviceKernel> (*)(MemberOperands);
struct Entry {
    Binder f32, f64, bf16, fp16;

    Binder of(DType dtype) const {
        switch (dtype) {
            case DType::f32:
                return f32;
            case DType::f64:
                return f64;
            case DType::bf16:
                return bf16;
            case DType::fp16:
                return fp16;
            default:
                return nullptr;
        }
    }
};

#define DTNN_BINDER(function, Arguments, T) &bind_function<Arguments<T>, &function>
#define DTNN_ENTRY_both(function, Arguments)                                               \
    {                                                                                      \
        DTNN_BINDER(function, Arguments, float), DTNN_BINDER(function, Arguments, double), \
            nullptr, nullptr                                                               \
    }
#define DTNN_ENTRY_all(function, Arguments)                                                       \
    {                                                                                             \
        DTNN_BINDER(function, Arguments, float), DTNN_BINDER(function, Arguments, double),        \
            DTNN_BINDER(function, Arguments, BFloat16), DTNN_BINDER(function, Arguments, Float16) \
    }
#define DTNN_ENTRY_both_by_terms(function, Arguments) DTNN_ENTRY_both(function, Arguments)
#define DTNN_ENTRY_all_by_terms(function, Arguments) DTNN_ENTRY_all(function, Arguments)
#define DTNN_ENTRY_f32_only(function, Arguments) \
    { DTNN_BINDER(function, Arguments, float), nullptr, nullptr, nullptr }
#define DTNN_ENTRY_f64_only(function, Arguments) \
    { nullptr, DTNN_BINDER(function, Arguments, double), nullptr, nullptr }

// In the order of catalogue("cuda"), which expands the same list.
constexpr Entry kEntries[] = {
#define KERNEL(op, name, Arguments, dtypes, refuses, workspace) \
    DTNN_ENTRY_##dtypes(op##_##name, Arguments),
#define JOINED(op, name, Arguments, dtypes) \
    DTNN_ENTRY_##dtypes(op##_##name, Members<Arguments>::template Of),
#define LIBRARY KERNEL
#include "kernels/cuda/catalogue.def"
#undef KERNEL
#undef JOINED
#undef LIBRARY
};

}  // namespace

std::unique_ptr<BoundDeviceKernel> bind(const KernelInfo& kernel, const Problem& problem,
                                        std::span<const void* const> sources,
                                        std::span<void* const> destinations,
                                        std::span<std::byte> workspace) {
    if (refusal(kernel, problem)) return nullptr;
    if (sources.size() != problem.sources.size() ||
        destinations.size() != problem.destinations.size())
        return nullptr;
    if (std::int64_t(workspace.size()) < workspace_bytes(kernel, problem)) return nullptr;
    const std::span<const KernelInfo> all = catalogue("cuda");
    if (&kernel < all.data() || &kernel >= all.data() + all.size()) return nullptr;
    const Entry& entry = kEntries[&kernel - all.data()];
    const Binder binder = entry.of(problem.dtype);
    if (binder == nullptr) return nullptr;
    const std::vector<Problem> problems = members_of(problem);
    const std::size_t from = sources.size() / problems.size();
    const std::size_t to = destinations.size() / problems.size();
    std::vector<Operands> members;
    for (std::size_t m = 0; m < problems.size(); ++m)
        members.emplace_back(problems[m], sources.subspan(m * from, from),
                             destinations.subspan(m * to, to), workspace);
    return binder(members);
}

}  // namespace dtnn::kernels::cuda
