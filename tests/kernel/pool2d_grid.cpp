#include <cmath>

#include "kernels/arguments/pool2d.hpp"
#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

struct Pool {
    std::int64_t batch, channels, height, width;
    std::vector<std::int64_t> kernel, stride, padding{0, 0, 0, 0}, dilation{1, 1};

    Dims source() const { return {batch, channels, height, width}; }
    Dims result() const {
        const auto size = [&](std::int64_t length, std::size_t axis) {
            return (length + padding[2 * axis] + padding[2 * axis + 1] -
                    dilation[axis] * (kernel[axis] - 1) - 1) /
                       stride[axis] +
                   1;
        };
        return {batch, channels, size(height, 0), size(width, 1)};
    }
    Attributes attributes() const {
        return {{"kernel", kernel}, {"stride", stride}, {"padding", padding}};
    }
};

std::vector<Pool> pools() {
    std::vector<Pool> list;
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 16, 17, 64}) {
        list.push_back({2, channels, 8, 6, {2, 2}, {2, 2}});
        list.push_back({1, channels, 7, 9, {2, 2}, {2, 2}});  // a row and a column left over
        list.push_back({3, channels, 7, 5, {3, 3}, {2, 2}, {1, 1, 1, 1}});
        list.push_back({1, channels, 6, 6, {3, 2}, {1, 1}, {0, 1, 1, 0}});
    }
    list.push_back({2, 5, 9, 8, {2, 2}, {3, 3}});  // cells that no window covers
    list.push_back({2, 4, 4, 4, {1, 1}, {1, 1}});
    list.push_back({1, 33, 5, 5, {5, 5}, {5, 5}});
    list.push_back({2, 3, 12, 11, {9, 9}, {1, 1}, {4, 4, 4, 4}});  // devices share such windows
    list.push_back({1, 40, 10, 11, {10, 11}, {10, 11}});
    return list;
}

std::vector<Pool> max_pools() {
    std::vector<Pool> list = pools();
    list.push_back({2, 16, 9, 9, {2, 2}, {2, 2}, {0, 0, 0, 0}, {2, 2}});
    list.push_back({1, 3, 9, 7, {3, 3}, {1, 2}, {2, 2, 2, 2}, {2, 1}});
    return list;
}

/// Without padded cells in the count, and with them.
std::vector<Attributes> averages(const Pool& pool) {
    std::vector<Attributes> both(2, pool.attributes());
    both[1]["count_include_pad"] = true;
    return both;
}

}  // namespace

GRID(max_pool2d) {
    std::vector<Case> cases;
    for (const Pool& pool : max_pools()) {
        for (const bool indices : {false, true}) {
            Attributes attributes = pool.attributes();
            attributes["dilation"] = pool.dilation;
            attributes["indices"] = indices;
            Case item;
            std::vector<TensorType> results{tensor(pool.result())};
            if (indices) results.push_back(tensor(pool.result(), DType::u8));
            item.problem = problem("max_pool2d", {tensor(pool.source())}, results, attributes);
            item.prepare = quantise;
            cases.push_back(item);
        }
    }
    // Not channels last: the fast kernels refuse it.
    cases.push_back({.problem = problem("max_pool2d", {row_major({2, 3, 4, 4})},
                                        {row_major({2, 3, 2, 2})}, pools()[0].attributes())});
    return cases;
}

GRID(max_pool2d_backward) {
    std::vector<Case> cases;
    for (const Pool& pool : max_pools()) {
        for (const bool mask : {false, true}) {
            Attributes attributes = pool.attributes();
            attributes["dilation"] = pool.dilation;
            attributes["mask"] = mask;
            attributes["source_shape"] = pool.source();
            Case item;
            std::vector<TensorType> sources{tensor(pool.result()),
                                            tensor(pool.result(), DType::u8)};
            if (mask) sources.push_back(tensor(pool.result()));
            item.problem =
                problem("max_pool2d_backward", sources, {tensor(pool.source())}, attributes);
            // Windows that overlap add several gradients to one cell, in an order of the kernel's
            // own.
            item.f32_tolerance = 1e-6;
            item.f64_tolerance = 1e-14;
            item.prepare = [pool, attributes](std::vector<Buffer>& buffers) {
                Problem forward = problem("max_pool2d", {buffers[0].tensor()},
                                          {buffers[0].tensor(), buffers[1].tensor()}, attributes);
                forward.sources[0].dims = pool.source();
                forward.dtype = buffers[0].tensor().dtype;
                forward.attributes["indices"] = true;
                forward = widened(forward);
                std::vector<Buffer> from, to;
                from.emplace_back(forward.sources[0]);
                for (std::int64_t i = 0; i < from[0].tensor().elements(); ++i) {
                    from[0].set(i, 2 * noise(99, std::uint64_t(i)) - 1);
                }
                quantise(from);
                for (const TensorType& result : forward.destinations)
                    to.emplace_back(result);
                run_reference(forward, from, to);
                for (std::int64_t i = 0; i < to[1].tensor().elements(); ++i) {
                    buffers[1].set(i, to[1].get(i));
                    if (buffers.size() > 2) buffers[2].set(i, to[0].get(i));
                }
            };
            cases.push_back(item);
        }
    }
    return cases;
}

GRID(avg_pool2d) {
    std::vector<Case> cases;
    for (const Pool& pool : pools()) {
        for (const Attributes& attributes : averages(pool)) {
            cases.push_back({.problem = problem("avg_pool2d", {tensor(pool.source())},
                                                {tensor(pool.result())}, attributes),
                             .f32_tolerance = 1e-6,
                             .f64_tolerance = 1e-14});
        }
    }
    return cases;
}

GRID(avg_pool2d_backward) {
    std::vector<Case> cases;
    for (const Pool& pool : pools()) {
        for (Attributes attributes : averages(pool)) {
            attributes["source_shape"] = pool.source();
            cases.push_back({.problem = problem("avg_pool2d_backward", {tensor(pool.result())},
                                                {tensor(pool.source())}, attributes),
                             .f32_tolerance = 1e-6,
                             .f64_tolerance = 1e-14});
        }
    }
    return cases;
}

GRID(global_avg_pool2d) {
    std::vector<Case> cases;
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 16, 17, 64}) {
        for (const std::int64_t size : {1, 3, 8, 34}) {
            cases.push_back(
                {.problem = problem("global_avg_pool2d", {tensor({3, channels, size, size + 2})},
                                    {tensor({3, channels, 1, 1})}),
                 .f32_tolerance = 1e-6,
                 .f64_tolerance = 1e-14});
        }
    }
    return cases;
}

GRID(global_avg_pool2d_backward) {
    std::vector<Case> cases;
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 16, 17, 64}) {
        for (const std::int64_t size : {1, 3, 8, 34}) {
            const Dims source{3, channels, size, size + 2};
            cases.push_back(
                {.problem = problem("global_avg_pool2d_backward", {tensor({3, channels, 1, 1})},
                                    {tensor(source)}, {{"source_shape", source}}),
                 .f32_tolerance = 1e-6,
                 .f64_tolerance = 1e-14});
        }
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
