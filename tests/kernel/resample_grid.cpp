#include <cmath>
#include <cstddef>
#include <string>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

constexpr double kF32 = 2e-6, kF64 = 1e-14;

/// The operator over an image of these extents, to [height, width].
struct Resampling {
    Dims source;
    std::int64_t height, width;
    Attributes attributes;

    Dims result() const { return {source[0], source[1], height, width}; }
};

/// Stored channels last, and row-major for the reference.
void add_images(std::vector<Case>& cases, const std::string& op, const Dims& from, const Dims& to,
                const Attributes& attributes) {
    cases.push_back({.problem = problem(op, {tensor(from)}, {tensor(to)}, attributes),
                     .f32_tolerance = kF32,
                     .f64_tolerance = kF64});
    cases.push_back({.problem = problem(op, {row_major(from)}, {row_major(to)}, attributes),
                     .f32_tolerance = kF32,
                     .f64_tolerance = kF64});
}

std::vector<Case> forward(const std::string& op, const std::vector<Resampling>& list) {
    std::vector<Case> cases;
    for (const Resampling& r : list)
        add_images(cases, op, r.source, r.result(), r.attributes);
    return cases;
}

std::vector<Case> backward(const std::string& op, const std::vector<Resampling>& list) {
    std::vector<Case> cases;
    for (const Resampling& r : list) {
        Attributes attributes = r.attributes;
        attributes["source_shape"] = r.source;
        add_images(cases, op, r.result(), r.source, attributes);
    }
    return cases;
}

Attributes size_of(std::int64_t height, std::int64_t width) {
    return {{"size", std::vector<std::int64_t>{height, width}}};
}

std::vector<Resampling> adaptive_pools() {
    std::vector<Resampling> list;
    for (const std::int64_t channels : {1, 3, 8, 17, 64}) {
        list.push_back({{2, channels, 7, 9}, 3, 4, size_of(3, 4)});
        list.push_back({{1, channels, 5, 5}, 7, 2, size_of(7, 2)});  // windows that repeat cells
        list.push_back({{3, channels, 6, 8}, 1, 1, size_of(1, 1)});
    }
    list.push_back({{2, 5, 1, 1}, 3, 3, size_of(3, 3)});
    list.push_back({{1, 4, 40, 30}, 7, 7, size_of(7, 7)});
    list.push_back({{2, 35, 17, 19}, 2, 1, size_of(2, 1)});
    return list;
}

std::vector<Resampling> upsamplings() {
    std::vector<Resampling> list;
    for (const char* mode : {"nearest", "bilinear"}) {
        for (const bool align : {false, true}) {
            if (align && std::string(mode) == "nearest") continue;
            for (const std::int64_t channels : {1, 6, 32, 35}) {
                const auto add = [&](const Dims& source, std::int64_t height, std::int64_t width) {
                    Attributes attributes = size_of(height, width);
                    attributes["mode"] = std::string(mode);
                    attributes["align_corners"] = align;
                    list.push_back({source, height, width, attributes});
                };
                add({2, channels, 4, 5}, 8, 10);
                add({1, channels, 3, 7}, 10, 8);
                add({2, channels, 9, 6}, 4, 5);  // smaller: some cells go nowhere
                add({1, channels, 1, 2}, 5, 1);
                if (channels > 32) add({1, channels, 2, 2}, 17, 19);
            }
        }
    }
    return list;
}

std::vector<Resampling> paddings() {
    std::vector<Resampling> list;
    for (const std::int64_t channels : {1, 3, 16, 37}) {
        for (const std::vector<std::int64_t>& p :
             std::vector<std::vector<std::int64_t>>{{1, 1, 1, 1}, {0, 2, 3, 0}, {0, 0, 0, 5}}) {
            list.push_back(
                {{2, channels, 4, 5}, 4 + p[0] + p[1], 5 + p[2] + p[3], {{"padding", p}}});
        }
    }
    return list;
}

}  // namespace

