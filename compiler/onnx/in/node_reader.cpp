/// What rules ask of a node of the file, and what they make of it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {

std::size_t ImportedValue::batch_axis() const {
    if (view.empty()) return std::size_t(std::find(order.begin(), order.end(), 0) - order.begin());
    const auto has_batch = [](const std::vector<Piece>& axis) {
        return std::any_of(axis.begin(), axis.end(), [](const Piece& p) { return p.axis == 0; });
    };
    return std::size_t(std::find_if(view.begin(), view.end(), has_batch) - view.begin());
}

bool ImportedValue::is_batch_first() const {
    if (view.empty()) return batch_axis() == 0;
    return !view[0].empty() && view[0][0].axis == 0;
}

Dims ImportedValue::dims() const {
    if (constant) return constant->dims;
    Dims dims;
    for (std::size_t i = 0; i < rank(); ++i) {
        dims.push_back(view.empty() ? extent(i) : 1);
        if (!view.empty())
            for (const Piece& piece : view[i])
                dims.back() *= piece.extent;
    }
    return dims;
}

bool ImportedValue::is_plain() const {
    if (!rows.empty() || !view.empty() || batch_axis() != 0) return false;
    // Axes of 1 may stand anywhere.
    int last = -1;
    for (const int axis : order) {
        if (axis > 0 && type.dims[std::size_t(axis)] == 1) continue;
        if (axis < last) return false;
        last = axis;
    }
    return true;
}

bool ImportedValue::lies_like(const ImportedValue& other) const {
    if (rows != other.rows || view != other.view || order.size() != other.order.size())
        return false;
    if (batch_axis() != other.batch_axis()) return false;
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != other.order[i] && (extent(i) > 1 || other.extent(i) > 1)) return false;
    return true;
}

std::size_t place_of_axis(std::int64_t axis, std::size_t rank) {
    const std::int64_t from_start = axis < 0 ? axis + std::int64_t(rank) : axis;
    if (from_start < 0 || from_start >= std::int64_t(rank))
        throw Refused(fmt::format("its axis {} is none of {} axes", axis, rank));
    return std::size_t(from_start);
}

std::vector<std::int64_t> integers_of(const Constant& constant) {
    std::vector<std::int64_t> values;
    for (const double value : numbers_of(constant))
        values.push_back(whole(value));
    return values;
}

Constant in_row_order(const NodeReader& node, const Constant& given, const ImportedValue& src) {
    const auto count = std::int64_t(src.rows.size());
    const bool of_rows = !given.dims.empty() && given.dims[0] == count;
    if (count == 0 || (given.elements() != count && !of_rows)) return given;
    return node.importer().constants().reorder(given, src.rows);
}

std::int64_t NodeReader::opset() const {
    return importer_.opset();
}

const ImportedValue& NodeReader::input(std::size_t i) const {
    const ImportedValue& value = of_any_length(i);
    if (!value.spans_batch) return value;
    throw Refused("it computes with an array that is as long as the batch",
                  "zeros of that length can be what a recurrent layer begins with");
}

const ImportedValue& NodeReader::of_any_length(std::size_t i) const {
    if (!has(i)) throw Refused(fmt::format("input {} is missing", i + 1));
    if (const ImportedValue* value = importer_.find(node_.input[i])) return *value;
    throw Refused(
        fmt::format("it reads `{}`, which nothing before it makes", printable(node_.input[i])));
}

const Constant& NodeReader::constant(std::size_t i, const char* what) const {
    const ImportedValue& value = input(i);
    if (value.is_constant()) return *value.constant;
    throw Refused(fmt::format("its {} is worked out from the network's input", what),
                  "export the model with fixed weights and fixed shapes");
}

namespace {

const ImportedValue& with_batch_first(const ImportedValue& value) {
    if (value.is_batch_first()) return value;
    throw Refused(fmt::format("its input has the batch as axis {}, or behind others of one axis, "
                              "and is read with the batch as the first one alone",
                              value.batch_axis()),
                  "keep the batch as the first axis, or turn it back before; layers of sequences "
                  "and attention are read with the batch at another place, too");
}

}  // namespace

const ImportedValue& NodeReader::in_any_order(std::size_t i) const {
    const ImportedValue& value = input(i);
    if (value.is_constant()) throw Refused(fmt::format("its input {} is a constant", i + 1), "");
    if (value.type.dtype == DType::i32)
        throw Refused("it computes with the integers of an input",
                      "rows of a table can be looked up by them: Gather(table, integers)");
    return value;
}

