/// Axes that are taken apart, moved and joined again.

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
using Pieces = std::vector<Piece>;

const Pieces kBatchAlone{{0, 1, 1}};

/// Neighbours that were one axis are one again, and pieces of one place are none.
View joined(const View& view) {
    View made;
    for (const Pieces& axis : view) {
        Pieces& pieces = made.emplace_back();
        for (const Piece& piece : axis) {
            if (piece.extent == 1 && piece.axis != 0) continue;
            Piece* last = pieces.empty() ? nullptr : &pieces.back();
            if (last && piece.axis > 0 && last->axis == piece.axis &&
                last->step == piece.step * piece.extent)
                *last = {piece.axis, piece.step, last->extent * piece.extent};
            else
                pieces.push_back(piece);
        }
    }
    return made;
}

}  // namespace

std::optional<Piece> last_of(Pieces& pieces, std::int64_t& need) {
    Piece piece = pieces.back();
    pieces.pop_back();
    if (piece.extent > need) {
        if (piece.extent % need != 0) return std::nullopt;
        pieces.push_back({piece.axis, piece.step * need, piece.extent / need});
        piece.extent = need;
    }
    if (need % piece.extent != 0) return std::nullopt;
    need /= piece.extent;
    return piece;
}

namespace {

/// The same pieces under these extents of a sample; what is left lies with the batch.
std::optional<View> regrouped(const View& view, const Dims& sample) {
    Pieces pieces;
    for (const Pieces& axis : view)
        pieces.insert(pieces.end(), axis.begin(), axis.end());
    View made(sample.size() + 1);
    for (std::size_t i = sample.size(); i > 0; --i)
        for (std::int64_t need = sample[i - 1]; need > 1;) {
            if (pieces.empty() || pieces.back().axis == 0) return std::nullopt;
            const auto piece = last_of(pieces, need);
            if (!piece) return std::nullopt;
            made[i].insert(made[i].begin(), *piece);
        }
    made[0] = std::move(pieces);
    return joined(made);
}

/// Where each axis of the file is one of ours as a whole. Axes of 1 may stand anywhere, and one of
/// an image may not be there at all.
std::optional<Order> whole_axes(const View& view, const Type& type) {
    const bool one_less = is_image(type) && view.size() == 3;
    if (view.size() != type.dims.size() && !one_less) return std::nullopt;
    Order order(view.size(), 0);
    std::vector<bool> taken(type.dims.size(), false);
    taken[0] = true;
    if (std::find(view.begin(), view.end(), kBatchAlone) == view.end()) return std::nullopt;
    for (std::size_t i = 0; i < view.size(); ++i) {
        if (view[i].empty() || view[i] == kBatchAlone) continue;
        const Piece& piece = view[i][0];
        if (view[i].size() > 1 || piece.axis < 1 ||
            piece.extent != type.dims[std::size_t(piece.axis)])
            return std::nullopt;
        order[i] = piece.axis;
        taken[std::size_t(piece.axis)] = true;
    }
    for (std::size_t i = 0; i < view.size(); ++i) {
        if (!view[i].empty()) continue;
        const auto free = std::find(taken.begin(), taken.end(), false);
        if (free == taken.end()) return std::nullopt;
        order[i] = int(free - taken.begin());
        *free = true;
    }
    for (std::size_t axis = 0; axis < taken.size(); ++axis)
        if (!taken[axis] && type.dims[axis] != 1) return std::nullopt;
    return order;
}

/// Height and width of which each row and column stands several times, as Keras enlarges images.
std::optional<View> enlarged(const NodeReader& node, ImportedValue& value, const View& view) {
    const std::size_t rank = value.type.dims.size();
    if (rank < 3 || view.size() < 3 || view.size() > rank) return std::nullopt;
    const bool repeats = std::any_of(view.begin(), view.end(), [](const Pieces& axis) {
        return axis.size() == 2 && axis[1].axis == kRepeated;
    });
    // Heads that are repeated are those of attention.
    if (!repeats || is_of_heads(node.importer(), value)) return std::nullopt;
    View plain = view;
    if (rank == 3) {  // steps and features are rows and columns
        const Integers shape{1, value.type.dims[1], value.type.dims[2]};
        const int made = node.importer().add_layer({}, "reshape", {{"shape", shape}}, {&value}, {});
        value = node.importer().layer(made).value;
        for (Pieces& axis : plain)
            for (Piece& piece : axis)
                if (piece.axis > 0) ++piece.axis;
    }
    Integers size{value.type.dims[2], value.type.dims[3]};
    const Integers before = size;
    for (Pieces& axis : plain) {
        if (axis.size() != 2 || axis[0].axis < 2 || axis[1].axis != kRepeated) continue;
        std::int64_t& extent = size[std::size_t(axis[0].axis - 2)];
        if (axis[0].extent != extent) return std::nullopt;
        extent = axis[0].extent = saturating_product({extent, axis[1].extent});
        axis.pop_back();
    }
    if (size == before) return std::nullopt;
    const int made =
        node.importer().add_layer(node.node(), "upsample2d", {{"size", size}}, {&value}, {});
    value = node.importer().layer(made).value;
    return plain;
}

/// Whether an axis joins pieces that do not lie behind each other.
bool mixes(const View& view, const Dims& dims) {
    const auto follows = [&](const Piece& a, const Piece& b) {
        if (a.step != 1 || b.step * b.extent != dims[std::size_t(b.axis)]) return false;
        return a.axis < b.axis && std::all_of(dims.begin() + a.axis + 1, dims.begin() + b.axis,
                                              [](std::int64_t extent) { return extent == 1; });
    };
    for (const Pieces& axis : view)
        for (std::size_t i = 0; i + 1 < axis.size(); ++i)
            if (!follows(axis[i], axis[i + 1])) return true;
    return false;
}

/// Pieces of channels, rows and columns that have changed places: channels of groups that alternate
/// (Zhang et al., ShuffleNet, 2018), or that become pixels (Shi et al., 2016).
std::optional<View> rearranged(const NodeReader& node, ImportedValue& value, const View& view) {
    if (!is_image(value.type) || view.size() != 4 || view[0] != kBatchAlone) return std::nullopt;
    for (const Pieces& axis : view)
        for (const Piece& piece : axis)
            if (piece.axis == kRepeated) return std::nullopt;
    if (!mixes(view, value.type.dims)) return std::nullopt;
    const auto of_channels = [](const Piece& piece) { return piece.axis == 1; };
    const bool channels_last = std::none_of(view[1].begin(), view[1].end(), of_channels) &&
                               std::any_of(view[3].begin(), view[3].end(), of_channels) &&
                               view[3][0].axis != 3;
    const Order order = channels_last ? Order{0, 2, 3, 1} : Order{0, 1, 2, 3};
    Pieces wanted;
    Integers shape;
    View plain(4);
    plain[0] = kBatchAlone;
    for (const int ours : {1, 2, 3}) {
        const auto theirs =
            std::size_t(std::find(order.begin(), order.end(), ours) - order.begin());
        std::int64_t extent = 1;
        for (const Piece& piece : view[theirs])
            extent *= piece.extent;
        wanted.insert(wanted.end(), view[theirs].begin(), view[theirs].end());
        shape.push_back(extent);
        if (extent > 1) plain[theirs] = {{ours, 1, extent}};
    }
    const auto made = moved(node, value, wanted);
    if (!made) return std::nullopt;
    const int image =
        node.importer().add_layer(node.node(), "reshape", {{"shape", shape}}, {&*made}, {});
    value = node.importer().layer(image).value;
    return plain;
}

/// The place of the batch where it is one sample, which no other axis of 1 can be told from: an
/// axis of its own if it has one, or if all axes are whole then; else before all that is the first.
void place_sample(View& view, const Type& type) {
    if (std::find(view.begin(), view.end(), kBatchAlone) != view.end()) return;
    View alone = view;
    for (Pieces& axis : alone)
        std::erase_if(axis, [](const Piece& piece) { return piece.axis == 0; });
    const auto free =
        std::find_if(alone.begin(), alone.end(), [](const Pieces& axis) { return axis.empty(); });
    if (free != alone.end()) {
        *free = kBatchAlone;
        if (whole_axes(alone, type)) {
            view = std::move(alone);
            return;
        }
    }
    put_sample_in_front(view);
}

}  // namespace

