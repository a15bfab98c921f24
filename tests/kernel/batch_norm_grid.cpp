#include <array>
#include <cmath>
#include <vector>

#include "kernels/arguments/rank_moments.hpp"
#include "kernels/layout.hpp"
#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

struct Shape {
    TensorType tensor;
    std::int64_t axis = 1;
    bool far = true;  ///< numbers that are far from zero mean still differ

    std::int64_t channels() const { return tensor.dims[std::size_t(axis)]; }
};

std::vector<Shape> shapes() {
    std::vector<Shape> list;
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 16, 17, 64}) {
        list.push_back({tensor({3, channels, 5, 7})});
        list.push_back({tensor({33, channels})});
    }
    list.push_back({.tensor = tensor({1, 6, 1, 2}), .far = false});
    list.push_back({tensor({2, 128, 7, 7})});
    list.push_back({tensor({8, 4, 28, 28})});
    list.push_back({tensor({2, 100, 6, 6})});
    list.push_back({tensor({3, 1300, 1, 3})});
    list.push_back({tensor({5, 2064})});
    list.push_back({row_major({2, 3, 5, 7})});
    for (const Along& along : tensors_along_axes()) {
        const Shape shape{along.tensor, along.axis, false};
        // The deviation of a handful of elements may be next to nothing.
        const bool enough = shape.tensor.elements() / shape.channels() >= 6;
        if (enough && channel_layout(along.tensor, {std::size_t(along.axis), 1}))
            list.push_back(shape);
    }
    return list;
}

/// The case with the axis of its channels.
Case along(Case item, const Shape& shape) {
    if (shape.axis != 1) item.problem.attributes["axis"] = shape.axis;
    return item;
}

TensorType per_channel(const Shape& shape) {
    return row_major({shape.channels()});
}

/// The mean is double in every type.
TensorType mean_of(const Shape& shape) {
    return row_major({shape.channels()}, DType::f64);
}

TensorType mask_of(const Shape& shape) {
    return row_major({(shape.tensor.elements() + 7) / 8}, DType::u8);
}

TensorType rank_sums(const Shape& shape) {
    return row_major({2 * shape.channels() + 1}, DType::f64);
}

TensorType rank_moments(const Shape& shape) {
    return row_major({RankMoments::elements(shape.channels())}, DType::f64);
}

struct Variant {
    bool relu, residual, mask, statistics;
    bool synchronised = false;
};
constexpr Variant kVariants[] = {{false, false, false, false},   {true, false, false, false},
                                 {true, false, true, false},     {true, true, true, true},
                                 {false, true, false, false},    {false, false, false, true},
                                 {true, true, true, true, true}, {false, false, false, true, true}};

}  // namespace

GRID(batch_norm_training) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const Variant& variant : kVariants) {
            const TensorType image = shape.tensor, channel = per_channel(shape);
            std::vector<TensorType> sources{image, channel, channel, channel, channel};
            if (variant.statistics)
                sources.push_back(variant.synchronised
                                      ? rank_moments(shape)
                                      : row_major({3, shape.channels()}, DType::f64));
            if (variant.residual) sources.push_back(image);
            std::vector<TensorType> results{image, mean_of(shape), channel, channel, channel};
            if (variant.mask) results.push_back(mask_of(shape));
            Case item;
            item.problem = problem("batch_norm_training", sources, results,
                                   {{"epsilon", 1e-5},
                                    {"momentum", 0.9},
                                    {"epilogue", std::string(variant.relu ? "relu" : "none")},
                                    {"statistics", variant.statistics},
                                    {"synchronised", variant.synchronised},
                                    {"residual", variant.residual},
                                    {"mask", variant.mask}});
            // The mean of 30 leaves half a digit less for the normalised value.
            item.f32_tolerance = 1e-5;
            // At a mean of 1e6 double itself ends at the tenth digit.
            item.f64_tolerance = variant.relu ? 1e-9 : 1e-12;
            item.in_place = {{0, 0}, {3, 3}, {4, 4}};
            if (variant.residual) item.in_place.emplace_back(0, int(sources.size()) - 1);
            item.prepare = [variant, shape](std::vector<Buffer>& buffers) {
                // With a handful of elements the deviation may be tiny beside such a mean.
                const bool shifted = shape.far;
                // Half precision ends at 65504.
                const double large = buffers[0].tensor().dtype == DType::fp16 ? 1e3 : 1e6;
                const double by = variant.relu ? large : 30;
                if (shifted) shift(buffers[0], by);
                const double bias = shifted ? by - 0.5 : 0;
                make_positive(buffers[4]);
                if (!variant.statistics) return;
                const std::int64_t channels = shape.channels();
                const std::int64_t stride = strides_of(shape.tensor)[std::size_t(shape.axis)];
                const double count = double(buffers[0].tensor().elements()) / double(channels);
                std::vector<double> moments(std::size_t(RankMoments::elements(channels)));
                for (std::int64_t c = 0; c < channels; ++c) {
                    double sum = 0, squares = 0;
                    for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                        if (i / stride % channels != c) continue;
                        const double distance = buffers[0].get(i) - bias;
                        sum += distance;
                        squares += distance * distance;
                    }
                    const std::array<double, 3> of_batch = {sum, squares, bias};
                    for (std::size_t i = 0; i < of_batch.size() && !variant.synchronised; ++i)
                        buffers[5].set(std::int64_t(i) * channels + c, of_batch[i]);
                    RankMoments{&moments[std::size_t(c)], channels}.write(count, bias, sum,
                                                                          squares);
                }
                moments.back() = count;
                for (std::size_t i = 0; i < moments.size() && variant.synchronised; ++i)
                    buffers[5].set(std::int64_t(i), moments[i]);
            };
            cases.push_back(along(item, shape));
            if (variant.relu || variant.residual) continue;
            item.problem.attributes["epilogue"] = std::string("expression");
            item.problem.attributes["expression"] = std::string("x0 sigmoid x0 mul x0 -1 max sub");
            cases.push_back(along(item, shape));
        }
    }
    return cases;
}

