/// Known numbers under other shapes, in other places, and several times.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/saturating.hpp"
#include "compiler/onnx/in/fold.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

void expect_same_numbers(const Dims& dims, const Constant& x) {
    if (element_count(dims) != x.elements())
        throw Refused(
            fmt::format("it makes [{}] of [{}]", fmt::join(dims, ","), fmt::join(x.dims, ",")));
}

Constant as(const Constant& x, Dims dims) {
    expect_same_numbers(dims, x);
    Constant made = x;
    made.dims = std::move(dims);
    return made;
}

/// Along one axis: `outer` times what is at `index` of it.
Constant take(const Folding& f, std::size_t axis, const Integers& indices, Dims dims) {
    const Dims& from = f.x().dims;
    const std::int64_t inner =
        element_count(Dims(from.begin() + std::ptrdiff_t(axis) + 1, from.end()));
    const std::int64_t outer =
        element_count(Dims(from.begin(), from.begin() + std::ptrdiff_t(axis)));
    if (saturating_product({outer, inner, std::int64_t(indices.size())}) > kMostFolded)
        throw Refused("it works out too many numbers");
    Numbers numbers;
    for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t index : indices) {
            if (index < 0) index += from[axis];
            if (index < 0 || index >= from[axis]) throw Refused("it reads beyond the end");
            for (std::int64_t i = 0; i < inner; ++i)
                numbers.push_back(f.x().at((o * from[axis] + index) * inner + i));
        }
    return f.make(std::move(dims), numbers);
}

}  // namespace

Constant fold_reshape(const Folding& f) {
    Dims dims = f.list(1);
    std::int64_t known = 1, *open = nullptr;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == 0 && i < f.x().dims.size()) dims[i] = f.x().dims[i];
        if (dims[i] == -1)
            open = &dims[i];
        else
            known = saturating_product({known, dims[i]});
    }
    if (open && known > 0) *open = f.x().elements() / known;
    return as(f.x(), dims);
}

Constant fold_squeeze(const Folding& f) {
    const Integers axes = f.axes(13);
    std::set<std::size_t> gone;
    for (const std::int64_t axis : axes)
        gone.insert(place_of_axis(axis, f.x().dims.size()));
    Dims dims;
    for (std::size_t i = 0; i < f.x().dims.size(); ++i)
        if (axes.empty() ? f.x().dims[i] != 1 : !gone.contains(i)) dims.push_back(f.x().dims[i]);
    return as(f.x(), dims);
}

Constant fold_unsqueeze(const Folding& f) {
    const Integers axes = f.axes(13);
    const std::size_t rank = f.x().dims.size() + axes.size();
    std::set<std::size_t> added;
    for (const std::int64_t axis : axes)
        added.insert(place_of_axis(axis, rank));
    Dims dims;
    std::size_t from = 0;
    for (std::size_t i = 0; i < rank; ++i)
        dims.push_back(added.contains(i) || from >= f.x().dims.size() ? 1 : f.x().dims[from++]);
    return as(f.x(), dims);
}

Constant fold_transpose(const Folding& f) {
    Integers order = f.node.integers("perm");
    if (order.empty())
        for (std::size_t i = f.x().dims.size(); i-- > 0;)
            order.push_back(std::int64_t(i));
    std::set<std::int64_t> all(order.begin(), order.end());
    if (order.size() != f.x().dims.size() || all.size() != order.size() ||
        (!all.empty() && (*all.begin() != 0 || *all.rbegin() + 1 != std::int64_t(order.size()))))
        throw Refused("its perm does not fit its input");
    return f.constants.transpose(f.x(), order);
}

Constant fold_gather(const Folding& f) {
    const std::size_t axis = place_of_axis(f.node.integer("axis", 0), f.x().dims.size());
    Dims dims(f.x().dims.begin(), f.x().dims.begin() + std::ptrdiff_t(axis));
    dims.insert(dims.end(), f.at(1).dims.begin(), f.at(1).dims.end());
    dims.insert(dims.end(), f.x().dims.begin() + std::ptrdiff_t(axis) + 1, f.x().dims.end());
    return take(f, axis, f.list(1), dims);
}

Constant fold_slice(const Folding& f) {
    const bool inputs = f.node.opset() >= 10;
    const Integers starts = inputs ? f.list(1) : f.node.integers("starts");
    const Integers ends = inputs ? f.list(2) : f.node.integers("ends");
    const Integers axes = inputs ? f.list(3) : f.node.integers("axes");
    const Integers steps = inputs ? f.list(4) : Integers{};
    if (starts.size() != 1 || ends.size() != 1) throw Refused("it cuts constants along two axes");
    const std::size_t axis = place_of_axis(axes.empty() ? 0 : axes[0], f.x().dims.size());
    const std::int64_t extent = f.x().dims[axis], step = steps.empty() ? 1 : steps[0];
    if (step == 0 || std::abs(step) > kFar) throw Refused("it goes by steps of 0");
    const auto place = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
        return std::clamp(at < 0 ? at + extent : at, least, most);
    };
    Integers indices;
    if (step > 0)
        for (std::int64_t i = place(starts[0], 0, extent); i < place(ends[0], 0, extent); i += step)
            indices.push_back(i);
    else
        for (std::int64_t i = place(starts[0], -1, extent - 1);
             i > (ends[0] < -extent ? -1 : place(ends[0], -1, extent - 1)); i += step)
            indices.push_back(i);
    Dims dims = f.x().dims;
    dims[axis] = std::int64_t(indices.size());
    return take(f, axis, indices, dims);
}

