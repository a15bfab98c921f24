/// NaNs stay NaNs through maxima, relus and losses, as in PyTorch: a run that has gone wrong must
/// be seen to have.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/cuda/dispatch.hpp"
#include "kernels/thread_team.hpp"
#include "tests/kernel/conformance.hpp"

namespace not_a_number_test {

namespace {

using namespace dtnn;
using namespace dtnn::kernels;
using namespace dtnn::kernels::conformance;

constexpr std::array kSets{Isa::baseline, Isa::avx2, Isa::avx512};

/// Runs a kernel of any device, if it can do the problem, with one element of source 0 that is no
/// number; calls check(destination 0).
template <class Check>
void with_one_in(const KernelInfo& kernel, const Problem& problem, std::int64_t element,
                 Check check) {
    if (refusal(kernel, problem)) return;
    CAPTURE(problem.op);
    CAPTURE(kernel.device);
    CAPTURE(kernel.name);
    CAPTURE(name_of(problem.isa));
    std::vector<Buffer> sources, destinations;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const TensorType& source : problem.sources) {
        Buffer& buffer = sources.emplace_back(source);
        for (std::int64_t i = 0; i < source.elements(); ++i)
            buffer.set(i, source.dtype == DType::f32 ? noise(3, std::uint64_t(i)) + 0.1 : 0);
    }
    sources[0].set(element, std::numeric_limits<double>::quiet_NaN());
    for (const TensorType& destination : problem.destinations)
        destinations.emplace_back(destination);
    for (Buffer& buffer : sources)
        in.push_back(buffer.data());
    for (Buffer& buffer : destinations)
        out.push_back(buffer.data());
    Buffer scratch(row_major({workspace_bytes(kernel, problem) + 64}, DType::u8));
    if (kernel.device == "cuda") {
        const auto bound = cuda::bind(kernel, problem, in, out, scratch.contents());
        REQUIRE(bound != nullptr);
        bound->run({cuda::HostOrder::forward});
    } else {
        ThreadTeam team(1);
        const auto bound = dtnn::kernels::bind(kernel, problem, in, out, scratch.contents());
        REQUIRE(bound != nullptr);
        bound->run(team);
    }
    check(destinations[0]);
}

/// Runs every kernel that can do the problem so.
template <class Check>
void with_one(Problem problem, std::int64_t element, Check check) {
    for (const Isa isa : kSets) {
        if (isa > host_isa() || !is_built(isa)) continue;
        problem.isa = isa;
        for (const KernelInfo& kernel : kernels_of(problem.op))
            with_one_in(kernel, problem, element, check);
    }
    for (const KernelInfo& kernel : kernels_of(problem.op, "cuda"))
        with_one_in(kernel, problem, element, check);
}

/// Exactly the element `at` of the result, or any when it is -1, is no number.
auto only(std::int64_t at) {
    return [at](const Buffer& result) {
        bool any = false;
        for (std::int64_t i = 0; i < result.tensor().elements(); ++i) {
            const bool none = std::isnan(result.get(i));
            any = any || none;
            if (at >= 0) CHECK(none == (i == at));
        }
        CHECK(any);
    };
}

using List = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("expressions with maxima and minima keep what is not a number") {
    const TensorType x = tensor({2, 33});
    for (const char* expression :
         {"x0 0 max", "0 x0 max", "x0 0 min", "0 x0 min", "x0 1 max 6 min"})
        with_one(problem("elementwise", {x}, {x}, {{"expression", std::string(expression)}}), 40,
                 only(40));
    with_one(problem("elementwise", {x, x}, {x}, {{"expression", std::string("x0 x1 add 0 max")}}),
             17, only(17));
    with_one(problem("elementwise_mean", {x, x}, {row_major({})},
                     {{"expression", std::string("x0 x1 sub 1 min -1 max abs")}}),
             17, only(0));
}

TEST_CASE("max pools keep what is not a number, wherever it lies in the window") {
    const TensorType image = tensor({1, 5, 4, 4}), half = tensor({1, 5, 2, 2});
    // Channels last: element 5 * pixel + channel; the window of pixels 0, 1, 4, 5.
    for (const std::int64_t pixel : {0, 1, 4, 5}) {
        with_one(problem("max_pool2d", {image}, {half},
                         {{"kernel", List{2, 2}}, {"stride", List{2, 2}}}),
                 5 * pixel + 3, only(3));
        with_one(problem("adaptive_max_pool2d", {image}, {half}, {{"size", List{2, 2}}}),
                 5 * pixel + 3, only(3));
    }
    // Windows that devices share among threads.
    const TensorType large = tensor({1, 5, 9, 9}), one = tensor({1, 5, 1, 1});
    for (const std::int64_t pixel : {0, 40, 80}) {
        with_one(
            problem("max_pool2d", {large}, {one}, {{"kernel", List{9, 9}}, {"stride", List{9, 9}}}),
            5 * pixel + 3, only(3));
        with_one(problem("adaptive_max_pool2d", {large}, {one}, {{"size", List{1, 1}}}),
                 5 * pixel + 3, only(3));
    }
    with_one(problem("max_pool2d", {image}, {tensor({1, 5, 2, 2})},
                     {{"kernel", List{3, 3}}, {"stride", List{1, 1}}}),
             5 * 15 + 2, only(5 * 3 + 2));
}

TEST_CASE("relus inside other kernels keep what is not a number") {
    const TensorType image = tensor({1, 8, 3, 3}), one = row_major({8});
    with_one(problem("batch_norm_inference", {image, one, one, one, one}, {image},
                     {{"epsilon", 1e-5}, {"epilogue", std::string("relu")}}),
             19, only(19));
    TensorType weights = row_major({8, 8, 1, 1});
    weights.order = {2, 3, 1, 0};
    with_one(
        problem("conv2d", {image, weights}, {image},
                {{"groups", std::int64_t(1)}, {"epilogue", std::string("relu")}, {"bias", false}}),
        19, only(-1));
}

}  // namespace not_a_number_test
