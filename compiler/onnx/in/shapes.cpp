/// What moves numbers, and shapes that are worked out.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

std::size_t axis_of(std::int64_t axis, std::size_t rank, const char* what = "axis") {
    const std::int64_t from_start = axis < 0 ? axis + std::int64_t(rank) : axis;
    if (from_start < 0 || from_start >= std::int64_t(rank))
        throw Refused(fmt::format("its {} {} is none of {} axes", what, axis, rank));
    return std::size_t(from_start);
}

Integers integers_of(const Constant& constant) {
    Integers values;
    for (const double value : numbers_of(constant))
        values.push_back(std::int64_t(value));
    return values;
}

/// The axes of ours that the axis of the file is, as a word for `axis`.
std::string word_of(const ImportedValue& value, std::size_t axis) {
    const int ours = value.order[axis];
    switch (value.type.axes[std::size_t(ours)]) {
        case AxisKind::channel:
            return "channels";
        case AxisKind::feature:
            return "features";
        case AxisKind::step:
            return "steps";
        case AxisKind::space:
            return ours == 2 ? "height" : "width";
        case AxisKind::batch:
            break;
    }
    throw Refused("it goes along the batch, whose samples have nothing to do with each other here");
}

/// `axis: channels` is the default, and means the features of rows as well.
Attributes along(const std::string& word) {
    if (word == "channels" || word == "features") return {};
    return {{"axis", word}};
}

/// A row of all numbers of a sample, in the file's order of the axes.
ImportedValue flattened(const NodeReader& node, const ImportedValue& src) {
    if (is_rows(src.type)) return src;
    const int made = node.importer().add_layer(node.node(), "flatten", {}, {&src}, {});
    ImportedValue value = node.importer().layer(made).value;
    if (src.is_plain()) return value;
    if (!src.rows.empty() || src.order[0] != 0)
        throw Refused("it makes rows of values whose batch is not first", "");
    // Where each number of ours stands in the file's row.
    const Dims& dims = src.type.dims;
    Dims steps(dims.size(), 1);
    std::int64_t step = 1;
    for (std::size_t i = src.rank(); i-- > 1;) {
        steps[std::size_t(src.order[i])] = step;
        step = saturating_product({step, src.extent(i)});
    }
    constexpr std::int64_t kMostRows = std::int64_t{1} << 24;
    if (step > kMostRows) throw Refused("it makes rows of more numbers than any network has");
    value.rows.resize(std::size_t(step));
    Dims place(dims.size(), 0);
    for (std::int64_t& row : value.rows) {
        row = std::inner_product(place.begin() + 1, place.end(), steps.begin() + 1, std::int64_t{});
        for (std::size_t axis = dims.size(); axis-- > 1;) {
            if (++place[axis] < dims[axis]) break;
            place[axis] = 0;
        }
    }
    return value;
}

/// The value under the extents of a sample.
void reshaped(const NodeReader& node, const ImportedValue& src, const Dims& sample) {
    const Dims now = src.dims();
    if (std::equal(now.begin() + 1, now.end(), sample.begin(), sample.end()))
        return node.result(src);
    if (sample.size() == 1) return node.result(flattened(node, src));
    if (sample.size() > 3)
        throw Refused(fmt::format("its result has {} axes beside the batch, [{}]", sample.size(),
                                  fmt::join(sample, ", ")),
                      "a row, [steps, features] and [channels, height, width] can be");
    if (!src.is_plain())
        throw Refused("it takes apart a value whose axes are in another order than here",
                      "export the model with channels first");
    node.layer("reshape", {{"shape", sample}}, {&src});
}

}  // namespace

void read_flatten(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const std::int64_t axis = node.integer("axis", 1);
    if (axis != 1 && axis != 1 - std::int64_t(src.rank()))
        throw Refused(fmt::format("it makes rows from axis {} on", axis),
                      "rows of whole samples (axis 1) can be");
    node.result(flattened(node, src));
}

