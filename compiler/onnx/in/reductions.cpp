/// Means, sums and maxima over axes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// The layers that reduce axes: of whole images, of rows or columns, along one axis of a sequence.
struct Reduction {
    const char *global, *adaptive;
    const char* along;      ///< null: there is none
    const char* all_steps;  ///< of a sequence; null: `along` does it
};
constexpr Reduction kMean{"global_avg_pool2d", "adaptive_avg_pool2d", "mean", nullptr};
constexpr Reduction kMaximum{"global_max_pool2d", "adaptive_max_pool2d", nullptr,
                             "global_max_pool1d"};

class Reducer {
  public:
    Reducer(const NodeReader& node, Reduction kind) : node_(node), kind_(kind) {}

    /// Over our axes; they stay with an extent of 1.
    std::optional<ImportedValue> over(const ImportedValue& src, const std::set<int>& axes) const {
        if (!src.rows.empty() || axes.empty() || *axes.begin() < 1) return std::nullopt;
        const Dims& dims = src.type.dims;
        if (is_rows(src.type))  // its numbers are the channels of a pixel
            return layer("flatten", {}, over_channels(shaped(src, {dims[1], 1, 1})));
        if (!is_image(src.type)) {
            if (axes.size() != 1) return std::nullopt;
            const int other = 3 - *axes.begin();
            const ImportedValue row = over_sequence(src, *axes.begin());
            ImportedValue value = shaped(row, {dims[std::size_t(other)], 1, 1});
            value.order = src.order;
            for (int& axis : value.order)
                axis = axis == 0 ? 0 : axis == other ? 1 : 3;
            return value;
        }
        std::set<int> longer;
        for (const int axis : axes)
            if (dims[std::size_t(axis)] > 1) longer.insert(axis);
        if (longer.contains(1))
            return longer.size() == 1 ? std::optional(over_channels(src)) : std::nullopt;
        const auto extent = [&](int axis) {
            return axes.contains(axis) ? 1 : dims[std::size_t(axis)];
        };
        const Integers size{extent(2), extent(3)};
        ImportedValue value = size == Integers{1, 1} ? layer(kind_.global, {}, src)
                                                     : layer(kind_.adaptive, {{"size", size}}, src);
        value.order = src.order;
        return value;
    }

    /// The features of a sequence or its steps; a row is left.
    ImportedValue over_sequence(const ImportedValue& src, int axis) const {
        const bool of_steps = src.type.axes[std::size_t(axis)] == AxisKind::step;
        if (of_steps && kind_.all_steps) return layer(kind_.all_steps, {}, src);
        if (kind_.along)
            return layer(kind_.along, {{"axis", std::string(of_steps ? "steps" : "features")}},
                         src);
        const ImportedValue image = shaped(src, {1, src.type.dims[1], src.type.dims[2]});
        return layer("flatten", {},
                     layer(kind_.adaptive, {{"size", Integers{src.type.dims[1], 1}}}, image));
    }

  private:
    ImportedValue layer(const char* type, Attributes fields, const ImportedValue& src) const {
        const int made =
            node_.importer().add_layer(node_.node(), type, std::move(fields), {&src}, {});
        return node_.importer().layer(made).value;
    }
    ImportedValue shaped(const ImportedValue& src, const Integers& shape) const {
        const int made = node_.importer().add_layer({}, "reshape", {{"shape", shape}}, {&src}, {});
        return node_.importer().layer(made).value;
    }

    ImportedValue over_channels(const ImportedValue& src) const {
        const Dims& dims = src.type.dims;
        ImportedValue value = src;
        if (kind_.along) {
            value = layer(kind_.along, {{"axis", std::string("channels")}}, src);
        } else {
            // Channels as the rows of an image, each pixel a column of it.
            const ImportedValue columns =
                shaped(src, {1, dims[1], saturating_product({dims[2], dims[3]})});
            value =
                dims[1] <= kMostPoolCells
                    ? layer("max_pool2d",
                            {{"kernel", Integers{dims[1], 1}}, {"stride", Integers{1, 1}}}, columns)
                    : layer(kind_.adaptive, {{"size", Integers{1, columns.type.dims[3]}}}, columns);
        }
        value = shaped(value, {1, dims[2], dims[3]});
        value.order = src.order;
        return value;
    }

    const NodeReader& node_;
    Reduction kind_;
};

/// The axes of ours that the file's are.
std::set<int> ours(const ImportedValue& src, const std::set<std::size_t>& axes) {
    std::set<int> made;
    for (const std::size_t axis : axes)
        made.insert(src.order[axis]);
    return made;
}

/// Without these axes of the file, which have an extent of 1.
void drop(const NodeReader& node, ImportedValue value, const std::set<std::size_t>& axes) {
    Order order;
    for (std::size_t i = 0; i < value.order.size(); ++i)
        if (!axes.contains(i)) order.push_back(value.order[i]);
    value.order = order;
    if (order.size() < 2) throw Refused("it leaves one number of a sample", "keep its axes");
    if (order.size() < 3) return node.layer("flatten", {}, {&value});
    node.result(std::move(value));
}

