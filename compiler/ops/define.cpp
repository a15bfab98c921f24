#include "compiler/ops/define.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/tensor/signature.hpp"
#include "base/text.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

Field field_of(std::string_view name, FieldType type, std::string_view doc) {
    return {.name = name, .type = type, .doc = doc, .change = kOfLayer};
}

}  // namespace

OpBuilder::OpBuilder(std::string name) {
    const auto names = [](const OperandList& operands) {
        std::vector<std::string> texts;
        for (const Operand& operand : operands)
            texts.push_back(operand.name + (operand.conditions.empty() ? "" : "?"));
        return texts;
    };
    def_.signature = find_signature(name);
    if (def_.signature != nullptr)
        inputs(names(def_.signature->sources)).outputs(names(def_.signature->destinations));
    def_.name = std::move(name);
}

Field boolean_field(std::string_view name, bool fallback_value, std::string_view doc) {
    Field field = field_of(name, FieldType::boolean, doc);
    field.fallback = fallback_value;
    return field;
}

Field integer_field(std::string_view name, std::optional<std::int64_t> fallback_value,
                    std::string_view doc, double minimum, double maximum) {
    Field field = field_of(name, FieldType::integer, doc);
    if (fallback_value) field.fallback = *fallback_value;
    field.minimum = minimum;
    field.maximum = maximum;
    return field;
}

Field real_field(std::string_view name, double fallback_value, std::string_view doc) {
    Field field = field_of(name, FieldType::real, doc);
    field.fallback = fallback_value;
    return field;
}

Field number_field(std::string_view name, double fallback_value, std::string_view doc,
                   double minimum, double maximum) {
    Field field = real_field(name, fallback_value, doc);
    field.minimum = minimum;
    field.maximum = maximum;
    return field;
}

Field choice_field(std::string_view name, std::string_view fallback_value,
                   std::vector<std::string_view> choices, std::string_view doc) {
    Field field = field_of(name, FieldType::choice, doc);
    field.fallback = std::string(fallback_value);
    field.choices = std::move(choices);
    return field;
}

Field pair_field(std::string_view name, std::optional<std::int64_t> fallback_value,
                 std::string_view doc, double minimum) {
    Field field = field_of(name, FieldType::integer_pair, doc);
    if (fallback_value)
        field.fallback = std::vector<std::int64_t>{*fallback_value, *fallback_value};
    else
        field.optional = true;
    field.minimum = minimum;
    field.maximum = kLargestWindow;
    return field;
}

Field padding_field() {
    Field field = field_of("padding", FieldType::padding,
                           "cells of zeros around the image: valid (none), same (output extents "
                           "are input extents over stride, rounded up), one number, [vertical, "
                           "horizontal] or [top, bottom, left, right]");
    field.fallback = std::string("valid");
    field.minimum = 0;
    field.maximum = kLargestWindow;
    return field;
}

Field initializer_field(std::string_view name, std::string_view fallback_value,
                        std::string_view doc) {
    Field field = field_of(name, FieldType::initializer, doc);
    field.fallback = std::string(fallback_value);
    field.choices = initializer_names();
    return field;
}

OpBuilder& OpBuilder::flops(std::function<std::int64_t(const std::vector<Type>&,
                                                       const std::vector<Type>&, const Attributes&)>
                                formula) {
    def_.cost = [formula = std::move(formula)](const std::vector<Type>& inputs,
                                               const std::vector<Type>& outputs,
                                               const Attributes& attributes) {
        return traffic(inputs, outputs, formula(inputs, outputs, attributes));
    };
    return *this;
}

OpBuilder& OpBuilder::weights_and_bias(
    std::string_view bias_doc, decltype(ParameterRule::dims) dims,
    decltype(ParameterRule::initializer) initializer,
    std::function<std::int64_t(const Type& input, const Attributes&)> units,
    decltype(ParameterRule::view) view) {
    field(boolean_field("bias", true, bias_doc));
    field(initializer_field("weights_initializer", "glorot_uniform", "first weights"));
    field(initializer_field("bias_initializer", "zeros", "first biases"));
    parameter({"weights", true, std::move(dims), std::move(initializer), std::move(view)});
    return parameter({"bias", true,
                      [units = std::move(units)](const Type& input, const Attributes& attributes) {
                          return flag(attributes, "bias") ? Dims{units(input, attributes)} : Dims{};
                      },
                      [](const Dims& own, const Attributes& attributes) {
                          return compiler::initializer(attributes, "bias_initializer", "zeros",
                                                       own[0], own[0]);
                      }});
}

std::function<std::int64_t(const Type&, const Attributes&)> units_in(const char* attribute) {
    return [attribute](const Type&, const Attributes& attributes) {
        return std::get<std::int64_t>(attributes.at(attribute));
    };
}