void read_reshape(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const Dims now = src.dims();
    const Integers wanted =
        node.opset() < 5 ? node.integers("shape") : integers_of(node.constant(1, "shape"));
    const std::int64_t numbers = element_count(Dims(now.begin() + 1, now.end()));
    if (wanted.empty()) throw Refused("it makes one number of all");
    Dims sample(wanted.begin() + 1, wanted.end());
    std::int64_t known = 1, *open = nullptr;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        if (sample[i] == 0 && node.integer("allowzero", 0) == 0 && i + 1 < now.size())
            sample[i] = now[i + 1];
        if (sample[i] == -1)
            open = &sample[i];
        else
            known = saturating_product({known, sample[i]});
    }
    if (open && known > 0) *open = numbers / known;
    const std::int64_t first = wanted[0], batch = node.importer().file_batch();
    const bool of_batch =
        double(first) == kBatch || first == 0 || first == -1 || (batch > 0 && first == batch);
    if (!of_batch || element_count(sample) != numbers ||
        std::any_of(sample.begin(), sample.end(), [](std::int64_t e) { return e < 1; }))
        throw Refused(
            fmt::format("it makes [{}] of [batch, {}], which mixes samples",
                        fmt::join(wanted, ", "), fmt::join(now.begin() + 1, now.end(), ", ")),
            "keep the batch as the first axis");
    reshaped(node, src, sample.empty() ? Dims{1} : sample);
}

void read_squeeze(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const Dims now = src.dims();
    std::set<std::size_t> gone;
    if (const auto axes = node.axes(1, 13))
        for (const std::int64_t axis : *axes)
            gone.insert(axis_of(axis, src.rank()));
    else
        throw Refused("it takes away all axes of 1, whichever these are", "name its axes");
    Dims sample;
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (gone.contains(i) && (i == 0 || now[i] != 1))
            throw Refused("it takes away the batch, or an axis that is longer than 1", "");
        if (i > 0 && !gone.contains(i)) sample.push_back(now[i]);
    }
    reshaped(node, src, sample.empty() ? Dims{1} : sample);
}

void read_unsqueeze(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const auto axes = node.axes(1, 13).value_or(Integers{});
    const std::size_t rank = src.rank() + axes.size();
    std::set<std::size_t> added;
    for (const std::int64_t axis : axes)
        added.insert(axis_of(axis, rank));
    if (added.contains(0)) throw Refused("it puts an axis before the batch", "");
    const Dims now = src.dims();
    Dims sample;
    std::size_t from = 1;
    for (std::size_t i = 1; i < rank; ++i)
        sample.push_back(added.contains(i) || from >= now.size() ? 1 : now[from++]);
    reshaped(node, src, sample);
}

void read_transpose(const NodeReader& node) {
    ImportedValue value = node.activation();
    Integers order = node.integers("perm");
    if (order.empty())
        for (std::size_t i = value.rank(); i-- > 0;)
            order.push_back(std::int64_t(i));
    if (order.size() != value.rank() || !value.rows.empty())
        throw Refused("its perm does not fit its input");
    const Order old = value.order;
    for (std::size_t i = 0; i < order.size(); ++i)
        value.order[i] = old[axis_of(order[i], old.size())];
    if (value.order[0] != 0)
        throw Refused("it moves the batch from its place", "keep the batch as the first axis");
    node.result(std::move(value));
}

void read_concat(const NodeReader& node) {
    std::vector<const ImportedValue*> sources;
    for (std::size_t i = 0; i < node.count(); ++i)
        sources.push_back(&node.activation(i));
    if (sources.empty()) throw Refused("it joins nothing");
    if (sources.size() == 1) return node.result(*sources[0]);
    for (const ImportedValue* source : sources)
        if (!source->rows.empty()) throw Refused("it joins rows of images with channels last", "");
    const std::string word =
        word_of(*sources[0], axis_of(node.integer("axis", 1), sources[0]->rank()));
    if (word == "height" || word == "width")
        throw Refused("it joins images along their height or width", "channels can be joined");
    node.layer_like("concat", along(word), std::move(sources));
}

namespace {

void slice(const NodeReader& node, const ImportedValue& src, std::size_t axis, std::int64_t begin,
           std::int64_t end, const std::string& result) {
    if (!src.rows.empty()) throw Refused("it cuts rows of images with channels last", "");
    const std::string word = word_of(src, axis);
    ImportedValue value = src;
    if (begin != 0 || end != src.extent(axis)) {
        Attributes fields = along(word);
        fields["begin"] = begin;
        fields["end"] = end;
        const int made = node.importer().add_layer(node.node(), "slice", fields, {&src}, {});
        value = node.importer().layer(made).value;
        value.order = src.order;
    }
    node.importer().set(result, std::move(value));
}

}  // namespace