/// Whether something is taken away from the mean, or it is squared: then it is the first of a
/// normalisation.
bool is_centre(const NodeReader& node) {
    const std::string& mean = node.node().output[0];
    const auto readers = node.importer().some_readers(mean);
    return std::any_of(readers.begin(), readers.end(), [&](const NodeProto* reader) {
        const std::string& op = reader->op_type;
        return op == "Sub" || op == "Neg" || op == "Pow" ||
               (op == "Mul" && std::count(reader->input.begin(), reader->input.end(), mean) == 2);
    });
}

/// Whether it is the mean of squares to which a number is added, whose root divides then: the first
/// of a normalisation by them alone.
bool is_mean_square(const NodeReader& node) {
    const ImportedValue& src = node.viewed();
    if (src.source < 0) return false;
    Importer& importer = node.importer();
    const Attributes& fields = importer.layer(src.source).fields;
    const auto formula = fields.find("expression");
    if (formula == fields.end()) return false;
    const auto* text = std::get_if<std::string>(&formula->second);
    if (!text || (*text != "x * x" && *text != "x ** 2.0")) return false;
    for (const NodeProto* add : importer.some_readers(node.node().output[0])) {
        if (add->op_type != "Add" || add->output.empty()) continue;
        const auto readers = importer.some_readers(add->output[0]);
        if (std::any_of(readers.begin(), readers.end(),
                        [](const NodeProto* reader) { return reader->op_type == "Sqrt"; }))
            return true;
    }
    return false;
}

void reduce(const NodeReader& node, const ImportedValue& src, std::int64_t since, Reduction kind,
            bool normalises = false, bool of_squares = false) {
    const auto given = node.axes(1, since);
    const bool keeps = node.integer("keepdims", 1) != 0;
    std::set<std::size_t> axes;
    for (const std::int64_t axis : given.value_or(Integers{}))
        axes.insert(place_of_axis(axis, src.rank()));
    if (keeps && !axes.empty() && (normalises || of_squares))
        return begin_normalisation(node, axes, !normalises);
    if (src.view.empty() && !axes.empty()) {
        const std::set<int> gone = ours(src, axes);
        if (!keeps && !is_image(src.type) && !is_rows(src.type) && gone.size() == 1 &&
            *gone.begin() > 0)
            return node.result(Reducer(node, kind).over_sequence(src, *gone.begin()));
        if (auto value = Reducer(node, kind).over(src, gone))
            return keeps ? node.result(std::move(*value)) : drop(node, std::move(*value), axes);
    }
    throw Refused(
        fmt::format("it goes over the axes [{}] of [{}]",
                    fmt::join(given.value_or(Integers{}), ", "), fmt::join(src.dims(), ", ")),
        "height and width, the channels, or one axis of a sequence can be");
}

}  // namespace

void read_reduce_mean(const NodeReader& node) {
    reduce(node, node.viewed(), 18, kMean, is_centre(node), is_mean_square(node));
}

namespace {

/// The sum of what the node reads, or of its squares.
void add_up(const NodeReader& node, const ImportedValue& src, std::int64_t since) {
    reduce(node, src, since, kMean);
    const ImportedValue mean = *node.importer().find(node.node().output[0]);
    const double count = double(element_count(src.dims())) / double(element_count(mean.type.dims));
    node.layer_like("scale", {{"factor", count}, {"offset", 0.0}}, {&mean});
}

}  // namespace

void read_reduce_sum(const NodeReader& node) {
    add_up(node, node.activation(), 13);
}

void read_reduce_l2(const NodeReader& node) {
    node.layer_like("elementwise", {{"expression", std::string("x * x")}}, {&node.activation()});
    const ImportedValue squares = *node.importer().find(node.node().output[0]);
    add_up(node, squares, 18);
    const ImportedValue sum = *node.importer().find(node.node().output[0]);
    node.layer_like("elementwise", {{"expression", std::string("sqrt(x)")}}, {&sum});
}

void read_reduce_max(const NodeReader& node) {
    reduce(node, node.viewed(), 18, kMaximum);
}

void read_global_average_pool(const NodeReader& node) {
    if (is_centre(node)) {
        std::set<std::size_t> axes;
        for (std::size_t i = 2; i < node.viewed().rank(); ++i)
            axes.insert(i);
        return begin_normalisation(node, axes);
    }
    const ImportedValue image = node.image();
    node.layer_like("global_avg_pool2d", {}, {&image});
}

void read_global_max_pool(const NodeReader& node) {
    const ImportedValue image = node.image();
    node.layer_like("global_max_pool2d", {}, {&image});
}

}  // namespace dtnn::compiler::onnx