GRID(zero_pad2d) {
    return forward("zero_pad2d", paddings());
}
GRID(zero_pad2d_backward) {
    return backward("zero_pad2d_backward", paddings());
}
GRID(upsample2d) {
    return forward("upsample2d", upsamplings());
}
GRID(upsample2d_backward) {
    return backward("upsample2d_backward", upsamplings());
}
GRID(adaptive_avg_pool2d) {
    return forward("adaptive_avg_pool2d", adaptive_pools());
}
GRID(adaptive_avg_pool2d_backward) {
    return backward("adaptive_avg_pool2d_backward", adaptive_pools());
}

GRID(adaptive_max_pool2d) {
    std::vector<Case> cases;
    for (const Resampling& pool : adaptive_pools()) {
        for (const auto& stored : {tensor, row_major}) {
            Problem plain = problem("adaptive_max_pool2d", {stored(pool.source, DType::f32)},
                                    {stored(pool.result(), DType::f32)}, pool.attributes);
            cases.push_back({.problem = plain, .prepare = quantise});
            plain.destinations.push_back(stored(pool.result(), DType::i32));
            plain.attributes["indices"] = true;
            cases.push_back({.problem = plain, .prepare = quantise});
        }
    }
    return cases;
}

GRID(adaptive_max_pool2d_backward) {
    std::vector<Case> cases;
    for (const Resampling& pool : adaptive_pools()) {
        for (const auto& stored : {tensor, row_major}) {
            Attributes attributes = pool.attributes;
            attributes["source_shape"] = pool.source;
            const TensorType image = stored(pool.source, DType::f32);
            const TensorType result = stored(pool.result(), DType::f32);
            const TensorType indices = stored(pool.result(), DType::i32);
            // Indices that the forward pool would give.
            const auto choose = [=](std::vector<Buffer>& sources) {
                Problem pooling =
                    problem("adaptive_max_pool2d", {image}, {result, indices}, pool.attributes);
                pooling.attributes["indices"] = true;
                pooling.dtype = sources[0].tensor().dtype;
                for (TensorType* desc : {&pooling.sources[0], &pooling.destinations[0]})
                    desc->dtype = pooling.dtype;
                pooling = widened(pooling);
                std::vector<Buffer> from, to;
                from.emplace_back(pooling.sources[0]);
                for (std::int64_t i = 0; i < image.elements(); ++i)
                    from[0].set(i, std::round(noise(7, std::uint64_t(i)) * 6));
                for (const TensorType& desc : pooling.destinations)
                    to.emplace_back(desc);
                run_reference(pooling, from, to);
                for (std::int64_t i = 0; i < indices.elements(); ++i)
                    sources[1].set(i, to[1].get(i));
            };
            cases.push_back({.problem = problem("adaptive_max_pool2d_backward", {result, indices},
                                                {image}, attributes),
                             .f32_tolerance = kF32,
                             .f64_tolerance = kF64,
                             .prepare = choose});
        }
    }
    return cases;
}

GRID(channel_sums) {
    std::vector<Case> cases;
    for (const std::int64_t channels : {1, 3, 16, 37, 130}) {
        for (const TensorType& source :
             {tensor({3, channels, 13, 9}), row_major({3, channels, 4, 5}),
              row_major({700, channels})}) {
            cases.push_back({.problem = problem("channel_sums", {source}, {row_major({channels})}),
                             .f32_tolerance = 2e-5,
                             .f64_tolerance = 4e-14});
        }
    }
    for (const Along& along : tensors_along_axes())
        cases.push_back(
            {.problem = problem("channel_sums", {along.tensor},
                                {row_major({along.tensor.dims[std::size_t(along.axis)]})},
                                {{"axis", along.axis}}),
             .f32_tolerance = 2e-5,
             .f64_tolerance = 4e-14});
    return cases;
}

}  // namespace dtnn::kernels::conformance