void read_slice(const NodeReader& node) {
    ImportedValue src = node.activation();
    const bool inputs = node.opset() >= 10;
    const auto list = [&](std::size_t i, const char* name) {
        if (!inputs) return node.integers(name);
        return node.has(i) ? integers_of(node.constant(i, name)) : Integers{};
    };
    const Integers starts = list(1, "starts"), ends = list(2, "ends");
    Integers axes = list(3, "axes"), steps = inputs ? list(4, "steps") : Integers{};
    if (axes.empty())
        for (std::size_t i = 0; i < starts.size(); ++i)
            axes.push_back(std::int64_t(i));
    if (starts.size() != ends.size() || axes.size() != starts.size())
        throw Refused("its starts, ends and axes are not as many");
    for (std::size_t i = 0; i < starts.size(); ++i) {
        if (i < steps.size() && steps[i] != 1)
            throw Refused(fmt::format("it goes by steps of {}", steps[i]), "steps of 1 can be");
        const std::size_t axis = axis_of(axes[i], src.rank());
        const std::int64_t extent = src.extent(axis);
        const auto place = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
        };
        if (axis == 0 && starts[i] == 0 && ends[i] >= kFar) continue;
        slice(node, src, axis, place(starts[i]), place(ends[i]), node.node().output[0]);
        src = *node.importer().find(node.node().output[0]);
    }
    node.result(std::move(src));
}

void read_split(const NodeReader& node) {
    const ImportedValue src = node.activation();
    const std::size_t axis = axis_of(node.integer("axis", 0), src.rank());
    const std::vector<std::string>& results = node.node().output;
    Integers parts = node.opset() < 13 ? node.integers("split")
                     : node.has(1)     ? integers_of(node.constant(1, "split"))
                                       : Integers{};
    const std::int64_t extent = src.extent(axis), count = std::int64_t(results.size());
    for (std::int64_t i = 0; parts.empty() || std::int64_t(parts.size()) < count; ++i) {
        const std::int64_t each = (extent + count - 1) / count;
        parts.push_back(std::clamp<std::int64_t>(extent - i * each, 0, each));
    }
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        slice(node, src, axis, begin, begin + parts[i], results[i]);
        begin += parts[i];
    }
}

void read_pad(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    if (node.text("mode", "constant") != "constant")
        throw Refused("it pads by copies of the image", "zeros can be");
    const bool inputs = node.opset() >= 11;
    const Integers given = inputs ? integers_of(node.constant(1, "pads")) : node.integers("pads");
    const double value = !inputs       ? node.real("value", 0)
                         : node.has(2) ? node.constant(2, "value").at(0)
                                       : 0;
    Integers axes;
    if (inputs && node.has(3))
        axes = integers_of(node.constant(3, "axes"));
    else
        for (std::size_t i = 0; i < src.rank(); ++i)
            axes.push_back(std::int64_t(i));
    if (given.size() != 2 * axes.size()) throw Refused("its pads are not two for each axis");
    Integers padding{0, 0, 0, 0};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t before = given[i], after = given[i + axes.size()];
        if (before == 0 && after == 0) continue;
        const int ours = src.order[axis_of(axes[i], src.rank())];
        if (!is_image(src.type) || ours < 2 || before < 0 || after < 0 || value != 0)
            throw Refused(
                "it pads by other numbers than zeros, or other axes than height and "
                "width",
                "zeros around images can be");
        padding[2 * std::size_t(ours - 2)] = before;
        padding[2 * std::size_t(ours - 2) + 1] = after;
    }
    if (padding == Integers{0, 0, 0, 0}) return node.result(src);
    node.layer_like("zero_pad2d", {{"padding", padding}}, {&src});
}