Constant fold_concat(const Folding& f) {
    const std::size_t axis = place_of_axis(f.node.integer("axis", 0), f.x().dims.size());
    Dims dims = f.x().dims;
    dims[axis] = 0;
    const std::int64_t outer =
        element_count(Dims(dims.begin(), dims.begin() + std::ptrdiff_t(axis)));
    for (const Constant* part : f.in) {
        if (!part || part->dims.size() != dims.size() || part->real != f.x().real ||
            part->elements() % std::max<std::int64_t>(outer, 1) != 0)
            throw Refused("its inputs do not fit");
        dims[axis] += part->dims[axis];
    }
    Numbers numbers;
    for (std::int64_t o = 0; o < outer; ++o)
        for (const Constant* part : f.in) {
            const std::int64_t each = part->elements() / outer;
            for (std::int64_t i = 0; i < each; ++i)
                numbers.push_back(part->at(o * each + i));
        }
    expect_same_numbers(dims, {Dims{std::int64_t(numbers.size())}, true, {}});
    return f.make(std::move(dims), numbers);
}

Constant fold_constant_of_shape(const Folding& f) {
    const Dims dims = f.extents(0);
    const AttributeProto* value = f.node.find("value");
    const bool given = value && value->t;
    const Constant one = given ? f.constants.read(*value->t) : f.constants.make({1}, true, {0});
    const std::int64_t count = element_count(dims);
    if (count > kMostFolded || one.elements() != 1)
        throw Refused("it makes a constant without a sound shape");
    return f.constants.make(dims, one.real, Numbers(std::size_t(count), one.at(0)));
}

Constant fold_expand(const Folding& f) {
    const Dims dims = broadcast_dims(f.x().dims, f.extents(1));
    Numbers numbers;
    for (const std::size_t place : broadcast_places(dims, f.x().dims))
        numbers.push_back(f.x().at(std::int64_t(place)));
    return f.make(dims, numbers);
}

Constant fold_tile(const Folding& f) {
    const Dims repeats = f.extents(1), &from = f.x().dims;
    if (repeats.size() != from.size()) throw Refused("it has not a number for each axis");
    Dims dims;
    for (std::size_t i = 0; i < from.size(); ++i)
        dims.push_back(saturating_product({from[i], repeats[i]}));
    const std::int64_t count = element_count(dims);
    if (count > kMostFolded) throw Refused("it works out too many numbers");
    std::vector<std::size_t> longer;  // the last first
    for (std::size_t axis = dims.size(); axis-- > 0;)
        if (dims[axis] > 1) longer.push_back(axis);
    Numbers numbers;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t left = i, place = 0, step = 1;
        for (const std::size_t axis : longer) {
            place += left % dims[axis] % from[axis] * step;
            left /= dims[axis];
            step *= from[axis];
        }
        numbers.push_back(f.x().at(place));
    }
    return f.make(dims, numbers);
}

/// Zeros on one side of a diagonal.
Constant fold_trilu(const Folding& f) {
    const Dims& dims = f.x().dims;
    if (dims.size() < 2) throw Refused("it has no rows and columns");
    const bool upper = f.node.integer("upper", 1) != 0;
    const Integers given = f.list(1);
    const std::int64_t diagonal = given.empty() ? 0 : std::clamp(given[0], -kFar, kFar);
    const std::int64_t columns = dims.back(), rows = dims[dims.size() - 2];
    Numbers numbers = numbers_of(f.x());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::int64_t column = std::int64_t(i) % columns;
        const std::int64_t behind = column - std::int64_t(i) / columns % rows;
        if (upper ? behind < diagonal : behind > diagonal) numbers[i] = 0;
    }
    return f.make(dims, numbers);
}

/// By zeros.
Constant fold_pad(const Folding& f) {
    const Integers pads = f.node.opset() < 11 ? f.node.integers("pads") : f.list(1);
    const Dims& dims = f.x().dims;
    const std::size_t rank = dims.size();
    const bool zeros = f.in.size() < 3 || !f.in[2] || numbers_of(*f.in[2]) == Numbers{0};
    if (pads.size() != 2 * rank || f.in.size() > 3 || !zeros ||
        f.node.text("mode", "constant") != "constant")
        throw Refused("it pads a constant by other numbers than zeros");
    Dims padded = dims;
    for (std::size_t i = 0; i < rank; ++i) {
        if (pads[i] < 0 || pads[i] > kFar || pads[rank + i] < 0 || pads[rank + i] > kFar)
            throw Refused("its pads are not sound");
        padded[i] += pads[i] + pads[rank + i];
    }
    if (element_count(padded) > kMostFolded) throw Refused("it works out too many numbers");
    Numbers numbers(static_cast<std::size_t>(element_count(padded)), 0);
    const Dims steps = strides_of(padded, {});
    for (std::int64_t i = 0; i < f.x().elements(); ++i) {
        std::int64_t place = 0, left = i;
        for (std::size_t axis = rank; axis-- > 0; left /= dims[axis])
            place += (left % dims[axis] + pads[axis]) * steps[axis];
        numbers[std::size_t(place)] = f.x().at(i);
    }
    return f.make(std::move(padded), numbers);
}

void fold_split(const Folding& f) {
    const std::size_t axis = place_of_axis(f.node.integer("axis", 0), f.x().dims.size());
    std::int64_t begin = 0;
    std::size_t result = 0;
    for (const std::int64_t part : split_parts(f.node, f.x().dims[axis])) {
        Dims dims = f.x().dims;
        dims[axis] = part;
        Integers indices;
        for (std::int64_t i = 0; i < part; ++i)
            indices.push_back(begin + i);
        ImportedValue made;
        made.constant = take(f, axis, indices, dims);
        made.spans_batch = f.spans_batch;
        f.node.importer().set(f.node.node().output.at(result++), std::move(made));
        begin += part;
    }
}

}  // namespace dtnn::compiler::onnx
