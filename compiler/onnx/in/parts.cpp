/// Parts of values, and values that are joined.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

Refused goes_along_batch() {
    return Refused(
        "it goes along the batch, whose samples have nothing to do with each other here");
}

/// An axis of ours as a word for `axis`.
std::string word_of(const Type& type, int ours) {
    switch (type.axes[std::size_t(ours)]) {
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
    throw goes_along_batch();
}

/// `axis: channels` is the default, and means the features of rows as well.
Attributes along(const std::string& word) {
    if (word == "channels" || word == "features") return {};
    return {{"axis", word}};
}

/// Rows, of which some are in another order than the file's.
void join_rows(const NodeReader& node, const std::vector<const ImportedValue*>& sources) {
    std::vector<std::int64_t> rows;
    for (const ImportedValue* source : sources) {
        if (!is_rows(source->type) || source->batch_axis() != 0)
            throw Refused("it joins rows and other values", "");
        const auto begin = std::int64_t(rows.size());
        for (std::int64_t i = 0; i < source->type.dims[1]; ++i)
            rows.push_back(begin + (source->rows.empty() ? i : source->rows[std::size_t(i)]));
    }
    const int made = node.importer().add_layer(node.node(), "concat", {}, sources, {});
    node.importer().layer(made).value.rows = std::move(rows);
    node.result(node.importer().layer(made).value);
}

/// Images side by side, or one below the other: each row, or each channel, is a row of numbers.
void join_pixels(const NodeReader& node, const std::vector<const ImportedValue*>& sources,
                 bool side_by_side) {
    Importer& importer = node.importer();
    std::vector<ImportedValue> rows;
    Dims dims;
    for (const ImportedValue* source : sources) {
        const Dims& own = source->type.dims;
        if (!is_image(source->type) || !source->lies_like(*sources[0]))
            throw Refused("its inputs have their axes in different orders",
                          "export the model with channels first");
        const Integers shape =
            side_by_side ? Integers{own[1] * own[2], own[3]} : Integers{own[1], own[2] * own[3]};
        const int made = importer.add_layer({}, "reshape", {{"shape", shape}}, {source}, {});
        rows.push_back(importer.layer(made).value);
        if (dims.empty())
            dims = own;
        else
            dims[side_by_side ? 3 : 2] += own[side_by_side ? 3 : 2];
    }
    std::vector<const ImportedValue*> all;
    for (const ImportedValue& row : rows)
        all.push_back(&row);
    const int joined = importer.add_layer(node.node(), "concat", {}, all, {});
    const ImportedValue row = importer.layer(joined).value;
    const int made = importer.add_layer(
        {}, "reshape", {{"shape", Integers{dims[1], dims[2], dims[3]}}}, {&row}, {});
    ImportedValue value = importer.layer(made).value;
    value.order = sources[0]->order;
    node.result(std::move(value));
}

/// Values whose axes are taken apart, along one that is a whole axis of ours or the slowest part of
/// one, as the states of several layers are joined.
void join_views(const NodeReader& node, const std::vector<const ImportedValue*>& sources) {
    const Type& type = sources[0]->type;
    const auto refuse = [] {
        throw Refused("it joins values along an axis that has been taken apart",
                      "rows, sequences and images can be joined, and the states of layers");
    };
    std::vector<View> views;
    for (const ImportedValue* source : sources) {
        views.push_back(view_of(*source));
        if (source->type.axes != type.axes || views.back().size() != views[0].size()) refuse();
    }
    const std::size_t axis = place_of_axis(node.integer("axis", 1), views[0].size());
    int ours = feature_axis(type.axes);
    for (const View& view : views)
        if (view[axis].size() == 1) ours = view[axis][0].axis;
    if (ours < 0) refuse();
    const std::string word = word_of(type, ours);
    Piece joined{ours, 0, 0};
    for (std::size_t i = 0; i < views.size(); ++i) {
        const std::int64_t extent = sources[i]->type.dims[std::size_t(ours)];
        std::vector<Piece>& pieces = views[i][axis];
        if (pieces.empty()) pieces = {{ours, extent, 1}};
        const Piece piece = pieces[0];
        const bool slowest = pieces.size() == 1 && piece.axis == ours &&
                             piece.step * piece.extent == extent &&
                             (i == 0 || piece.step == joined.step);
        pieces.clear();
        if (!slowest || views[i] != views[0] || word == "height" || word == "width") refuse();
        joined.step = piece.step;
        joined.extent += piece.extent;
    }
    const int made = node.importer().add_layer(node.node(), "concat", along(word), sources, {});
    View view = views[0];
    view[axis] = {joined};
    node.result(settled(node, node.importer().layer(made).value, std::move(view)));
}

}  // namespace

