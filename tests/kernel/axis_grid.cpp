#include <cmath>

#include "tests/kernel/conformance.hpp"

/// Operators that work along an axis.

namespace dtnn::kernels::conformance {

std::vector<Along> tensors_along_axes() {
    std::vector<Along> list;
    const auto add = [&](const TensorType& tensor, std::initializer_list<std::int64_t> axes) {
        for (const std::int64_t axis : axes)
            list.push_back({tensor, axis});
    };
    add(row_major({5}), {0});
    add(row_major({7, 17}), {0, 1});
    add(row_major({3, 5, 33}), {0, 1, 2});
    add(row_major({1, 300, 2}), {1, 2});
    add(row_major({2, 1, 150}), {0, 1});
    add(row_major({2, 3, 4, 5, 7}), {1, 2, 3, 4});
    add(row_major({1, 2, 1, 3, 130}), {0, 1, 2, 3});
    add(tensor({2, 5, 3, 4}), {0, 2, 3});
    add(tensor({1, 1, 9, 7}), {1, 2, 3});
    add({DType::f32, {3, 6, 5}, {0, 2, 1}}, {0, 1, 2});
    add({DType::f32, {2, 6, 3, 2, 5}, {0, 2, 3, 4, 1}}, {1, 3});
    return list;
}

TensorType without(const Along& along) {
    TensorType result = along.tensor;
    result.dims.erase(result.dims.begin() + std::ptrdiff_t(along.axis));
    std::erase(result.order, int(along.axis));
    for (int& axis : result.order)
        if (axis > along.axis) --axis;
    return result;
}

namespace {

/// The case again for tensors of all ranks and other axes than the second.
void add_axes(std::vector<Case>& cases, const char* op, std::size_t sources,
              const std::function<void(Buffer&)>& prepare, double f32_tolerance) {
    for (const Along& along : tensors_along_axes()) {
        Case item;
        item.problem = problem(op, std::vector<TensorType>(sources, along.tensor), {along.tensor},
                               {{"axis", along.axis}});
        item.f32_tolerance = f32_tolerance;
        item.f64_tolerance = 1e-14;
        item.in_place = {{0, int(sources) - 1}};
        item.prepare = [prepare](std::vector<Buffer>& buffers) { prepare(buffers[0]); };
        cases.push_back(item);
    }
}

std::function<void(Buffer&)> times(double factor, double offset = 0) {
    return [factor, offset](Buffer& buffer) {
        for (std::int64_t i = 0; i < buffer.tensor().elements(); ++i)
            buffer.set(i, buffer.get(i) * factor + offset);
    };
}

}  // namespace

GRID(softmax) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        cases.push_back({.problem = problem("softmax", {tensor(shape)}, {tensor(shape)},
                                            {{"axis", std::string("channels")}}),
                         .f32_tolerance = 2e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 0}},
                         .prepare = [](std::vector<Buffer>& buffers) {
                             for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                                 buffers[0].set(i, buffers[0].get(i) * 60);
                             }
                         }});
    }
    add_axes(cases, "softmax", 1, times(60), 2e-6);
    return cases;
}

GRID(log_softmax) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        // Differences of several hundred: the probabilities are zeros of float.
        cases.push_back({.problem = problem("log_softmax", {tensor(shape)}, {tensor(shape)},
                                            {{"axis", std::string("channels")}}),
                         .f32_tolerance = 1e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 0}},
                         .prepare = [](std::vector<Buffer>& buffers) {
                             for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                                 buffers[0].set(i, buffers[0].get(i) * 300);
                             }
                         }});
    }
    add_axes(cases, "log_softmax", 1, times(300), 1e-6);
    return cases;
}

GRID(log_softmax_backward) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        cases.push_back({.problem = problem("log_softmax_backward", {tensor(shape), tensor(shape)},
                                            {tensor(shape)}, {{"axis", std::string("channels")}}),
                         .f32_tolerance = 4e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 1}, {0, 0}},
                         .prepare = [](std::vector<Buffer>& buffers) {
                             for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                                 buffers[0].set(i, buffers[0].get(i) * 20 - 20);
                             }
                         }});
    }
    add_axes(cases, "log_softmax_backward", 2, times(20, -20), 4e-6);
    return cases;
}

GRID(softmax_backward) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        cases.push_back({.problem = problem("softmax_backward", {tensor(shape), tensor(shape)},
                                            {tensor(shape)}, {{"axis", std::string("channels")}}),
                         .f32_tolerance = 2e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 1}},
                         .prepare = [shape](std::vector<Buffer>& buffers) {
                             make_probabilities(buffers[0], shape[1]);
                         }});
    }
    add_axes(
        cases, "softmax_backward", 2, [](Buffer& buffer) { make_positive(buffer); }, 2e-6);
    return cases;
}