const ImportedValue& NodeReader::viewed(std::size_t i) const {
    return with_batch_first(in_any_order(i));
}

const ImportedValue& NodeReader::activation(std::size_t i) const {
    return with_batch_first(by_number(i));
}

const ImportedValue& NodeReader::by_number(std::size_t i) const {
    const ImportedValue& value = in_any_order(i);
    if (value.view.empty()) return value;
    Dims dims = value.dims();
    dims.erase(dims.begin() + std::ptrdiff_t(value.batch_axis()));
    throw Refused(fmt::format("its input is [batch, {}], whose axes have been taken apart or "
                              "joined from [{}]",
                              fmt::join(dims, ", "),
                              fmt::join(value.type.dims.begin() + 1, value.type.dims.end(), ", ")),
                  "a row, [steps, features] and [channels, height, width] can be; channels that "
                  "are shuffled, images that are repeated and groups that are normalised are read");
}

Constant NodeReader::weights(std::size_t rank) const {
    const Constant& weights = constant(1, "second operand, the weights,");
    if (weights.dims.size() != rank)
        throw Refused(
            fmt::format("its weights have {} axes instead of {}", weights.dims.size(), rank));
    return weights;
}

const AttributeProto* NodeReader::find(std::string_view name) const {
    for (const AttributeProto& attribute : node_.attribute)
        if (attribute.name == name) return &attribute;
    return nullptr;
}

std::int64_t NodeReader::integer(std::string_view name, std::int64_t absent) const {
    const AttributeProto* found = find(name);
    return found && found->i ? *found->i : absent;
}

double NodeReader::real(std::string_view name, double absent) const {
    const AttributeProto* found = find(name);
    if (!found || !found->f) return absent;
    // The number that was meant, which the file has rounded.
    return std::stod(fmt::format("{}", *found->f));
}

std::string NodeReader::text(std::string_view name, const char* absent) const {
    const AttributeProto* found = find(name);
    return found && found->s ? *found->s : absent;
}

std::vector<std::int64_t> NodeReader::integers(std::string_view name,
                                               const std::vector<std::int64_t>& absent) const {
    const AttributeProto* found = find(name);
    if (found && found->ints.empty() && (found->i || found->f || found->s))
        throw Refused(fmt::format("its `{}` must be a list of integers", name),
                      "correct what has written the file: `onnx.checker` tells more");
    return found && !found->ints.empty() ? found->ints : absent;
}

std::optional<std::vector<std::int64_t>> NodeReader::axes(std::size_t i, std::int64_t since) const {
    if (opset() < since) {
        const AttributeProto* found = find("axes");
        return found ? std::optional(found->ints) : std::nullopt;
    }
    if (!has(i)) return std::nullopt;
    return integers_of(constant(i, "axes"));
}

void NodeReader::layer(const char* type, Attributes fields,
                       const std::vector<const ImportedValue*>& sources,
                       std::map<std::string, Constant> parameters) const {
    const int made =
        importer_.add_layer(node_, type, std::move(fields), sources, std::move(parameters));
    result(importer_.layer(made).value);
}

void NodeReader::layer_like(const char* type, Attributes fields,
                            const std::vector<const ImportedValue*>& sources,
                            std::map<std::string, Constant> parameters) const {
    Order order = sources[0]->order;
    std::vector<std::int64_t> rows = sources[0]->rows;
    for (const ImportedValue* source : sources)
        if (!source->lies_like(*sources[0]))
            throw Refused("its inputs have their axes in different orders",
                          "export the model with channels first");
    const int made =
        importer_.add_layer(node_, type, std::move(fields), sources, std::move(parameters));
    ImportedValue& value = importer_.layer(made).value;
    value.order = std::move(order);
    value.rows = std::move(rows);
    result(value);
}

void NodeReader::formula(const ImportedFormula& formula, const ImportedValue& source,
                         Constant by_channel) const {
    Order order = source.order;
    std::vector<std::int64_t> rows = source.rows;
    const int made = importer_.add_layer(node_, "elementwise", {}, {&source},
                                         {{"value", std::move(by_channel)}}, &formula);
    ImportedValue& value = importer_.layer(made).value;
    value.order = std::move(order);
    value.rows = std::move(rows);
    result(value);
}

void NodeReader::result(ImportedValue value) const {
    importer_.set(node_.output.at(0), std::move(value));
}

}  // namespace dtnn::compiler::onnx
