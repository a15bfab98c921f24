/// Heads of attention: parts of features that stand beside the batch, apart from it or along the
/// features, and layers of them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/attention.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;
using Pieces = std::vector<Piece>;

}  // namespace

namespace {

/// A sequence whose features a reshape has taken apart, in pieces of the sequence's.
std::optional<ImportedValue> before_heads(Importer& importer, const ImportedValue& value) {
    if (value.source < 0 || !value.rows.empty() || !is_image(value.type)) return std::nullopt;
    const ImportedLayer& reshape = importer.layer(value.source);
    if (reshape.type != "reshape") return std::nullopt;
    const Type type = importer.type_of(reshape.sources[0]);
    const Dims& dims = value.type.dims;
    if (type.axes != usual_axes(2) || type.dims[1] != dims[1] ||
        type.dims[2] != saturating_product({dims[2], dims[3]}))
        return std::nullopt;
    ImportedValue made;
    made.source = reshape.sources[0];
    made.type = type;
    made.order = {0, 1, 2};
    made.view = view_of(value);
    for (Pieces& axis : made.view)
        for (Piece& piece : axis) {
            if (piece.axis == 2) piece.step *= dims[3];
            if (piece.axis == 3) piece.axis = 2;
        }
    return made;
}

/// The value before factors and before its heads were taken apart.
Side taken_of(Importer& importer, ImportedValue value) {
    constexpr int kMostLayers = 8;
    Side side;
    for (int i = 0; i < kMostLayers; ++i) {
        if (auto heads = before_heads(importer, value)) {
            value = std::move(*heads);
            continue;
        }
        if (value.source < 0) break;
        const ImportedLayer& scale = importer.layer(value.source);
        if (scale.type != "scale" || std::get<double>(scale.fields.at("offset")) != 0) break;
        side.factor *= std::get<double>(scale.fields.at("factor"));
        value.source = scale.sources[0];
    }
    side.value = std::move(value);
    return side;
}

}  // namespace

bool is_of_heads(Importer& importer, const ImportedValue& value) {
    return is_image(value.type) && value.rows.empty() &&
           taken_of(importer, value).value.type.axes == usual_axes(2);
}

namespace {

bool is_batch(const Piece& piece) {
    return piece.axis == 0;
}

bool is_repeated(const Piece& piece) {
    return piece.axis == kRepeated;
}

}  // namespace

std::optional<Side> side_of(Importer& importer, const ImportedValue& given, bool turned) {
    if (!given.rows.empty() || given.scores || given.probe || given.exchanged) return std::nullopt;
    if (given.rank() != 3 && given.rank() != 4) return std::nullopt;
    Side side = taken_of(importer, given);
    View view = view_of(side.value);
    if (importer.file_batch() == 1) put_sample_in_front(view);
    if (view[0].empty() || !is_batch(view[0][0])) return std::nullopt;
    view[0].erase(view[0].begin());
    if (view.size() == 4 && !view[0].empty()) return std::nullopt;
    side.heads = view[view.size() - 3];
    side.steps = view[view.size() - (turned ? 1 : 2)];
    side.numbers = view[view.size() - (turned ? 2 : 1)];
    if (!side.heads.empty() && is_repeated(side.heads.back())) {
        side.times = side.heads.back().extent;
        side.heads.pop_back();
    }
    for (const Pieces* pieces : {&side.heads, &side.steps, &side.numbers})
        if (std::any_of(pieces->begin(), pieces->end(),
                        [](const Piece& p) { return is_batch(p) || is_repeated(p); }))
            return std::nullopt;
    return side;
}

bool is_sequence_itself(const Side& side) {
    const Dims& dims = side.value.type.dims;
    const auto whole = [&](const Pieces& pieces, int axis) {
        const std::int64_t extent = dims[std::size_t(axis)];
        return extent == 1 ? pieces.empty() : pieces == Pieces{{axis, 1, extent}};
    };
    return side.value.type.axes == usual_axes(2) && side.heads.empty() && whole(side.steps, 1) &&
           whole(side.numbers, 2);
}

ImportedValue sequence_of(const NodeReader& node, const Side& side) {
    Pieces wanted = side.steps;
    wanted.insert(wanted.end(), side.heads.begin(), side.heads.end());
    wanted.insert(wanted.end(), side.numbers.begin(), side.numbers.end());
    const auto made = moved(node, side.value, std::move(wanted));
    if (!made)
        throw Refused(
            "its queries, keys or values stand in pieces that no few layers here put together",
            "export the model with heads that are parts of the features, [batch, steps, heads * "
            "numbers]");
    ImportedValue value = *made;
    const Integers shape{count_of(side.steps),
                         saturating_product({count_of(side.heads), count_of(side.numbers)})};
    if (value.type.axes != usual_axes(2) || value.type.dims != Dims{1, shape[0], shape[1]}) {
        const int reshape =
            node.importer().add_layer({}, "reshape", {{"shape", shape}}, {&value}, {});
        value = node.importer().layer(reshape).value;
    }
    value.view.clear();
    value.order = {0, 1, 2};
    return value;
}

