#include "kernels/layout.hpp"
#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

Case elementwise(std::int64_t count, std::string expression, int sources, double f32_tolerance = 0,
                 double f64_tolerance = 0) {
    Case item;
    item.problem =
        problem("elementwise", std::vector<TensorType>(std::size_t(sources), row_major({count})),
                {row_major({count})}, {{"expression", std::move(expression)}});
    item.f32_tolerance = f32_tolerance;
    item.f64_tolerance = f64_tolerance;
    for (int source = 0; source < sources; ++source)
        item.in_place.emplace_back(0, source);
    return item;
}

}  // namespace

namespace {

/// Sources read by channel: x0, two of numbers by channel and a single number.
Case by_channel(const char* op, const TensorType& x, std::string expression, bool sums_by_channel,
                double f32_tolerance, double f64_tolerance) {
    const std::int64_t channels = x.dims[1];
    const bool sums = std::string_view(op) == "elementwise_sums";
    Case item;
    item.problem = problem(op, {x, x, row_major({channels}), row_major({channels}), row_major({1})},
                           {!sums             ? x
                            : sums_by_channel ? row_major({channels})
                                              : row_major({1})},
                           {{"expression", std::move(expression)}});
    if (sums) item.problem.attributes["by_channel"] = sums_by_channel;
    item.f32_tolerance = f32_tolerance;
    item.f64_tolerance = f64_tolerance;
    if (!sums) item.in_place = {{0, 0}, {0, 1}};
    return item;
}

constexpr const char* kByChannel = "x0 c2 mul x1 c3 add max c4 sub";

/// Fewer channels than a stretch, more of them, and widths that no vector divides.
std::vector<TensorType> images_by_channel() {
    std::vector<TensorType> images;
    for (const std::int64_t channels : {1, 3, 8, 17, 64})
        for (const std::int64_t size : {1, 5, 23})
            images.push_back(tensor({3, channels, size, size + 1}));
    images.push_back(row_major({5, 10}));
    images.push_back(row_major({130, 1500}));
    images.push_back(row_major({3, 1024}));
    images.push_back(row_major({2, 7, 6, 5}));
    return images;
}

/// The case over tensors of other ranks, and other channels than the second axis.
Case along_axis(Case item, const Along& along) {
    const std::int64_t channels = along.tensor.dims[std::size_t(along.axis)];
    for (TensorType* tensor : {&item.problem.sources[0], &item.problem.sources[1]})
        *tensor = along.tensor;
    for (TensorType* tensor : {&item.problem.sources[2], &item.problem.sources[3]})
        tensor->dims = {channels};
    TensorType& result = item.problem.destinations[0];
    if (item.problem.op == "elementwise")
        result = along.tensor;
    else if (item.problem.flag("by_channel"))
        result.dims = {channels};
    item.problem.attributes["axis"] = along.axis;
    return item;
}

/// One number for each channel of a sample, in both forms; none where channels are samples.
std::vector<TensorType> gates_of(const Along& along) {
    if (!sample_layout(along.tensor, {std::size_t(along.axis), 1})) return {};
    const Dims& dims = along.tensor.dims;
    Dims whole(dims.size(), 1);
    whole[0] = dims[0], whole[std::size_t(along.axis)] = dims[std::size_t(along.axis)];
    return {row_major({dims[0], dims[std::size_t(along.axis)]}), row_major(whole)};
}

/// Beside those of tensors_along_axes(), channels with more neighbours than a stretch.
std::vector<Along> channels_along_axes() {
    std::vector<Along> list = tensors_along_axes();
    std::erase_if(list, [](const Along& along) { return along.tensor.dims.size() < 2; });
    list.push_back({row_major({3, 5, 700}), 1});
    list.push_back({row_major({2, 3, 40, 9}), 1});
    return list;
}

}  // namespace