void read_concat(const NodeReader& node) {
    if (put_tokens_in_front(node)) return;
    std::vector<const ImportedValue*> sources;
    for (std::size_t i = 0; i < node.count(); ++i)
        sources.push_back(&node.in_any_order(i));
    if (sources.empty()) throw Refused("it joins nothing");
    if (sources.size() == 1) return node.result(*sources[0]);
    const auto any = [&](auto is) { return std::any_of(sources.begin(), sources.end(), is); };
    if (any([](const ImportedValue* source) { return !source->view.empty(); }))
        return join_views(node, sources);
    if (any([](const ImportedValue* source) { return !source->rows.empty(); }))
        return join_rows(node, sources);
    const std::size_t axis = place_of_axis(node.integer("axis", 1), sources[0]->rank());
    const std::string word = word_of(sources[0]->type, sources[0]->order[axis]);
    if (word == "height" || word == "width") return join_pixels(node, sources, word == "width");
    node.layer_like("concat", along(word), sources);
}

namespace {

/// The places from `begin` to `end` of one of our axes, by a layer where they are not all; what a
/// concat of features has joined is as it was before. Order and view are the caller's.
ImportedValue part_of(const NodeReader& node, const ImportedValue& src, int ours,
                      std::int64_t begin, std::int64_t end) {
    constexpr int kDeepest = 16;
    constexpr std::size_t kMostJoined = 64;
    Importer& importer = node.importer();
    ImportedValue value = src;
    const auto lies_in = [&](int source, std::int64_t before) {
        if (source < 0) return false;
        const Dims& dims = importer.layer(source).value.type.dims;
        return dims.size() == src.type.dims.size() && begin >= before &&
               end <= before + dims[std::size_t(ours)];
    };
    const bool of_features = ours == feature_axis(src.type.axes);
    for (int depth = 0; of_features && depth < kDeepest && value.source >= 0; ++depth) {
        const ImportedLayer& layer = importer.layer(value.source);
        if (layer.type != "concat" || layer.fields.contains("axis") ||
            layer.sources.size() > kMostJoined)
            break;
        std::int64_t before = 0;
        auto inner = layer.sources.begin();
        for (; inner != layer.sources.end() && !lies_in(*inner, before); ++inner) {
            if (*inner < 0) break;
            before += importer.layer(*inner).value.type.dims[std::size_t(ours)];
        }
        if (inner == layer.sources.end() || *inner < 0) break;
        value = importer.layer(*inner).value;
        begin -= before;
        end -= before;
    }
    if (value.source != src.source) importer.read_again(value.source);
    if (begin == 0 && end == value.type.dims[std::size_t(ours)]) return value;
    Attributes fields = along(word_of(value.type, ours));
    fields["begin"] = begin;
    fields["end"] = end;
    const int made = importer.add_layer(node.node(), "slice", std::move(fields), {&value}, {});
    return importer.layer(made).value;
}

/// Of an axis of the file's value the places from `begin` to `end`.
ImportedValue cut(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                  std::int64_t begin, std::int64_t end) {
    if (!src.rows.empty()) throw Refused("it cuts rows of images with channels last", "");
    // One sample is no matter of the axis that it is counted to.
    const bool one_sample = node.importer().file_batch() == 1;
    if (axis == src.batch_axis() && !one_sample) throw goes_along_batch();
    if (begin == 0 && end == src.dims()[axis]) return src;
    if (begin >= end) throw Refused("it takes nothing of an axis");
    if (src.view.empty()) {
        ImportedValue value = part_of(node, src, src.order[axis], begin, end);
        value.order = src.order;
        return value;
    }
    View view = src.view;
    if (one_sample) std::erase_if(view[axis], [](const Piece& p) { return p.axis == 0; });
    if (view[axis].size() != 1 || view[axis][0].axis < 1 ||
        view[axis][0].step * view[axis][0].extent != src.type.dims[std::size_t(view[axis][0].axis)])
        throw Refused(fmt::format("it cuts an axis of [{}] whose numbers do not lie side by side",
                                  fmt::join(src.dims(), ", ")),
                      "of axes that have been taken apart the first part of each can be cut, as "
                      "queries, keys and values in front of the heads");
    Piece& piece = view[axis][0];
    const ImportedValue value =
        part_of(node, src, piece.axis, begin * piece.step, end * piece.step);
    piece.extent = end - begin;
    return settled(node, value, std::move(view));
}

/// Every `step`th row or column, as windows of one cell.
ImportedValue every(const NodeReader& node, const ImportedValue& given, std::size_t axis,
                    std::int64_t step) {
    const ImportedValue src = as_image(node, given);
    const int ours = src.view.empty() ? src.order[axis] : 0;
    if (!is_image(src.type) || ours < 2)
        throw Refused(fmt::format("it goes by steps of {}", step),
                      "steps of 1 can be, and along height and width all above");
    Integers stride{1, 1};
    stride[std::size_t(ours - 2)] = step;
    const int made = node.importer().add_layer(
        node.node(), "max_pool2d", {{"kernel", Integers{1, 1}}, {"stride", stride}}, {&src}, {});
    ImportedValue value = node.importer().layer(made).value;
    value.order = src.order;
    return value;
}

}  // namespace

