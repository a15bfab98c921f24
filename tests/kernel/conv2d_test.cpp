/// Every convolution and dense kernel against its reference, for every instruction set this machine
/// has.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/thread_team.hpp"

namespace {

using namespace dtnn::kernels;

/// A tensor's memory, aligned and followed by a guard that no kernel may touch.
class Memory {
  public:
    explicit Memory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
        const std::size_t whole = (bytes_ + kGuard + 63) / 64 * 64;
        data_ = static_cast<std::byte*>(std::aligned_alloc(64, whole));
        std::memset(data_, 0x7f, whole);
    }
    Memory(Memory&& other) noexcept : bytes_(other.bytes_), data_(other.data_) {
        other.data_ = nullptr;
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { std::free(data_); }

    std::byte* data() { return data_; }
    std::span<std::byte> span() { return {data_, bytes_}; }
    bool guard_intact() const {
        return std::all_of(data_ + bytes_, data_ + bytes_ + kGuard,
                           [](std::byte b) { return b == std::byte{0x7f}; });
    }

  private:
    static constexpr std::size_t kGuard = 256;
    std::size_t bytes_;
    std::byte* data_;
};

double read(const TensorDesc& desc, const std::byte* data, std::int64_t i) {
    if (desc.dtype == DType::f32) return reinterpret_cast<const float*>(data)[i];
    return reinterpret_cast<const double*>(data)[i];
}

/// Values in (-1, 1) that differ from cell to cell, the same in both precisions to float's
/// rounding.
void fill(const TensorDesc& desc, std::byte* data, std::uint32_t seed) {
    std::uint32_t state = seed * 2654435761u + 12345u;
    for (std::int64_t i = 0; i < desc.elements(); ++i) {
        state = state * 1664525u + 1013904223u;
        const float value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
        if (desc.dtype == DType::f32) {
            reinterpret_cast<float*>(data)[i] = value;
        } else {
            reinterpret_cast<double*>(data)[i] = value;
        }
    }
}

std::vector<Memory> run(const KernelInfo& kernel, const Problem& problem) {
    std::vector<Memory> sources;
    std::vector<Memory> destinations;
    std::vector<const void*> source_pointers;
    std::vector<void*> destination_pointers;
    for (const TensorDesc& desc : problem.sources) {
        sources.emplace_back(desc.bytes());
        fill(desc, sources.back().data(), static_cast<std::uint32_t>(sources.size()));
        source_pointers.push_back(sources.back().data());
    }
    for (const TensorDesc& desc : problem.destinations) {
        destinations.emplace_back(desc.bytes());
        destination_pointers.push_back(destinations.back().data());
    }
    Memory workspace(workspace_bytes(kernel, problem));
    ThreadTeam team(problem.threads);
    const auto bound =
        bind(kernel, problem, source_pointers, destination_pointers, workspace.span());
    REQUIRE(bound != nullptr);
    // Twice: nothing may depend on what a destination or the workspace held before.
    bound->run(team);
    bound->run(team);
    CHECK(workspace.guard_intact());
    for (const Memory& memory : sources)
        CHECK(memory.guard_intact());
    for (const Memory& memory : destinations)
        CHECK(memory.guard_intact());
    return destinations;
}

/// `terms` is how many products the longest sum of the problem has.
void conform(Problem problem, double terms) {
    for (const DType dtype : {DType::f32, DType::f64}) {
        problem.dtype = dtype;
        for (TensorDesc& desc : problem.sources)
            desc.dtype = dtype;
        for (TensorDesc& desc : problem.destinations)
            desc.dtype = dtype;
        if (problem.flag("statistics")) problem.destinations[1].dtype = DType::f64;
        problem.threads = 1;
        problem.isa = Isa::baseline;
        const auto expected = run(*find_kernel(problem.op, "reference"), problem);
        for (const KernelInfo& kernel : kernels_of(problem.op)) {
            if (kernel.name == "reference") continue;
            for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
                if (isa > host_isa()) continue;
                for (const int threads : {1, 3}) {
                    problem.isa = isa;
                    problem.threads = threads;
                    if (refusal(kernel, problem)) continue;
                    CAPTURE(problem.op);
                    CAPTURE(std::string(kernel.name));
                    CAPTURE(std::string(name_of(isa)));
                    CAPTURE(threads);
                    auto actual = run(kernel, problem);
                    for (std::size_t d = 0; d < actual.size(); ++d) {
                        const TensorDesc& desc = problem.destinations[d];
                        const bool wide = dtype == DType::f64;
                        double bound = (wide ? 4e-16 : 2e-7) * (8 + 2 * std::sqrt(terms));
                        if (kernel.name.starts_with("winograd")) bound *= 16;
                        if (problem.flag("statistics") && d == 1) {
                            bound *= static_cast<double>(problem.destinations[0].elements()) /
                                     static_cast<double>(desc.dims[1]);
                        }
                        double worst = 0;
                        auto& wanted = const_cast<Memory&>(expected[d]);
                        for (std::int64_t i = 0; i < desc.elements(); ++i) {
                            const double want = read(desc, wanted.data(), i);
                            const double have = read(desc, actual[d].data(), i);
                            const double error = std::abs(want - have) / (1 + std::abs(want));
                            worst = std::max(worst, std::isnan(error) ? 1e30 : error);
                        }
                        CAPTURE(d);
                        CHECK(worst <= bound);
                    }
                }
            }
        }
    }
}