void read_resize(const NodeReader& node) {
    const ImportedValue& src = node.image();
    const bool resize = node.node().op_type == "Resize" && node.opset() >= 11;
    const std::size_t scales_at = resize ? 2 : 1;
    Numbers extents;  // of the result
    const Dims now = src.dims();
    if (resize && node.has(3)) {
        extents = numbers_of(node.constant(3, "sizes"));
        if (extents.size() == 2) extents.insert(extents.begin(), {kBatch, double(now[1])});
    } else {
        Numbers scales;
        if (node.has(scales_at)) {
            scales = numbers_of(node.constant(scales_at, "scales"));
        } else if (const AttributeProto* given = node.find("scales")) {
            scales.assign(given->floats.begin(), given->floats.end());
        }
        if (scales.size() == 2) scales.insert(scales.begin(), {1, 1});
        for (std::size_t i = 0; i < scales.size() && i < now.size(); ++i)
            extents.push_back(std::floor(double(now[i]) * scales[i] + 1e-6));
    }
    if (extents.size() != 4 || extents[1] != double(now[1]) || extents[2] < 1 || extents[3] < 1 ||
        extents[2] > double(kFar) || extents[3] > double(kFar))
        throw Refused("it changes other extents than height and width, or its extents are unsound");
    const std::int64_t height = std::int64_t(extents[2]), width = std::int64_t(extents[3]);
    const std::string mode = node.text("mode", "nearest");
    const std::string where =
        resize ? node.text("coordinate_transformation_mode", "half_pixel") : "asymmetric";
    const std::string rounding = resize ? node.text("nearest_mode", "round_prefer_floor") : "floor";
    Attributes fields{{"size", Integers{height, width}}};
    if (node.integer("antialias", 0) != 0 ||
        node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
        throw Refused("it smooths or keeps the ratio", "plain interpolation can be");
    const bool whole = height % now[2] == 0 && width % now[3] == 0;
    if (mode == "nearest") {
        const bool repeats =
            (where == "asymmetric" && rounding == "floor") ||
            (whole && where.ends_with("half_pixel") && rounding == "round_prefer_floor");
        if (!repeats)
            throw Refused(fmt::format("it takes the nearest cell by {} and {}", where, rounding),
                          "export it with asymmetric and floor, as PyTorch does");
        return node.layer("upsample2d", fields, {&src});
    }
    const bool linear = mode == "linear" || mode == "bilinear";
    const bool aligned = where == "align_corners";
    if (!linear || (!aligned && where != "half_pixel" && where != "pytorch_half_pixel"))
        throw Refused(fmt::format("it interpolates by {} at {}", mode, where),
                      "nearest and linear, by half_pixel or align_corners, can be");
    fields["mode"] = std::string("bilinear");
    fields["align_corners"] = aligned;
    node.layer("upsample2d", fields, {&src});
}

// ---- Shapes as numbers

void read_shape(const NodeReader& node) {
    const ImportedValue& src = node.input(0);
    const Dims dims = src.dims();
    Numbers numbers(dims.begin(), dims.end());
    if (!src.is_constant()) numbers[0] = kBatch;
    const auto rank = std::int64_t(numbers.size());
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = place(node.integer("start", 0));
    const std::int64_t end = std::max(place(node.integer("end", rank)), start);
    ImportedValue made;
    made.constant = node.importer().constants().make(
        {end - start}, false,
        Numbers(numbers.begin() + std::ptrdiff_t(start), numbers.begin() + std::ptrdiff_t(end)));
    node.result(std::move(made));
}

void read_constant(const NodeReader& node) {
    ImportedValue made;
    Constants& constants = node.importer().constants();
    const AttributeProto* value = nullptr;
    if ((value = node.find("value")) && value->t)
        made.constant = constants.read(*value->t);
    else if ((value = node.find("value_float")) && value->f)
        made.constant = constants.make({}, true, {double(*value->f)});
    else if ((value = node.find("value_int")) && value->i)
        made.constant = constants.make({}, false, {double(*value->i)});
    else if ((value = node.find("value_floats")))
        made.constant = constants.make({std::int64_t(value->floats.size())}, true,
                                       {value->floats.begin(), value->floats.end()});
    else if ((value = node.find("value_ints")))
        made.constant = constants.make({std::int64_t(value->ints.size())}, false,
                                       {value->ints.begin(), value->ints.end()});
    else
        throw Refused("its value is no tensor of numbers", "");
    node.result(std::move(made));
}

namespace {

struct Folding {
    const NodeReader& node;
    std::vector<const Constant*> in;
    Constants& constants;

    const Constant& x() const { return *in[0]; }
    Constant make(Dims dims, const Numbers& numbers) const {
        return constants.make(std::move(dims), x().real, numbers);
    }
    Integers list(std::size_t i) const {
        return i < in.size() && in[i] ? integers_of(*in[i]) : Integers{};
    }
    Integers axes(std::int64_t since) const {
        return node.opset() < since ? node.integers("axes") : list(1);
    }
};

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
        gone.insert(axis_of(axis, f.x().dims.size()));
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
        added.insert(axis_of(axis, rank));
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

Constant fold_gather(const Folding& f) {
    const std::size_t axis = axis_of(f.node.integer("axis", 0), f.x().dims.size());
    Dims dims(f.x().dims.begin(), f.x().dims.begin() + std::ptrdiff_t(axis));
    dims.insert(dims.end(), f.in.at(1)->dims.begin(), f.in.at(1)->dims.end());
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
    const std::size_t axis = axis_of(axes.empty() ? 0 : axes[0], f.x().dims.size());
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
    const std::size_t axis = axis_of(f.node.integer("axis", 0), f.x().dims.size());
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
    const Dims dims = f.list(0);
    const AttributeProto* value = f.node.find("value");
    const bool given = value && value->t;
    const Constant one = given ? f.constants.read(*value->t) : f.constants.make({1}, true, {0});
    const std::int64_t count = element_count(dims);
    if (count > kMostFolded || one.elements() != 1 ||
        std::any_of(dims.begin(), dims.end(), [](std::int64_t e) { return e < 0; }))
        throw Refused("it makes a constant without a sound shape");
    return f.constants.make(dims, one.real, Numbers(std::size_t(count), one.at(0)));
}

Constant fold_cast(const Folding& f) {
    const std::int64_t to = f.node.integer("to", kFloat);
    const bool real = to == kFloat || to == kDouble || to == kFloat16 || to == kBfloat16;
    Numbers numbers = numbers_of(f.x());
    if (!real)
        for (double& number : numbers)
            number = to == kBool ? double(number != 0) : std::trunc(number);
    return f.constants.make(f.x().dims, real, numbers);
}

using Operation = double (*)(double, double);

/// Two of one shape, or one of them a single number.
Constant fold_pairs(const Folding& f, Operation operation) {
    const Constant &a = f.x(), &b = *f.in.at(1);
    const std::int64_t count = std::max(a.elements(), b.elements());
    if (a.dims != b.dims && a.elements() != 1 && b.elements() != 1)
        throw Refused("it computes with constants of different shapes");
    const Numbers left = numbers_of(a), right = numbers_of(b);
    Numbers numbers;
    for (std::int64_t i = 0; i < count; ++i) {
        const double x = left[std::size_t(a.elements() == 1 ? 0 : i)];
        const double y = right[std::size_t(b.elements() == 1 ? 0 : i)];
        if (!a.real && (x == kBatch || y == kBatch))
            throw Refused("it computes with the size of the batch",
                          "export the model with -1 for the batch in its shapes");
        const double value = operation(x, y);
        numbers.push_back(a.real ? value : std::trunc(value));
    }
    return f.constants.make(a.elements() == count ? a.dims : b.dims, a.real, numbers);
}

using Fold = std::function<Constant(const Folding&)>;

const std::map<std::string, Fold, std::less<>>& folds() {
    const auto pairs = [](Operation operation) {
        return [operation](const Folding& f) { return fold_pairs(f, operation); };
    };
    const auto each = [](double (*function)(double)) {
        return [function](const Folding& f) {
            Numbers numbers = numbers_of(f.x());
            std::transform(numbers.begin(), numbers.end(), numbers.begin(), function);
            return f.make(f.x().dims, numbers);
        };
    };
    static const std::map<std::string, Fold, std::less<>> all{
        {"Identity", [](const Folding& f) { return f.x(); }},
        {"Reshape", fold_reshape},
        {"Squeeze", fold_squeeze},
        {"Unsqueeze", fold_unsqueeze},
        {"Transpose", fold_transpose},
        {"Gather", fold_gather},
        {"Slice", fold_slice},
        {"Concat", fold_concat},
        {"ConstantOfShape", fold_constant_of_shape},
        {"Cast", fold_cast},
        {"Add", pairs([](double a, double b) { return a + b; })},
        {"Sub", pairs([](double a, double b) { return a - b; })},
        {"Mul", pairs([](double a, double b) { return a * b; })},
        {"Div", pairs([](double a, double b) { return a / b; })},
        {"Pow", pairs([](double a, double b) { return std::pow(a, b); })},
        {"Sqrt", each([](double x) { return std::sqrt(x); })},
        {"Neg", each([](double x) { return -x; })},
        {"Exp", each([](double x) { return std::exp(x); })},
        {"Reciprocal", each([](double x) { return 1 / x; })}};
    return all;
}

}  // namespace

bool fold(const NodeReader& node) {
    const auto found = folds().find(node.node().op_type);
    if (found == folds().end() || node.count() == 0) return false;
    std::vector<const Constant*> in;
    for (std::size_t i = 0; i < node.count(); ++i) {
        const ImportedValue* value = node.has(i) ? &node.input(i) : nullptr;
        if (value && !value->is_constant()) return false;
        in.push_back(value ? &*value->constant : nullptr);
    }
    if (!in[0]) return false;
    // Weights may be turned round, whatever their size; with others it is computed.
    const bool moves =
        found->first == "Transpose" || found->first == "Reshape" || found->first == "Identity";
    for (const Constant* constant : in)
        if (constant && !moves && constant->elements() > kMostFolded)
            throw Refused("it works out too many numbers");
    ImportedValue made;
    made.constant = found->second({node, std::move(in), node.importer().constants()});
    node.result(std::move(made));
    return true;
}

}  // namespace dtnn::compiler::onnx
