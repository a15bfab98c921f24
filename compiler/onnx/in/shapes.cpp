/// What moves numbers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

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
    const ImportedValue& src = node.viewed();
    const Dims now = src.dims();
    const Integers wanted =
        node.opset() < 5 ? node.integers("shape") : integers_of(node.constant(1, "shape"));
    const std::int64_t numbers = element_count(now);  // of a sample
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
    const std::int64_t each = element_count(sample);
    // Axes may be joined with the batch for a while, as one product of all steps or pixels needs.
    const std::int64_t joined = each > 0 ? numbers / each : 0;
    const bool of_batch = batch_of(double(first)) == joined || first == -1 ||
                          (first == 0 && joined == now[0]) ||
                          (batch > 0 && first == saturating_product({batch, joined}));
    if (!of_batch || joined < 1 || joined * each != numbers ||
        std::any_of(sample.begin(), sample.end(), [](std::int64_t e) { return e < 1; }))
        throw Refused(
            fmt::format("it makes [{}] of [batch, {}], which mixes samples",
                        fmt::join(wanted, ", "), fmt::join(now.begin() + 1, now.end(), ", ")),
            "keep the batch as the first axis");
    reshaped(node, src, sample.empty() ? Dims{1} : sample);
}

void read_squeeze(const NodeReader& node) {
    const ImportedValue& src = node.viewed();
    const Dims now = src.dims();
    std::set<std::size_t> gone;
    if (const auto axes = node.axes(1, 13))
        for (const std::int64_t axis : *axes)
            gone.insert(place_of_axis(axis, src.rank()));
    else if (node.importer().file_batch() == 1)
        throw Refused("it takes away all axes of 1, and the batch is one of them", "name its axes");
    else
        for (std::size_t i = 1; i < now.size(); ++i)
            if (now[i] == 1) gone.insert(i);
    Dims sample;
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (gone.contains(i) && (i == 0 || now[i] != 1))
            throw Refused("it takes away the batch, or an axis that is longer than 1", "");
        if (i > 0 && !gone.contains(i)) sample.push_back(now[i]);
    }
    reshaped(node, src, sample.empty() ? Dims{1} : sample);
}

void read_unsqueeze(const NodeReader& node) {
    const ImportedValue& src = node.viewed();
    const auto axes = node.axes(1, 13).value_or(Integers{});
    const std::size_t rank = src.rank() + axes.size();
    std::set<std::size_t> added;
    for (const std::int64_t axis : axes)
        added.insert(place_of_axis(axis, rank));
    if (added.contains(0)) throw Refused("it puts an axis before the batch", "");
    const Dims now = src.dims();
    Dims sample;
    std::size_t from = 1;
    for (std::size_t i = 1; i < rank; ++i)
        sample.push_back(added.contains(i) || from >= now.size() ? 1 : now[from++]);
    reshaped(node, src, sample);
}

void read_transpose(const NodeReader& node) {
    ImportedValue value = node.viewed();
    Integers order = node.integers("perm");
    if (order.empty())
        for (std::size_t i = value.rank(); i-- > 0;)
            order.push_back(std::int64_t(i));
    if (order.size() != value.rank() || !value.rows.empty() || order.empty())
        throw Refused("its perm does not fit its input");
    const auto permuted = [&](const auto& old) {
        auto made = old;
        for (std::size_t i = 0; i < order.size(); ++i)
            made[i] = old[place_of_axis(order[i], old.size())];
        return made;
    };
    if (place_of_axis(order[0], order.size()) != 0)
        throw Refused("it moves the batch from its place", "keep the batch as the first axis");
    if (!value.view.empty()) return node.result(settled(node, value, permuted(value.view)));
    value.order = permuted(value.order);
    node.result(std::move(value));
}

namespace {

/// Axes of 1 repeated, with the axes in the value's order.
ImportedValue spread(const NodeReader& node, const ImportedValue& src, const Dims& dims) {
    ImportedValue value = broadcast(node, src, dims);
    value.order = src.order;
    return value;
}

}  // namespace

void read_expand(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const Integers wanted = integers_of(node.constant(1, "shape"));
    Dims dims = src.type.dims;
    if (wanted.size() > src.rank() || !src.rows.empty())
        throw Refused("it adds axes to the network's values", "add them by Unsqueeze");
    const std::size_t skipped = src.rank() - wanted.size();
    for (std::size_t i = skipped == 0 ? 1 : 0; i < wanted.size(); ++i) {
        std::int64_t& extent = dims[std::size_t(src.order[skipped + i])];
        if (extent == 1 && wanted[i] >= 1 && wanted[i] <= kFar) extent = wanted[i];
    }
    node.result(spread(node, src, dims));
}