GRID(elementwise) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 7, 16, 33, 1000, 4097, 10007}) {
        cases.push_back(elementwise(count, "x0 0 max", 1));
        cases.push_back(elementwise(count, "x1 0 gt x0 0 select", 2));
        cases.push_back(elementwise(count, "x0 x1 add", 2));
        cases.push_back(elementwise(count, "x0 x1 add 0 max", 2));
        cases.push_back(elementwise(count, "x0 x1 add x2 sub x3 mul", 4));
    }
    for (const std::int64_t count : {5, 2051}) {
        cases.push_back(elementwise(count, "x0", 1));
        cases.push_back(elementwise(count, "2.5", 1));
        cases.push_back(elementwise(count, "x0 neg abs x1 min -0.25 max", 2));
        cases.push_back(elementwise(count, "x0 x1 x2 x3 x4 x5 x6 x7 add add add add add add add", 8,
                                    1e-6, 1e-14));
        // Deeper than any stack in registers.
        std::string deep = "x0";
        for (int i = 0; i < 20; ++i)
            deep += " x" + std::to_string(i % 2);
        for (int i = 0; i < 20; ++i)
            deep += i % 2 == 0 ? " add" : " min";
        cases.push_back(elementwise(count, deep, 2, 1e-6, 1e-14));
        cases.push_back(
            elementwise(count, "x0 abs 0.5 add log x1 exp mul x2 tanh div", 3, 4e-5, 1e-12));
        cases.push_back(elementwise(count, "x0 80 mul exp", 1, 1e-6, 1e-14));
        cases.push_back(elementwise(count, "x0 200 mul exp 1 min", 1, 1e-6, 1e-14));
        cases.push_back(elementwise(count, "x0 120 mul sigmoid x1 2 mul tanh add", 2, 1e-6, 1e-14));
        cases.push_back(
            elementwise(count, "x0 sigmoid 1 x0 sigmoid sub mul x0 abs sqrt sub", 1, 2e-6, 1e-14));
    }
    // Ones that tell lanes of every width apart, and the pieces of the approximations: near 0, in
    // the middle, where they saturate.
    for (const std::int64_t count : {5, 2051}) {
        cases.push_back(elementwise(count, "x0 x1 ge x0 0.5 mul x1 0.5 mul eq sub", 2));
        for (const char* scale : {"1e-30", "0.001", "1", "8", "200"}) {
            const std::string x = "x0 " + std::string(scale) + " mul ";
            cases.push_back(elementwise(count, x + "erf", 1, 4e-7, 1e-15));
            cases.push_back(elementwise(count, x + "abs log1p", 1, 4e-7, 1e-15));
            cases.push_back(elementwise(count, x + "abs log", 1, 4e-7, 1e-15));
            cases.push_back(elementwise(count, x + "-50 max 50 min expm1", 1, 1e-6, 1e-14));
        }
        cases.push_back(elementwise(count, "x0 0.999 mul atanh", 1, 1e-6, 1e-14));
        cases.push_back(elementwise(count, "x0 0.999 mul log1p", 1, 1e-6, 1e-14));
    }
    for (const TensorType& x : images_by_channel()) {
        cases.push_back(by_channel("elementwise", x, kByChannel, false, 1e-6, 1e-14));
        cases.push_back(by_channel("elementwise", x, "x0 c2 mul sigmoid x1 mul c3 add c4 max",
                                   false, 1e-6, 1e-14));
    }
    for (const Along& along : channels_along_axes())
        cases.push_back(along_axis(
            by_channel("elementwise", along.tensor, kByChannel, false, 1e-6, 1e-14), along));
    return cases;
}

GRID(elementwise_sums) {
    std::vector<Case> cases;
    for (const TensorType& x : images_by_channel())
        for (const bool each : {true, false}) {
            cases.push_back(by_channel("elementwise_sums", x, kByChannel, each, 2e-6, 1e-13));
            cases.push_back(by_channel("elementwise_sums", x, "x0 x1 mul c2 c3 c4 add mul sub",
                                       each, 2e-6, 1e-13));
        }
    for (const Along& along : channels_along_axes())
        for (const bool each : {true, false})
            cases.push_back(along_axis(
                by_channel("elementwise_sums", along.tensor, kByChannel, each, 2e-6, 1e-13),
                along));
    return cases;
}

GRID(channel_scale) {
    std::vector<Case> cases;
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 16, 17, 64})
        for (const std::int64_t size : {1, 3, 8}) {
            const TensorType image = tensor({3, channels, size, size + 2});
            for (const TensorType& gate : {tensor({3, channels, 1, 1}), row_major({3, channels})})
                cases.push_back({.problem = problem("channel_scale", {image, gate}, {image}),
                                 .in_place = {{0, 0}}});
        }
    for (const Along& along : channels_along_axes())
        for (const TensorType& gate : gates_of(along))
            cases.push_back({.problem = problem("channel_scale", {along.tensor, gate},
                                                {along.tensor}, {{"axis", along.axis}}),
                             .in_place = {{0, 0}}});
    return cases;
}

GRID(channel_scale_backward_gate) {
    std::vector<Case> cases;
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 16, 17, 64})
        for (const std::int64_t size : {1, 3, 8, 34}) {
            const TensorType image = tensor({3, channels, size, size + 2});
            for (const TensorType& gate : {tensor({3, channels, 1, 1}), row_major({3, channels})})
                cases.push_back({.problem = problem("channel_scale_backward_gate", {image, image},
                                                    {gate}, {{"gate_shape", gate.dims}}),
                                 .f32_tolerance = 1e-5,
                                 .f64_tolerance = 1e-13});
        }
    for (const Along& along : channels_along_axes())
        for (const TensorType& gate : gates_of(along))
            cases.push_back(
                {.problem = problem("channel_scale_backward_gate", {along.tensor, along.tensor},
                                    {gate}, {{"gate_shape", gate.dims}, {"axis", along.axis}}),
                 .f32_tolerance = 1e-5,
                 .f64_tolerance = 1e-13});
    return cases;
}

}  // namespace dtnn::kernels::conformance
