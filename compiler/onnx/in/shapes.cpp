/// Axes under other extents and in another order.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

}  // namespace

void read_flatten(const NodeReader& node) {
    const ImportedValue& src = node.viewed();
    const std::int64_t axis = node.integer("axis", 1);
    if (axis != 1 && axis != 1 - std::int64_t(src.rank()))
        throw Refused(fmt::format("it makes rows from axis {} on", axis),
                      "rows of whole samples (axis 1) can be");
    if (src.view.empty()) return node.result(flattened(node, src));
    if (src.view[0].size() == 1) {
        std::vector<Piece> all;
        for (std::size_t i = 1; i < src.view.size(); ++i)
            all.insert(all.end(), src.view[i].begin(), src.view[i].end());
        if (auto made = moved(node, src, std::move(all))) {
            made->view.clear();
            made->order.resize(made->type.dims.size());
            std::iota(made->order.begin(), made->order.end(), 0);
            return node.result(flattened(node, *made));
        }
    }
    const Dims now = src.dims();
    reshaped(node, src, {element_count(Dims(now.begin() + 1, now.end()))});
}

namespace {

/// "6, batch, 4"; an axis that is joined with the batch is one with it.
std::string with_word_of_batch(const ImportedValue& src) {
    std::vector<std::string> words;
    const Dims dims = src.dims();
    for (std::size_t i = 0; i < dims.size(); ++i)
        words.push_back(i == src.batch_axis() ? "batch" : std::to_string(dims[i]));
    return fmt::format("{}", fmt::join(words, ", "));
}

/// The extents of a sample that a Reshape makes of a value whose batch is the first axis and stays
/// so; nothing where it makes another shape.
std::optional<Dims> sample_of(const NodeReader& node, const Integers& wanted,
                              const ImportedValue& src) {
    const Dims now = src.dims();
    const std::int64_t numbers = element_count(now);  // of a sample
    const bool copies = node.integer("allowzero", 0) == 0;
    Dims sample(wanted.begin() + 1, wanted.end());
    std::int64_t known = 1, *open = nullptr;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        if (sample[i] == 0 && copies && i + 1 < now.size()) sample[i] = now[i + 1];
        if (sample[i] == -1)
            open = &sample[i];
        else
            known = saturating_product({known, sample[i]});
    }
    if (open && known > 0) *open = numbers / known;
    if (std::any_of(sample.begin(), sample.end(), [](std::int64_t e) { return e < 1; }))
        return std::nullopt;
    const std::int64_t each = element_count(sample), batch = node.importer().file_batch();
    // Axes may be joined with the batch for a while, as one product of all steps or pixels needs.
    const std::int64_t joined = numbers / each, first = wanted[0];
    const bool of_batch = batch_of(double(first)) == joined || first == -1 ||
                          (first == 0 && copies && joined == now[0]) ||
                          (batch > 0 && first == saturating_product({batch, joined}));
    if (!of_batch || joined < 1 || saturating_product({joined, each}) != numbers)
        return std::nullopt;
    return sample;
}

}  // namespace

void read_reshape(const NodeReader& node) {
    const ImportedValue& src = node.in_any_order();
    const Integers wanted =
        node.opset() < 5 ? node.integers("shape") : integers_of(node.constant(1, "shape"));
    if (wanted.empty()) throw Refused("it makes one number of all");
    if (src.is_batch_first())
        if (const auto sample = sample_of(node, wanted, src))
            return reshaped(node, src, sample->empty() ? Dims{1} : *sample);
    auto view = regrouped_with_batch(src, wanted, node.integer("allowzero", 0) == 0,
                                     node.importer().file_batch());
    if (!view)
        throw Refused(fmt::format("it makes [{}] of [{}], which mixes samples",
                                  fmt::join(wanted, ", "), with_word_of_batch(src)),
                      "keep the batch as the first axis");
    regrouped_as(node, src, std::move(*view));
}

void read_squeeze(const NodeReader& node) {
    const ImportedValue& src = node.in_any_order();
    const Dims now = src.dims();
    const std::size_t batch = src.batch_axis();
    std::set<std::size_t> gone;
    if (const auto axes = node.axes(1, 13))
        for (const std::int64_t axis : *axes)
            gone.insert(place_of_axis(axis, src.rank()));
    else if (node.importer().file_batch() == 1)
        throw Refused("it takes away all axes of 1, and the batch is one of them", "name its axes");
    else
        for (std::size_t i = 0; i < now.size(); ++i)
            if (i != batch && now[i] == 1) gone.insert(i);
    if (!src.is_batch_first()) return read_with_axes(node, src, gone, false);
    Dims sample;
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (gone.contains(i) && (i == 0 || now[i] != 1))
            throw Refused("it takes away the batch, or an axis that is longer than 1", "");
        if (i > 0 && !gone.contains(i)) sample.push_back(now[i]);
    }
    reshaped(node, src, sample.empty() ? Dims{1} : sample);
}

void read_unsqueeze(const NodeReader& node) {
    const ImportedValue& src = node.in_any_order();
    const auto axes = node.axes(1, 13).value_or(Integers{});
    const std::size_t rank = src.rank() + axes.size();
    std::set<std::size_t> added;
    for (const std::int64_t axis : axes)
        added.insert(place_of_axis(axis, rank));
    if (added.size() < axes.size()) throw Refused("it adds one axis twice");
    if (added.contains(0) || !src.is_batch_first()) return read_with_axes(node, src, added, true);
    const Dims now = src.dims();
    Dims sample;
    std::size_t from = 1;
    for (std::size_t i = 1; i < rank; ++i)
        sample.push_back(added.contains(i) || from >= now.size() ? 1 : now[from++]);
    reshaped(node, src, sample);
}

void read_transpose(const NodeReader& node) {
    ImportedValue value = node.in_any_order();
    Integers order = node.integers("perm");
    if (order.empty())
        for (std::size_t i = value.rank(); i-- > 0;)
            order.push_back(std::int64_t(i));
    std::set<std::size_t> all;
    for (const std::int64_t axis : order)
        all.insert(place_of_axis(axis, order.size()));
    if (order.size() != value.rank() || !value.rows.empty() || order.empty() ||
        all.size() < order.size())
        throw Refused("its perm does not fit its input");
    const auto permuted = [&](const auto& old) {
        auto made = old;
        for (std::size_t i = 0; i < order.size(); ++i)
            made[i] = old[place_of_axis(order[i], old.size())];
        return made;
    };
    if (!value.view.empty()) return node.result(settled(node, value, permuted(value.view)));
    // What reads sequences with the batch behind their steps takes their features as they lie.
    if (value.batch_axis() == 0 && place_of_axis(order[0], order.size()) != 0)
        value = with_features_last(node, value);
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
    if (repeat_by_expand(node, node.viewed())) return;
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

}  // namespace dtnn::compiler::onnx
