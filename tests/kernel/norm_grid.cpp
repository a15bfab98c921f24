#include <cmath>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

/// Rows and images; channels that fill vectors and that do not; samples too long for sums of each
/// thread's own.
std::vector<Dims> norm_shapes() {
    std::vector<Dims> list;
    for (const std::int64_t channels : {1, 3, 4, 6, 8, 17, 64}) {
        list.push_back({3, channels, 5, 7});
        list.push_back({9, channels});
    }
    list.push_back({1, 6, 1, 2});
    list.push_back({2, 100, 7, 7});
    list.push_back({4, 12, 28, 28});
    list.push_back({5, 5000});
    return list;
}

struct NormVariant {
    bool affine, statistics, uncentred = false;
};
constexpr NormVariant kNormVariants[] = {
    {true, true}, {true, false}, {false, true}, {false, false}};

/// Far from zero mean, so that a careless variance shows.
/// `together`: how many numbers are normalised together. The deviation of a handful may be tiny
/// beside a mean of 30.
Case forward(const char* op, const TensorType& image, const TensorType& parameter,
             const Dims& statistics, const NormVariant& variant, std::int64_t together,
             Attributes attributes) {
    const TensorType measure = row_major(statistics);
    std::vector<TensorType> sources{image}, results{image};
    if (variant.affine) sources.push_back(parameter);
    if (variant.affine && !variant.uncentred) sources.push_back(parameter);
    if (variant.statistics) results.insert(results.end(), {measure, measure});
    attributes["epsilon"] = 1e-5;
    attributes["affine"] = variant.affine;
    attributes["statistics"] = variant.statistics;
    if (variant.uncentred) attributes["uncentred"] = true;
    Case item;
    item.problem = problem(op, sources, results, attributes);
    item.f32_tolerance = 1e-5;
    item.f64_tolerance = 1e-12;
    item.in_place = {{0, 0}};
    if (together >= 16) item.prepare = [](std::vector<Buffer>& buffers) { shift(buffers[0]); };
    return item;
}

Case backward(const char* op, const TensorType& image, const TensorType& parameter,
              const Dims& statistics, bool affine, Attributes attributes, bool uncentred = false) {
    const TensorType measure = row_major(statistics);
    std::vector<TensorType> sources{image, image, measure, measure}, results{image};
    if (affine) {
        sources.push_back(parameter);
        results.push_back(parameter);
        if (!uncentred) results.push_back(parameter);
    }
    attributes["affine"] = affine;
    if (uncentred) attributes["uncentred"] = true;
    Case item;
    item.problem = problem(op, sources, results, attributes);
    item.f32_tolerance = 4e-6;
    item.f64_tolerance = 1e-12;
    item.in_place = {{0, 1}};
    item.prepare = [](std::vector<Buffer>& buffers) { make_positive(buffers[3]); };
    return item;
}

struct LayerNorm {
    TensorType image;
    Attributes axes;
    TensorType parameter;
    Dims statistics;
    std::int64_t together;
};

/// Over axes of tensors of any rank.
LayerNorm over_axes(const TensorType& image, const std::vector<std::int64_t>& axes) {
    std::int64_t together = 1;
    for (const std::int64_t axis : axes)
        together *= image.dims[std::size_t(axis)];
    return {
        image, {{"axes", axes}}, row_major({together}), {image.elements() / together}, together};
}

std::vector<LayerNorm> layer_norms() {
    std::vector<LayerNorm> list;
    for (const Dims& shape : norm_shapes()) {
        const std::int64_t sample = tensor(shape).elements() / shape[0];
        Dims image = shape;
        image[0] = 1;
        list.push_back({tensor(shape),
                        {{"axis", std::string("features")}},
                        shape.size() == 2 ? row_major({shape[1]}) : tensor(image),
                        {shape[0]},
                        sample});
        list.push_back({tensor(shape),
                        {{"axis", std::string("channels")}},
                        row_major({shape[1]}),
                        {shape[0] * sample / shape[1]},
                        shape[1]});
    }
    for (const Along& along : tensors_along_axes())
        list.push_back(over_axes(along.tensor, {along.axis}));
    list.push_back(over_axes(row_major({3, 5, 7}), {1, 2}));
    list.push_back(over_axes(row_major({3, 5, 7}), {0, 1}));
    list.push_back(over_axes(row_major({3, 5, 7}), {0, 1, 2}));
    list.push_back(over_axes(row_major({2, 3, 4, 5, 7}), {2, 3}));
    list.push_back(over_axes(row_major({2, 3, 4, 5, 7}), {1, 2, 3, 4}));
    list.push_back(over_axes(row_major({2, 9, 1000}), {1, 2}));
    return list;
}

struct GroupNorm {
    TensorType image;
    std::int64_t groups, axis;

    TensorType parameter() const { return row_major({image.dims[std::size_t(axis)]}); }
    Attributes attributes() const { return {{"groups", groups}, {"axis", axis}}; }
};