void read_slice(const NodeReader& node) {
    ImportedValue src = node.in_any_order();
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
        const std::size_t axis = place_of_axis(axes[i], src.rank());
        const std::int64_t step = i < steps.size() ? steps[i] : 1;
        const std::int64_t extent = src.dims()[axis];
        const auto place = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
        };
        constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();
        if (starts[i] == 0 && step == 1 && ends[i] >= kEnd) continue;
        if (step < 1) throw Refused(fmt::format("it goes by steps of {}", step), "");
        src = cut(node, src, axis, place(starts[i]), place(ends[i]));
        if (step > 1) src = every(node, src, axis, step);
    }
    node.result(std::move(src));
}

namespace {

/// Whether the indices are those of all numbers of the batch in their order, of a value that is one
/// row of them: as exporters write a view of other strides.
bool are_all(const NodeReader& node, const ImportedValue& src, const Constant& indices) {
    const std::int64_t numbers = element_count(src.type.dims);
    if (src.view.empty() || indices.dims.empty() || !src.is_batch_first() ||
        src.dims()[0] != numbers)
        return false;
    const bool fixed = indices.dims[0] > 1 && indices.dims[0] == node.importer().file_batch();
    if (indices.elements() != (fixed ? indices.dims[0] : 1) * numbers) return false;
    const std::int64_t first = fixed ? 0 : saturating_product({kSample, numbers});
    const Integers at = integers_of(indices);
    for (std::size_t i = 0; i < at.size(); ++i)
        if (at[i] != first + std::int64_t(i)) return false;
    return true;
}

}  // namespace

void read_gather(const NodeReader& node) {
    if (look_up_rows(node)) return;
    // A result may take the source's name.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const ImportedValue src = node.in_any_order();
    const Constant& indices = node.constant(1, "indices");
    if (are_all(node, src, indices))
        return reshaped(node, src, Dims(indices.dims.begin() + 1, indices.dims.end()));
    const std::size_t axis = place_of_axis(node.integer("axis", 0), src.rank());
    const std::int64_t extent = src.dims()[axis];
    Integers at = integers_of(indices);
    if (indices.dims.size() == 1 &&
        (repeat_places(node, src, axis, at) || begin_rotation(node, src, axis, at)))
        return;
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (at[i] < 0) at[i] += extent;
        if (at[i] != at[0] + std::int64_t(i) || at[i] < 0 || at[i] >= extent)
            throw Refused("it takes places that do not follow each other",
                          "ranges can be, and single places");
    }
    if (at.empty() || indices.dims.size() > 1) throw Refused("its indices are no list");
    if (indices.dims.empty() && take_one_step(node, src, axis, at[0])) return;
    ImportedValue part = cut(node, src, axis, at[0], at.back() + 1);
    if (!indices.dims.empty()) return node.result(std::move(part));
    if (!part.view.empty() || !part.is_batch_first() || axis == 0)
        return read_with_axes(node, part, {axis}, false);
    Dims sample = part.dims();
    sample.erase(sample.begin() + std::ptrdiff_t(axis));
    reshaped(node, part, Dims(sample.begin() + 1, sample.end()));
}

std::vector<std::int64_t> split_parts(const NodeReader& node, std::int64_t extent) {
    Integers parts = node.opset() < 13 ? node.integers("split")
                     : node.has(1)     ? integers_of(node.constant(1, "split"))
                                       : Integers{};
    const auto count = std::int64_t(node.node().output.size());
    const std::int64_t each = (extent + count - 1) / std::max<std::int64_t>(count, 1);
    if (parts.empty())
        for (std::int64_t i = 0; i < count; ++i)
            parts.push_back(std::clamp<std::int64_t>(extent - i * each, 0, each));
    std::int64_t left = extent;
    for (const std::int64_t part : parts) {
        if (part < 0 || part > left) throw Refused("its parts do not make up the whole");
        left -= part;
    }
    if (left != 0 || std::int64_t(parts.size()) != count)
        throw Refused("its parts do not make up the whole");
    return parts;
}

void read_split(const NodeReader& node) {
    // A result may take the source's name.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const ImportedValue src = node.in_any_order();
    const std::size_t axis = place_of_axis(node.integer("axis", 0), src.rank());
    const std::vector<std::string>& results = node.node().output;
    const Integers parts = split_parts(node, src.dims()[axis]);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        node.importer().set(results[i], cut(node, src, axis, begin, begin + parts[i]));
        begin += parts[i];
    }
}

}  // namespace dtnn::compiler::onnx