View view_of(const ImportedValue& value) {
    if (!value.view.empty()) return value.view;
    if (!value.rows.empty()) throw Refused("it takes apart rows of images with channels last", "");
    View view;
    for (std::size_t i = 0; i < value.rank(); ++i) {
        view.emplace_back();
        if (value.order[i] == 0)
            view.back() = kBatchAlone;
        else if (value.extent(i) > 1)
            view.back() = {{value.order[i], 1, value.extent(i)}};
    }
    return view;
}

ImportedValue settled(const NodeReader& node, const ImportedValue& src, View view) {
    ImportedValue value = src;
    view = joined(view);
    if (node.importer().file_batch() == 1) place_sample(view, value.type);
    ImportedValue larger = value;
    if (const auto plain = enlarged(node, larger, view)) {
        value = std::move(larger);
        view = *plain;
    }
    if (const auto plain = rearranged(node, value, view)) view = *plain;
    value.view.clear();
    if (const auto order = whole_axes(view, value.type))
        value.order = *order;
    else
        value.view = std::move(view);
    return value;
}

std::vector<std::int64_t> rows_of(const ImportedValue& src) {
    const Dims& dims = src.type.dims;
    Dims steps(dims.size(), 1);
    std::int64_t step = 1;
    for (std::size_t i = src.rank(); i-- > 0;) {
        steps[std::size_t(src.order[i])] = step;
        step = saturating_product({step, src.extent(i)});
    }
    constexpr std::int64_t kMostRows = std::int64_t{1} << 24;
    if (step > kMostRows) throw Refused("it makes rows of more numbers than any network has");
    std::vector<std::int64_t> rows(static_cast<std::size_t>(step));
    Dims place(dims.size(), 0);
    for (std::int64_t& row : rows) {
        row = std::inner_product(place.begin() + 1, place.end(), steps.begin() + 1, std::int64_t{});
        for (std::size_t axis = dims.size(); axis-- > 1;) {
            if (++place[axis] < dims[axis]) break;
            place[axis] = 0;
        }
    }
    return rows;
}