GRID(batch_norm_backward) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const Variant& variant : kVariants) {
            if (variant.synchronised || (variant.residual && variant.relu && !variant.mask))
                continue;
            const TensorType image = shape.tensor, channel = per_channel(shape);
            std::vector<TensorType> sources{image, image, channel, mean_of(shape), channel};
            if (variant.relu && !variant.mask) sources.push_back(channel);
            if (variant.mask) sources.push_back(mask_of(shape));
            std::vector<TensorType> results{image, channel, channel};
            if (variant.residual) results.push_back(image);
            Case item;
            item.problem = problem("batch_norm_backward", sources, results,
                                   {{"epilogue", std::string(variant.relu ? "relu" : "none")},
                                    {"mask", variant.mask},
                                    {"residual", variant.residual}});
            item.f32_tolerance = 4e-6;
            item.f64_tolerance = 1e-12;
            item.in_place = {{0, 1}};
            if (variant.residual) item.in_place.emplace_back(3, 1);
            item.prepare = [](std::vector<Buffer>& buffers) { make_positive(buffers[4]); };
            cases.push_back(along(item, shape));
            if (variant.relu || variant.residual || variant.statistics) continue;
            item.problem.attributes["epilogue"] = std::string("expression");
            item.problem.attributes["expression"] = std::string("x1 sigmoid x0 mul x0 x1 mul sub");
            item.problem.sources.push_back(channel);
            cases.push_back(along(item, shape));
        }
    }
    return cases;
}

GRID(batch_norm_sums) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const bool statistics : {false, true}) {
            for (const bool idle : {false, true}) {
                std::vector<TensorType> sources{shape.tensor, row_major({})};
                if (statistics) sources.push_back(row_major({3, shape.channels()}, DType::f64));
                Case item;
                item.problem = problem("batch_norm_sums", sources, {rank_moments(shape)},
                                       {{"statistics", statistics}});
                // A mean that is another in its last digit may have other parts (rank_moments.hpp).
                item.f32_tolerance = 1e-8;
                item.f64_tolerance = 1e-8;
                item.prepare = [idle](std::vector<Buffer>& buffers) {
                    buffers[1].set(0, idle ? 0 : 0.25);
                };
                cases.push_back(along(item, shape));
            }
        }
    }
    return cases;
}