std::vector<GroupNorm> group_norms() {
    std::vector<TensorType> images;
    for (const Dims& shape : norm_shapes())
        images.push_back(tensor(shape));
    images.push_back(row_major({3, 6, 5}));
    images.push_back({DType::f32, {3, 6, 5}, {0, 2, 1}});
    images.push_back({DType::f32, {2, 6, 3, 2, 5}, {0, 2, 3, 4, 1}});
    std::vector<GroupNorm> list;
    for (const TensorType& image : images) {
        const std::int64_t channels = image.dims[1];
        for (const std::int64_t groups : {std::int64_t{1}, std::int64_t{2}, channels}) {
            if (channels % groups == 0) list.push_back({image, groups, 1});
        }
    }
    // Many features in few steps, and few in many.
    list.push_back({row_major({2, 3, 160}), 4, 2});
    list.push_back({row_major({3, 70, 6}), 2, 2});
    return list;
}

constexpr std::int64_t kWindows[] = {1, 2, 5, 8};
constexpr double kExponents[] = {0.75, 0.5, 1.0, 0.3};

/// Numbers large enough for the window to matter.
void enlarge(Buffer& buffer) {
    for (std::int64_t i = 0; i < buffer.tensor().elements(); ++i)
        buffer.set(i, buffer.get(i) * 3);
}

std::vector<Case> local_response(const char* op, std::size_t sources, double f32_tolerance) {
    std::vector<Case> cases;
    const std::vector<Dims> images{
        {2, 1, 3, 4}, {3, 3, 5, 7}, {2, 16, 3, 3}, {1, 17, 9, 9}, {2, 96, 13, 13}};
    for (const Dims& shape : images) {
        for (const std::int64_t size : kWindows) {
            for (const double exponent : kExponents) {
                cases.push_back(
                    {.problem = problem(op, std::vector<TensorType>(sources, tensor(shape)),
                                        {tensor(shape)},
                                        {{"size", size},
                                         {"alpha", 0.5},
                                         {"beta", exponent},
                                         {"k", size == 5 ? 2.0 : 1.0}}),
                     .f32_tolerance = f32_tolerance,
                     .f64_tolerance = 1e-13,
                     .prepare = [](std::vector<Buffer>& buffers) { enlarge(buffers[0]); }});
            }
        }
    }
    return cases;
}

}  // namespace

GRID(layer_norm) {
    std::vector<NormVariant> variants(std::begin(kNormVariants), std::end(kNormVariants));
    variants.push_back({true, true, true});
    variants.push_back({false, false, true});
    std::vector<Case> cases;
    for (const LayerNorm& norm : layer_norms()) {
        for (const NormVariant& variant : variants) {
            cases.push_back(forward("layer_norm", norm.image, norm.parameter, norm.statistics,
                                    variant, norm.together, norm.axes));
        }
    }
    return cases;
}

GRID(layer_norm_backward) {
    std::vector<Case> cases;
    for (const LayerNorm& norm : layer_norms()) {
        for (const bool affine : {true, false}) {
            for (const bool uncentred : {false, true})
                cases.push_back(backward("layer_norm_backward", norm.image, norm.parameter,
                                         norm.statistics, affine, norm.axes, uncentred));
        }
    }
    return cases;
}

GRID(group_norm) {
    std::vector<Case> cases;
    for (const GroupNorm& norm : group_norms()) {
        const std::int64_t samples = norm.image.dims[0];
        const std::int64_t together = norm.image.elements() / samples / norm.groups;
        for (const NormVariant& variant : kNormVariants) {
            cases.push_back(forward("group_norm", norm.image, norm.parameter(),
                                    {samples, norm.groups}, variant, together, norm.attributes()));
        }
    }
    return cases;
}

GRID(group_norm_backward) {
    std::vector<Case> cases;
    for (const GroupNorm& norm : group_norms()) {
        for (const bool affine : {true, false}) {
            cases.push_back(backward("group_norm_backward", norm.image, norm.parameter(),
                                     {norm.image.dims[0], norm.groups}, affine, norm.attributes()));
        }
    }
    return cases;
}

GRID(local_response_norm) {
    return local_response("local_response_norm", 1, 2e-6);
}

GRID(local_response_norm_backward) {
    return local_response("local_response_norm_backward", 2, 4e-6);
}

GRID(spatial_dropout2d_apply) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1, 1, 1}, {3, 5, 4, 7}, {2, 16, 3, 3}, {7, 130, 2, 1}, {33, 64, 5, 5}}) {
        for (const double rate : {0.0, 0.2, 0.5, 1.0}) {
            cases.push_back(
                {.problem = problem(
                     "spatial_dropout2d_apply", {tensor(shape), row_major({2}, DType::i64)},
                     {tensor(shape)},
                     {{"rate", rate}, {"seed", std::int64_t{42}}, {"stream", std::int64_t{3}}}),
                 .in_place = {{0, 0}},
                 .prepare = [](std::vector<Buffer>& buffers) {
                     buffers[1].set(0, 12345);
                     buffers[1].set(1, 777);
                 }});
        }
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