ImportedValue flattened(const NodeReader& node, const ImportedValue& src) {
    if (is_rows(src.type)) return src;
    const int made = node.importer().add_layer(node.node(), "flatten", {}, {&src}, {});
    ImportedValue value = node.importer().layer(made).value;
    if (src.is_plain()) return value;
    if (!src.rows.empty() || src.order[0] != 0)
        throw Refused("it makes rows of values whose batch is not first", "");
    value.rows = rows_of(src);
    return value;
}

namespace {

/// The layers from a dense one to this row of numbers, each read by the next alone, in all of which
/// the numbers may stand in another order; empty: there is none.
std::vector<int> dense_before(Importer& importer, const ImportedValue& row) {
    constexpr std::size_t kMostLayers = 16;
    std::vector<int> chain;
    for (int i = row.source; i >= 0 && chain.size() < kMostLayers;) {
        const ImportedLayer& layer = importer.layer(i);
        const OpDef* def = find_op(layer.type);
        if (layer.sources.size() != 1 || !is_rows(layer.value.type) || !importer.is_read_once(i))
            break;
        chain.push_back(i);
        if (layer.type == "dense") return chain;
        // A formula with a number for each feature is an operator of the spec's own.
        const bool by_number = !def || !def->expression.empty() || layer.type == "elementwise";
        if (!by_number && layer.type != "batch_norm" && layer.type != "dropout" &&
            layer.type != "layer_norm")
            break;
        i = layer.sources[0];
    }
    return {};
}

/// A row that a dense layer makes, as an image with channels last: the layer's units are put in our
/// order, as nothing else moves numbers. Whether it could be.
bool image_of_dense(const NodeReader& node, const ImportedValue& row, const Dims& sample) {
    Importer& importer = node.importer();
    const std::string& name = node.node().output[0];
    Dims dims = sample;
    dims.insert(dims.begin(), 1);
    const std::vector<int> chain = dense_before(importer, row);
    if (chain.empty() || !importer.may_look_ahead() || !importer.is_turned(name, dims))
        return false;
    const int made = importer.add_layer(
        node.node(), "reshape", {{"shape", Integers{sample[2], sample[0], sample[1]}}}, {&row}, {});
    ImportedValue image = importer.layer(made).value;
    image.order = {0, 2, 3, 1};
    ImportedValue units = row;
    units.rows = rows_of(image);
    for (const int i : chain)
        for (auto& [role, constant] : importer.layer(i).parameters) {
            const bool weights = role == "weights";
            Constants& constants = importer.constants();
            if (weights) constant = constants.transpose(constant, {1, 0});
            constant = in_row_order(node, constant, units);
            if (weights) constant = constants.transpose(constant, {1, 0});
        }
    node.result(std::move(image));
    return true;
}

/// The value as it was before its axes were joined, if all of them are whole.
std::optional<ImportedValue> taken_apart(const ImportedValue& src) {
    View flat(1);
    for (const Pieces& axis : src.view)
        flat[0].insert(flat[0].end(), axis.begin(), axis.end());
    const View one = joined(flat);
    View view;
    for (const Piece& piece : one[0])
        view.push_back({piece});
    while (view.size() < src.type.dims.size())
        view.emplace_back();
    const auto order = whole_axes(view, src.type);
    if (!order) return std::nullopt;
    ImportedValue value = src;
    value.view.clear();
    value.order = *order;
    return value;
}

}  // namespace