GRID(batch_norm_backward_sums) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const Variant& variant : kVariants) {
            if (variant.residual || variant.statistics) continue;
            const TensorType image = shape.tensor, channel = per_channel(shape);
            std::vector<TensorType> sources{image,          image,   channel,
                                            mean_of(shape), channel, row_major({})};
            if (variant.relu) sources.push_back(variant.mask ? mask_of(shape) : channel);
            for (const bool idle : {false, true}) {
                Case item;
                item.problem = problem("batch_norm_backward_sums", sources,
                                       {rank_sums(shape), channel, channel},
                                       {{"epilogue", std::string(variant.relu ? "relu" : "none")},
                                        {"mask", variant.mask}});
                item.f32_tolerance = 4e-6;
                item.f64_tolerance = 1e-12;
                item.prepare = [idle](std::vector<Buffer>& buffers) {
                    make_positive(buffers[4]);
                    buffers[5].set(0, idle ? 0 : 0.5);
                };
                cases.push_back(along(item, shape));
            }
        }
    }
    return cases;
}

GRID(batch_norm_backward_apply) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const Variant& variant : kVariants) {
            if (variant.synchronised || (variant.residual && variant.relu && !variant.mask))
                continue;
            const TensorType image = shape.tensor, channel = per_channel(shape);
            std::vector<TensorType> sources{
                image, image, channel, mean_of(shape), channel, rank_sums(shape), row_major({})};
            if (variant.relu) sources.push_back(variant.mask ? mask_of(shape) : channel);
            std::vector<TensorType> results{image};
            if (variant.residual) results.push_back(image);
            Case item;
            item.problem = problem("batch_norm_backward_apply", sources, results,
                                   {{"epilogue", std::string(variant.relu ? "relu" : "none")},
                                    {"mask", variant.mask},
                                    {"residual", variant.residual}});
            item.f32_tolerance = 4e-6;
            item.f64_tolerance = 1e-12;
            item.in_place = {{0, 1}};
            if (variant.residual) item.in_place.emplace_back(1, 1);
            item.prepare = [shape, variant](std::vector<Buffer>& buffers) {
                make_positive(buffers[4]);
                buffers[6].set(0, variant.relu && variant.mask && !variant.residual ? 0 : 0.4);
                buffers[5].set(2 * shape.channels(),
                               2.5 * double(shape.tensor.elements()) / double(shape.channels()));
            };
            cases.push_back(along(item, shape));
        }
    }
    return cases;
}

GRID(batch_norm_inference) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        for (const Variant& variant : kVariants) {
            if (variant.mask || variant.statistics) continue;
            const TensorType image = shape.tensor, channel = per_channel(shape);
            std::vector<TensorType> sources{image, channel, channel, channel, channel};
            if (variant.residual) sources.push_back(image);
            Case item;
            item.problem = problem("batch_norm_inference", sources, {image},
                                   {{"epsilon", 1e-5},
                                    {"epilogue", std::string(variant.relu ? "relu" : "none")},
                                    {"residual", variant.residual}});
            item.f32_tolerance = 2e-6;
            item.f64_tolerance = 1e-14;
            item.in_place = {{0, 0}};
            if (variant.residual) item.in_place.emplace_back(0, 5);
            item.prepare = [](std::vector<Buffer>& buffers) { make_positive(buffers[4]); };
            cases.push_back(along(item, shape));
        }
    }
    return cases;
}

GRID(fold_batch_norm) {
    std::vector<Case> cases;
    struct Weights {
        TensorType tensor;
        std::int64_t channels, axis;
    };
    const std::vector<Weights> list{
        {{DType::f32, {16, 3, 3, 3}, {2, 3, 1, 0}}, 16, -1},
        {{DType::f32, {5, 7, 1, 2}, {2, 3, 1, 0}}, 5, -1},
        {{DType::f32, {5, 7, 3, 1}, {}}, 5, -1},
        {{DType::f32, {12, 9}, {}}, 9, 1},
        {{DType::f32, {3, 2, 2, 6}, {1, 2, 0, 3}}, 6, 3},
    };
    for (const Weights& weights : list) {
        for (const bool bias : {false, true}) {
            const TensorType channel = row_major({weights.channels});
            std::vector<TensorType> sources{weights.tensor, channel, channel, channel, channel};
            if (bias) sources.push_back(channel);
            Attributes attributes{{"epsilon", 1e-5}, {"bias", bias}};
            if (weights.axis >= 0) attributes["axis"] = weights.axis;
            cases.push_back(
                {.problem =
                     problem("fold_batch_norm", sources, {weights.tensor, channel}, attributes),
                 .f32_tolerance = 2e-6,
                 .f64_tolerance = 1e-14,
                 .prepare = [](std::vector<Buffer>& buffers) { make_positive(buffers[4]); }});
        }
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