struct Case {
    std::int64_t batch, channels, height, width, filters, kernel_h, kernel_w;
    std::vector<std::int64_t> stride{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
    std::int64_t groups = 1;
};

const Order kImage{0, 2, 3, 1};
const Order kFilters{2, 3, 1, 0};

void check_convolution(const Case& c) {
    const auto extent = [&](std::size_t axis, std::int64_t size, std::int64_t kernel) {
        const std::int64_t padded = size + c.padding[2 * axis] + c.padding[2 * axis + 1];
        return (padded - c.dilation[axis] * (kernel - 1) - 1) / c.stride[axis] + 1;
    };
    const TensorDesc src{DType::f32, {c.batch, c.channels, c.height, c.width}, kImage};
    const TensorDesc weights{
        DType::f32, {c.filters, c.channels / c.groups, c.kernel_h, c.kernel_w}, kFilters};
    const TensorDesc dst{
        DType::f32,
        {c.batch, c.filters, extent(0, c.height, c.kernel_h), extent(1, c.width, c.kernel_w)},
        kImage};
    const TensorDesc vector{DType::f32, {c.filters}, {}};
    CAPTURE(c.batch);
    CAPTURE(c.channels);
    CAPTURE(c.height);
    CAPTURE(c.width);
    CAPTURE(c.filters);
    CAPTURE(c.kernel_h);
    CAPTURE(c.stride[0]);
    CAPTURE(c.groups);
    const Attributes common{{"stride", c.stride},
                            {"padding", c.padding},
                            {"dilation", c.dilation},
                            {"groups", c.groups}};
    const double depth = static_cast<double>(c.kernel_h * c.kernel_w * c.channels / c.groups);
    for (int form = 0; form < 3; ++form) {
        Problem problem;
        problem.op = "conv2d";
        problem.attributes = common;
        problem.sources = {src, weights};
        problem.destinations = {dst};
        if (form > 0) {
            problem.attributes["bias"] = true;
            problem.sources.push_back(vector);
            problem.attributes["epilogue"] = std::string("relu");
        }
        if (form == 2) {
            problem.attributes["residual"] = true;
            problem.sources.push_back(dst);
            problem.attributes["statistics"] = true;
            problem.destinations.push_back({DType::f64, {2, c.filters}, {}});
        }
        conform(problem, depth);
    }
    for (const bool mask : {false, true}) {
        Problem problem;
        problem.op = "conv2d_backward_data";
        problem.attributes = common;
        problem.sources = {dst, weights};
        problem.destinations = {src};
        problem.attributes["source_shape"] = src.dims;
        problem.attributes["mask"] = mask;
        if (mask) problem.sources.push_back(src);
        conform(problem, static_cast<double>(c.kernel_h * c.kernel_w * c.filters / c.groups));
    }
    for (const bool bias : {false, true}) {
        Problem problem;
        problem.op = "conv2d_backward_weights";
        problem.attributes = common;
        problem.sources = {src, dst};
        problem.destinations = {weights};
        problem.attributes["kernel"] = std::vector<std::int64_t>{c.kernel_h, c.kernel_w};
        problem.attributes["bias"] = bias;
        if (bias) problem.destinations.push_back(vector);
        conform(problem, static_cast<double>(dst.elements() / c.filters));
    }
}

TEST_CASE("convolutions: common shapes") {
    check_convolution({2, 1, 28, 28, 4, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({3, 4, 28, 28, 8, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({2, 3, 16, 16, 64, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({2, 16, 16, 16, 16, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({2, 16, 16, 16, 32, 3, 3, {2, 2}, {1, 1, 1, 1}});
    check_convolution({2, 32, 9, 7, 48, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({2, 64, 8, 8, 64, 1, 1});
    check_convolution({2, 16, 16, 16, 32, 1, 1, {2, 2}});
    check_convolution({1, 3, 23, 23, 24, 11, 11, {4, 4}, {2, 2, 2, 2}});
}

TEST_CASE(
    "convolutions: small images in batches, where tiles are made of one cell of many images") {
    check_convolution({17, 40, 4, 4, 36, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({9, 64, 2, 2, 33, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({8, 16, 1, 1, 16, 3, 3, {1, 1}, {1, 1, 1, 1}});
    check_convolution({16, 24, 6, 3, 40, 5, 3, {1, 1}, {2, 2, 1, 1}});
}

TEST_CASE("convolutions: odd sizes, strides, dilations, uneven padding, groups") {
    check_convolution({1, 5, 7, 9, 11, 3, 3, {2, 1}, {0, 1, 2, 1}});
    check_convolution({2, 7, 10, 11, 13, 2, 4, {1, 2}, {1, 0, 2, 3}, {2, 1}});
    check_convolution({1, 3, 12, 12, 6, 3, 3, {3, 3}, {0, 0, 0, 0}, {2, 2}});
    check_convolution({2, 8, 9, 9, 12, 3, 3, {1, 1}, {1, 1, 1, 1}, {1, 1}, 4});
    check_convolution({2, 32, 9, 9, 64, 3, 3, {1, 1}, {2, 2, 2, 2}, {2, 2}, 2});
    check_convolution({2, 19, 9, 8, 19, 3, 3, {1, 1}, {1, 1, 1, 1}, {1, 1}, 19});
    check_convolution({2, 32, 9, 8, 32, 3, 3, {2, 2}, {1, 1, 1, 1}, {1, 1}, 32});
    check_convolution({2, 6, 8, 8, 12, 3, 3, {1, 1}, {1, 1, 1, 1}, {1, 1}, 6});
    check_convolution({1, 1, 1, 1, 1, 1, 1});
    check_convolution({1, 2, 5, 5, 3, 5, 5});
    check_convolution({2, 4, 6, 6, 4, 1, 1, {3, 3}, {1, 1, 1, 1}});
}

void check_dense(std::int64_t batch, std::int64_t depth, std::int64_t units) {
    CAPTURE(batch);
    CAPTURE(depth);
    CAPTURE(units);
    const TensorDesc src{DType::f32, {batch, depth}, {}};
    const TensorDesc weights{DType::f32, {depth, units}, {}};
    const TensorDesc dst{DType::f32, {batch, units}, {}};
    const TensorDesc vector{DType::f32, {units}, {}};
    for (const bool bias : {false, true}) {
        Problem forward;
        forward.op = "dense";
        forward.attributes["bias"] = bias;
        forward.attributes["epilogue"] = std::string(bias ? "relu" : "none");
        forward.sources = {src, weights};
        if (bias) forward.sources.push_back(vector);
        forward.destinations = {dst};
        conform(forward, static_cast<double>(depth));
        Problem data;
        data.op = "dense_backward_data";
        data.attributes["mask"] = bias;
        data.attributes["source_shape"] = src.dims;
        data.sources = {dst, weights};
        if (bias) data.sources.push_back(src);
        data.destinations = {src};
        conform(data, static_cast<double>(units));
        Problem backward;
        backward.op = "dense_backward_weights";
        backward.attributes["bias"] = bias;
        backward.attributes["weights_shape"] = weights.dims;
        backward.sources = {src, dst};
        backward.destinations = {weights};
        if (bias) backward.destinations.push_back(vector);
        conform(backward, static_cast<double>(batch));
    }
}

TEST_CASE("dense layers") {
    check_dense(64, 128, 10);
    check_dense(5, 784, 128);
    check_dense(7, 33, 65);
    check_dense(1, 1, 1);
    check_dense(1, 300, 40);
    check_dense(33, 10, 3);
}

TEST_CASE("a dense layer that absorbed a flatten reads its rows channels last") {
    Problem problem;
    problem.op = "dense";
    problem.sources = {{DType::f32, {3, 5, 2, 4}, kImage},
                       {DType::f32, {5, 2, 4, 20}, {1, 2, 0, 3}}};
    problem.destinations = {{DType::f32, {3, 20}, {}}};
    conform(problem, 40);
    problem.op = "dense_backward_weights";
    problem.attributes["weights_shape"] = std::vector<std::int64_t>{5, 2, 4, 20};
    problem.sources = {{DType::f32, {3, 5, 2, 4}, kImage}, {DType::f32, {3, 20}, {}}};
    problem.destinations = {{DType::f32, {5, 2, 4, 20}, {1, 2, 0, 3}}};
    conform(problem, 3);
}

TEST_CASE("convolutions refuse images that are not stored channels last") {
    Problem problem;
    problem.op = "conv2d";
    problem.sources = {{DType::f32, {2, 3, 8, 8}, {}}, {DType::f32, {4, 3, 3, 3}, kFilters}};
    problem.destinations = {{DType::f32, {2, 4, 6, 6}, kImage}};
    const auto reason = refusal(*find_kernel("conv2d", "direct"), problem);
    REQUIRE(reason.has_value());
    CHECK(reason->find("channels last") != std::string::npos);
    problem.sources[0] = {DType::f32, {2, 1, 8, 8}, {}};
    problem.sources[1] = {DType::f32, {4, 1, 3, 3}, kFilters};
    CHECK(!refusal(*find_kernel("conv2d", "direct"), problem).has_value());
}

}  // namespace