void reshaped(const NodeReader& node, const ImportedValue& given, const Dims& sample) {
    constexpr std::size_t kMostAxes = 64;
    if (sample.size() > kMostAxes) throw Refused("its result has more axes than any network has");
    ImportedValue src = given;
    Dims now = src.dims();
    now.erase(now.begin() + std::ptrdiff_t(src.batch_axis()));
    const std::int64_t numbers = element_count(sample);
    const bool of_samples = numbers == element_count(src.type.dims);
    if (src.view.empty() && src.batch_axis() == 0 && now == sample) return node.result(src);
    if (src.rows.empty())
        if (const auto view = regrouped(view_of(src), sample)) {
            ImportedValue value = settled(node, src, *view);
            if (value.view.empty()) return node.result(value);
            auto whole = src.view.empty() ? std::optional(src)
                         : of_samples     ? taken_apart(src)
                                          : std::nullopt;
            if (!whole || !of_samples) return node.result(std::move(value));
            // What stands before the batch is of 1 then.
            const auto first = std::find(whole->order.begin(), whole->order.end(), 0);
            std::rotate(whole->order.begin(), first, first + 1);
            const bool said = sample.size() == 1 || (sample.size() < 4 && whole->is_plain());
            if (!said) return node.result(std::move(value));
            src = *whole;
        }
    if (src.batch_axis() != 0)
        throw Refused("it mixes samples: the batch is not the first of its axes",
                      "keep the batch as the first axis");
    if (!src.view.empty() || sample.size() > 3)
        throw Refused(fmt::format("its result has {} axes beside the batch, [{}]", sample.size(),
                                  fmt::join(sample, ", ")),
                      "a row, [steps, features] and [channels, height, width] can be");
    if (sample.size() == 1) return node.result(flattened(node, src));
    // One number for each channel is an image of one pixel, wherever its axis stands.
    const auto longest = std::max_element(sample.begin(), sample.end());
    if (sample.size() == 3 && *longest == numbers && longest != sample.begin()) {
        const ImportedValue row = flattened(node, src);
        if (!row.rows.empty())
            throw Refused("it takes apart rows of images with channels last", "");
        const int made = node.importer().add_layer(
            node.node(), "reshape", {{"shape", Integers{numbers, 1, 1}}}, {&row}, {});
        ImportedValue value = node.importer().layer(made).value;
        View view(4);
        view[0] = kBatchAlone;
        view[std::size_t(longest - sample.begin()) + 1] = {{1, 1, numbers}};
        return node.result(settled(node, value, std::move(view)));
    }
    if (sample.size() == 3 && src.is_plain() && is_rows(src.type) &&
        image_of_dense(node, src, sample))
        return;
    if (!src.is_plain())
        throw Refused("it takes apart a value whose axes are in another order than here",
                      "export the model with channels first");
    node.layer("reshape", {{"shape", sample}}, {&src});
}

}  // namespace dtnn::compiler::onnx