void read_tile(const NodeReader& node) {
    const ImportedValue& src = node.viewed();
    const Integers repeats = integers_of(node.constant(1, "repeats"));
    View view = view_of(src);
    if (repeats.size() != view.size() || repeats[0] != 1)
        throw Refused("it repeats samples, or has not a number for each axis");
    // Of pixels that a Reshape joins with their neighbours more than that becomes.
    const auto readers = node.importer().some_readers(node.node().output[0]);
    const bool joined = std::any_of(readers.begin(), readers.end(), [](const NodeProto* reader) {
        return reader->op_type == "Reshape";
    });
    if (src.view.empty() && src.rows.empty() && !joined) {
        Dims dims = src.type.dims;
        for (std::size_t i = 1; i < repeats.size(); ++i)
            if (src.extent(i) == 1) dims[std::size_t(src.order[i])] = repeats[i];
        const bool whole = std::all_of(dims.begin(), dims.end(), [](auto e) { return e > 0; });
        if (whole && element_count(dims) ==
                         saturating_product({element_count(src.type.dims), element_count(repeats)}))
            return node.result(spread(node, src, dims));
    }
    for (std::size_t i = 0; i < repeats.size(); ++i) {
        if (repeats[i] < 1 || repeats[i] > kFar) throw Refused("its repeats are unsound");
        if (repeats[i] > 1) view[i].insert(view[i].begin(), {kRepeated, 1, repeats[i]});
    }
    node.result(settled(node, src, std::move(view)));
}

namespace {

/// Rows, of which some are in another order than the file's.
void join_rows(const NodeReader& node, const std::vector<const ImportedValue*>& sources) {
    std::vector<std::int64_t> rows;
    for (const ImportedValue* source : sources) {
        if (!is_rows(source->type)) throw Refused("it joins rows and other values", "");
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

}  // namespace

void read_concat(const NodeReader& node) {
    std::vector<const ImportedValue*> sources;
    for (std::size_t i = 0; i < node.count(); ++i)
        sources.push_back(&node.activation(i));
    if (sources.empty()) throw Refused("it joins nothing");
    if (sources.size() == 1) return node.result(*sources[0]);
    if (std::any_of(sources.begin(), sources.end(), [](auto* s) { return !s->rows.empty(); }))
        return join_rows(node, sources);
    const std::string word =
        word_of(*sources[0], place_of_axis(node.integer("axis", 1), sources[0]->rank()));
    if (word == "height" || word == "width") return join_pixels(node, sources, word == "width");
    node.layer_like("concat", along(word), sources);
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

/// Every `step`th row or column, as windows of one cell.
ImportedValue every(const NodeReader& node, const ImportedValue& given, std::size_t axis,
                    std::int64_t step) {
    const ImportedValue src = as_image(node, given);
    const int ours = src.order[axis];
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
        const std::size_t axis = place_of_axis(axes[i], src.rank());
        const std::int64_t step = i < steps.size() ? steps[i] : 1;
        const std::int64_t extent = src.extent(axis);
        const auto place = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
        };
        constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();
        if (axis == 0 && starts[i] == 0 && step == 1 && ends[i] >= kEnd) continue;
        if (step < 1) throw Refused(fmt::format("it goes by steps of {}", step), "");
        slice(node, src, axis, place(starts[i]), place(ends[i]), node.node().output[0]);
        src = *node.importer().find(node.node().output[0]);
        if (step > 1) src = every(node, src, axis, step);
    }
    node.result(std::move(src));
}

namespace {

/// Whether the indices are those of all numbers of the batch in their order, of a value that is one
/// row of them: as exporters write a view of other strides.
bool are_all(const NodeReader& node, const ImportedValue& src, const Constant& indices) {
    const std::int64_t numbers = element_count(src.type.dims);
    if (src.view.empty() || indices.dims.empty() || src.dims()[0] != numbers) return false;
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
    if (const Constant& all = node.constant(1, "indices"); are_all(node, node.viewed(), all))
        return reshaped(node, node.viewed(), Dims(all.dims.begin() + 1, all.dims.end()));
    const ImportedValue& src = node.activation();
    const std::size_t axis = place_of_axis(node.integer("axis", 0), src.rank());
    const Constant& indices = node.constant(1, "indices");
    const std::int64_t extent = src.extent(axis);
    Integers at = integers_of(indices);
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (at[i] < 0) at[i] += extent;
        if (at[i] != at[0] + std::int64_t(i) || at[i] < 0 || at[i] >= extent)
            throw Refused("it takes places that do not follow each other",
                          "ranges can be, and single places");
    }
    if (at.empty() || indices.dims.size() > 1) throw Refused("its indices are no list");
    slice(node, src, axis, at[0], at.back() + 1, node.node().output[0]);
    if (!indices.dims.empty()) return;
    const ImportedValue one = *node.importer().find(node.node().output[0]);
    Dims sample = one.dims();
    sample.erase(sample.begin() + std::ptrdiff_t(axis));
    reshaped(node, one, Dims(sample.begin() + 1, sample.end()));
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
    const ImportedValue src = node.activation();
    const std::size_t axis = place_of_axis(node.integer("axis", 0), src.rank());
    const std::vector<std::string>& results = node.node().output;
    const Integers parts = split_parts(node, src.extent(axis));
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        slice(node, src, axis, begin, begin + parts[i], results[i]);
        begin += parts[i];
    }
}

}  // namespace dtnn::compiler::onnx