void fallback(ShapeContext& c, const char* name) {
    const OpDef& def = c.op();
    if (const Field* field = find_field(def.fields, name); field && field->fallback)
        return fallback(c, name, *field->fallback);
    const auto found = def.attributes.find(name);
    DTNN_CHECK(found != def.attributes.end(), "`{}` declares no default of `{}`", def.name, name);
    fallback(c, name, found->second);
}

void fallback(ShapeContext& c, const char* name, const AttributeValue& value) {
    c.attributes().try_emplace(name, value);
}

bool flag(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return false;
    const bool* value = std::get_if<bool>(&found->second);
    DTNN_CHECK(value != nullptr, "attribute `{}` is not a truth value", name);
    return *value;
}

std::string text_or(const Attributes& attributes, const char* name, const char* absent) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return absent;
    const auto* value = std::get_if<std::string>(&found->second);
    DTNN_CHECK(value != nullptr, "attribute `{}` is not text", name);
    return *value;
}

Attributes pick(const Attributes& attributes, std::initializer_list<const char*> names) {
    Attributes result;
    for (const char* name : names)
        if (const auto found = attributes.find(name); found != attributes.end())
            result.insert(*found);
    return result;
}

bool has_one_operand(const Graph&, const Node& node) {
    return node.inputs.size() == 1;
}

bool keeps_extents(const Graph& graph, const Node& node) {
    return node.outputs.size() == 1 &&
           graph.type(node.inputs[0]).dims == graph.type(node.outputs[0]).dims;
}

bool drops_nothing(const Graph&, const Node& node) {
    const auto rate = node.attributes.find("rate");
    return rate != node.attributes.end() && std::get<double>(rate->second) == 0;
}

std::vector<Node> becomes(Node node, std::string_view op, Attributes attributes) {
    node.op = op;
    node.attributes = std::move(attributes);
    return {std::move(node)};
}

bool expect_image(ShapeContext& c, const char* op, std::size_t i) {
    const Type& type = c.input(i);
    if (is_image(type)) return true;
    const bool rows = is_rows(type);
    c.fail(fmt::format("{} works on images (channels, height, width), but its input is {}", op,
                       rows ? fmt::format("a row of {} numbers", type.dims[1]) : sample_text(type)),
           rows ? fmt::format("put `{}` before `flatten`", op)
                : "`reshape: {shape: [channels, height, width]}` makes an image of it");
    return false;
}

std::int64_t packed_filters(ShapeContext& c, std::size_t i) {
    const std::vector<std::int64_t> packed = c.integers(kPacked);
    const Dims& dims = c.input(i).dims;
    const bool fits = packed.size() == 2 && packed[0] >= 1 && packed[1] >= 1 && !dims.empty() &&
                      dims.front() == (packed[0] + packed[1] - 1) / packed[1] &&
                      dims.back() == packed[1];
    if (fits) return packed[0];
    c.fail(fmt::format("{}: weights {} are not packed as {} says", c.op().name, shape_text(dims),
                       shape_text(packed)));
    return 0;
}

bool expect_dims(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                 const Dims& dims) {
    if (c.input(i).dims == dims) return true;
    c.fail(fmt::format("{}: {} must be {}, got {}", op, operand, shape_text(dims),
                       shape_text(c.input(i).dims)));
    return false;
}

bool expect_dims(ShapeContext& c, const char* operand, const Dims& dims) {
    const auto place = c.place_of(operand);
    return !place || expect_dims(c, c.op().name.c_str(), *place, operand, dims);
}

void result_like(ShapeContext& c, std::size_t i) {
    c.result(c.input(i));
}

std::string sample_text(const Type& type) {
    if (type.dims.empty()) return shape_text(type.dims);
    return sample_text(Dims(type.dims.begin() + 1, type.dims.end()),
                       Axes(type.axes.begin() + (type.axes.empty() ? 0 : 1), type.axes.end()));
}

std::string sample_text(const Dims& dims, const Axes& axes) {
    static const Axes image = usual_axes(3);
    const bool plain = axes.empty() || axes == Axes{AxisKind::feature} ||
                       std::equal(axes.begin(), axes.end(), image.begin() + 1, image.end());
    if (plain) return shape_text(dims);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < dims.size(); ++i)
        texts.push_back(
            count_text(dims[i], axes[i] == AxisKind::space ? "cell" : name_of(axes[i])));
    return fmt::format("[{}]", fmt::join(texts, ", "));
}

plan::Initializer initializer(const Attributes& attributes, const char* name, const char* absent,
                              std::int64_t fan_in, std::int64_t fan_out) {
    plan::Initializer result = parse_initializer(text_or(attributes, name, absent));
    result.fan_in = fan_in;
    result.fan_out = fan_out;
    return result;
}

}  // namespace dtnn::compiler