namespace {

/// The tensor with another extent along its axis.
TensorType with_extent(const Along& along, std::int64_t extent) {
    TensorType result = along.tensor;
    result.dims[std::size_t(along.axis)] = extent;
    return result;
}

struct Range {
    const char* axis;
    Dims dims;
    std::int64_t begin, end;

    Attributes attributes() const {
        return {{"axis", std::string(axis)}, {"begin", begin}, {"end", end}};
    }
    Dims part() const {
        Dims result = dims;
        const std::string name = axis;
        result[name == "channels" ? 1 : name == "height" ? 2 : 3] = end - begin;
        return result;
    }
};

const Range kRanges[] = {
    {"channels", {2, 8, 3, 5}, 0, 3},    {"channels", {2, 8, 3, 5}, 5, 8},
    {"channels", {1, 81, 2, 2}, 16, 65}, {"channels", {7, 40}, 3, 36},
    {"channels", {7, 9}, 8, 9},          {"height", {2, 6, 7, 4}, 2, 5},
    {"height", {1, 33, 3, 3}, 2, 3},     {"width", {2, 6, 3, 9}, 0, 4},
    {"width", {3, 16, 4, 8}, 3, 8},
};

std::vector<Case> slices(bool backward) {
    std::vector<Case> cases;
    for (const Range& range : kRanges) {
        Attributes attributes = range.attributes();
        if (backward) attributes["source_shape"] = range.dims;
        for (const auto& stored : {tensor, row_major}) {
            const TensorType whole = stored(range.dims, DType::f32);
            const TensorType part = stored(range.part(), DType::f32);
            cases.push_back({.problem = backward
                                            ? problem("slice_backward", {part}, {whole}, attributes)
                                            : problem("slice", {whole}, {part}, attributes)});
        }
    }
    for (const Along& along : tensors_along_axes()) {
        const std::int64_t extent = along.tensor.dims[std::size_t(along.axis)];
        for (const auto& [begin, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                 {0, extent}, {extent - 1, extent}, {extent / 3, (extent + 1) / 2}}) {
            if (begin >= end) continue;
            const TensorType part = with_extent(along, end - begin);
            Attributes attributes{{"axis", along.axis}, {"begin", begin}, {"end", end}};
            if (backward) attributes["source_shape"] = along.tensor.dims;
            cases.push_back(
                {.problem = backward ? problem("slice_backward", {part}, {along.tensor}, attributes)
                                     : problem("slice", {along.tensor}, {part}, attributes)});
        }
    }
    return cases;
}

}  // namespace

GRID(slice) {
    return slices(false);
}
GRID(slice_backward) {
    return slices(true);
}

GRID(concat) {
    std::vector<Case> cases;
    for (const std::vector<std::int64_t>& channels :
         std::vector<std::vector<std::int64_t>>{{1}, {3, 5}, {16, 16}, {1, 2, 3, 4}, {64, 17}}) {
        std::int64_t sum = 0;
        std::vector<TensorType> images, rows, plain;
        for (const std::int64_t count : channels) {
            images.push_back(tensor({2, count, 3, 5}));
            plain.push_back(row_major({2, count, 3, 5}));
            rows.push_back(row_major({7, count}));
            sum += count;
        }
        cases.push_back({.problem = problem("concat", images, {tensor({2, sum, 3, 5})})});
        cases.push_back({.problem = problem("concat", plain, {row_major({2, sum, 3, 5})})});
        cases.push_back({.problem = problem("concat", rows, {row_major({7, sum})})});
        for (const Along& along : tensors_along_axes()) {
            std::vector<TensorType> parts;
            for (const std::int64_t count : channels)
                parts.push_back(with_extent(along, count));
            cases.push_back({.problem = problem("concat", parts, {with_extent(along, sum)},
                                                {{"axis", along.axis}})});
        }
    }
    return cases;
}

GRID(mean) {
    std::vector<Case> cases;
    for (const Along& along : tensors_along_axes())
        cases.push_back(
            {.problem = problem("mean", {along.tensor}, {without(along)}, {{"axis", along.axis}}),
             .f32_tolerance = 1e-6,
             .f64_tolerance = 1e-14});
    return cases;
}

GRID(mean_backward) {
    std::vector<Case> cases;
    for (const Along& along : tensors_along_axes())
        cases.push_back({.problem = problem("mean_backward", {without(along)}, {along.tensor},
                                            {{"axis", along.axis}}),
                         .f32_tolerance = 1e-6,
                         .f64_tolerance = 1e-14});
    return cases;
}

}  // namespace dtnn::kernels::conformance