namespace {

/// The layer of which queries, keys and values are slices, if they are all of its features.
std::optional<ImportedValue> side_by_side(Importer& importer,
                                          const std::vector<ImportedValue>& parts) {
    std::int64_t begin = 0;
    std::optional<int> source;
    for (const ImportedValue& part : parts) {
        if (part.source < 0) return std::nullopt;
        const ImportedLayer& slice = importer.layer(part.source);
        if (slice.type != "slice" || slice.fields.contains("axis") ||
            std::get<std::int64_t>(slice.fields.at("begin")) != begin ||
            (source && slice.sources[0] != *source))
            return std::nullopt;
        source = slice.sources[0];
        begin = std::get<std::int64_t>(slice.fields.at("end"));
    }
    ImportedValue value;
    value.source = *source;
    value.type = importer.type_of(*source);
    value.order = {0, 1, 2};
    if (value.type.axes != usual_axes(2) || value.type.dims[2] != begin) return std::nullopt;
    return value;
}

}  // namespace

double rounded(double number) {
    return std::stod(fmt::format("{}", float(number)));
}

void weigh(const NodeReader& node, const Scores& scores, const Side& value) {
    const std::int64_t heads = scores.query.count(), shared = count_of(scores.key.heads);
    if (heads % shared != 0 || count_of(value.heads) != shared || value.count() != heads ||
        scores.key.count() != heads)
        throw Refused(fmt::format("it weighs values of {} heads by products of {} heads of queries "
                                  "and {} of keys",
                                  count_of(value.heads), heads, shared),
                      "keys and values have as many heads, and queries as many or a multiple");
    if (count_of(value.steps) != count_of(scores.key.steps))
        throw Refused(fmt::format("it has values of {} steps for keys of {}", count_of(value.steps),
                                  count_of(scores.key.steps)));
    constexpr double kMost = 1e30;
    if (!(scores.scale > 0 && scores.scale <= kMost))
        throw Refused(fmt::format("it multiplies products of queries and keys by {}", scores.scale),
                      "a number above 0 can be");
    Importer& importer = node.importer();
    std::vector<ImportedValue> parts{sequence_of(node, scores.query), sequence_of(node, scores.key),
                                     sequence_of(node, value)};
    if (const auto whole = side_by_side(importer, parts)) parts = {*whole};
    std::vector<const ImportedValue*> sources;
    for (const ImportedValue& part : parts)
        sources.push_back(&part);
    Attributes fields{{"heads", heads}};
    if (shared != heads) fields["key_value_heads"] = shared;
    if (scores.causal) fields["causal"] = true;
    constexpr double kNear = 1e-5;
    const double usual = 1 / std::sqrt(double(count_of(scores.query.numbers)));
    if (std::abs(scores.scale / usual - 1) > kNear) fields["scale"] = rounded(scores.scale);
    if (scores.dropout > 0) fields["dropout"] = rounded(scores.dropout);
    const int made = importer.add_layer(node.node(), "attention", std::move(fields), sources, {});
    ImportedValue result = importer.layer(made).value;
    if (value.factor != 1) {
        const int scale = importer.add_layer(
            {}, "scale", {{"factor", rounded(value.factor)}, {"offset", 0.0}}, {&result}, {});
        result = importer.layer(scale).value;
    }
    const Dims& dims = result.type.dims;
    const std::int64_t numbers = dims[2] / heads;
    const Piece of_heads{2, numbers, heads};
    View view{{{0, 1, 1}}, {{1, 1, dims[1]}}, {{2, 1, numbers}}};
    if (scores.rank == 4)
        view.insert(view.begin() + 1, Pieces{of_heads});
    else
        view[0].push_back(of_heads);
    node.result(settled(node, result, std::move(view)));
}

// ---- Each head several times

bool repeat_places(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                   const Integers& places) {
    const std::int64_t extent = src.dims()[axis];
    const auto count = std::int64_t(places.size());
    if (axis == src.batch_axis() || !src.rows.empty() || count <= extent || count % extent != 0 ||
        saturating_product({element_count(src.dims()), count}) > kFar)
        return false;
    const std::int64_t times = count / extent;
    for (std::int64_t i = 0; i < count; ++i)
        if (places[std::size_t(i)] != i / times) return false;
    View view = view_of(src);
    view[axis].push_back({kRepeated, 1, times});
    node.result(settled(node, src, std::move(view)));
    return true;
}

bool repeat_by_expand(const NodeReader& node, const ImportedValue& src) {
    if (src.view.empty()) return false;
    const Integers wanted = integers_of(node.constant(1, "shape"));
    const Dims now = src.dims();
    constexpr std::int64_t kMostTimes = 1 << 12;
    ImportedValue value = src;
    if (wanted.size() != now.size()) return false;
    for (std::size_t i = 1; i < wanted.size(); ++i) {
        if (wanted[i] == 1 || wanted[i] == now[i]) continue;
        if (now[i] != 1 || wanted[i] < 1 || wanted[i] > kMostTimes) return false;
        value.view[i] = {{kRepeated, 1, wanted[i]}};
    }
    if (element_count(value.dims()) > kFar) throw Refused("it repeats far too much");
    node.result(std::move(value));
    return true;
}

}  // namespace dtnn::compiler::onnx
