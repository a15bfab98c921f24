#include "compiler/ops/emit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/expression/expression.hpp"
#include "base/tensor/epilogue.hpp"
#include "base/tensor/members.hpp"
#include "base/tensor/signature.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/node_kinds.hpp"
#include "compiler/ops/sequence/sequence.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// Sizes beyond this are mistakes, and would overflow further on.
constexpr std::int64_t kLargestTensor = std::int64_t{1} << 40;

const AttributeValue& attribute(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    DTNN_CHECK(found != attributes.end(), "attribute `{}` is missing", name);
    return found->second;
}

std::vector<Type> types_of(const Graph& graph, const ValueList& values) {
    std::vector<Type> types;
    types.reserve(values.size());
    for (const ValueId id : values)
        types.push_back(graph.type(id));
    return types;
}

std::optional<ShapeError> too_large(const std::vector<Type>& types) {
    for (const Type& type : types) {
        std::int64_t elements = 1;
        for (const std::int64_t d : type.dims)
            elements = saturating_product({elements, d});
        if (elements > kLargestTensor)
            return ShapeError{
                fmt::format("a tensor of {} has more than 2^40 elements", shape_text(type.dims)),
                "", ""};
    }
    return std::nullopt;
}

}  // namespace

std::int64_t ShapeContext::integer(const char* name) const {
    const auto* value = std::get_if<std::int64_t>(&attribute(attributes_, name));
    DTNN_CHECK(value != nullptr, "attribute `{}` is not an integer", name);
    return *value;
}

double ShapeContext::real(const char* name) const {
    const AttributeValue& value = attribute(attributes_, name);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return double(*whole);
    const auto* real_value = std::get_if<double>(&value);
    DTNN_CHECK(real_value != nullptr, "attribute `{}` is not a number", name);
    return *real_value;
}

bool ShapeContext::flag(const char* name) const {
    return compiler::flag(attributes_, name);
}

std::string ShapeContext::text(const char* name) const {
    const auto* value = std::get_if<std::string>(&attribute(attributes_, name));
    DTNN_CHECK(value != nullptr, "attribute `{}` is not text", name);
    return *value;
}

std::vector<std::int64_t> ShapeContext::integers(const char* name) const {
    const auto* value = std::get_if<std::vector<std::int64_t>>(&attribute(attributes_, name));
    DTNN_CHECK(value != nullptr, "attribute `{}` is not a list of integers", name);
    return *value;
}

std::optional<std::size_t> ShapeContext::place_of(std::string_view operand) const {
    const Signature* signature = op_.signature;
    DTNN_CHECK(signature != nullptr, "`{}` never has an operand `{}`", op_.name, operand);
    const auto place =
        PresentOperands(signature->sources, attributes_).place_of(operand, inputs_.size());
    DTNN_CHECK(place || std::any_of(signature->sources.begin(), signature->sources.end(),
                                    [&](const Operand& one) { return one.name == operand; }),
               "`{}` never has an operand `{}`", op_.name, operand);
    return place;
}

namespace {

/// A wrong number of operands is a pass's mistake, so the text is for us.
void expect_operands(ShapeContext& c) {
    const OpDef& def = c.op();
    if (def.of_sequences && !c.inputs().empty() && !expect_sequence(c)) return;
    if (def.operands_by != nullptr) fallback(c, def.operands_by);
    if (def.settle_operands) def.settle_operands(c);
    if (c.error()) return;
    std::size_t wanted = def.inputs.size();
    bool fits = def.variadic || c.inputs().size() == wanted;
    if (const Signature* signature = def.signature) {
        const PresentOperands operands(signature->sources, c.attributes());
        wanted = operands.count();
        fits = operands.fit(c.inputs().size());
    }
    if (!fits)
        c.fail(fmt::format("{} takes {} operands with these attributes, got {}", def.name, wanted,
                           c.inputs().size()));
}

}  // namespace

namespace {

/// Each member on its own; attributes are those of all.
std::optional<ShapeError> infer_members(const OpDef& def, const std::vector<Type>& inputs,
                                        Attributes& attributes, std::vector<Type>& results) {
    const std::int64_t count = member_count(attributes);
    if (!def.joins || count < 2 || inputs.size() % std::size_t(count) != 0)
        return ShapeError{
            fmt::format("{} has no {} members of {} operands", def.name, count, inputs.size()), "",
            ""};
    const AttributeValue members = count;
    attributes.erase(kMembers);
    for (std::size_t m = 0; m < std::size_t(count); ++m) {
        std::vector<Type> own;
        if (auto error = infer(def, of_member(inputs, m, std::size_t(count)), attributes, own))
            return error;
        results.insert(results.end(), own.begin(), own.end());
    }
    attributes[kMembers] = members;
    return std::nullopt;
}

}  // namespace

std::optional<ShapeError> infer(const OpDef& def, const std::vector<Type>& inputs,
                                Attributes& attributes, std::vector<Type>& results) {
    if (attributes.contains(kMembers)) return infer_members(def, inputs, attributes, results);
    if (inputs.empty()) return ShapeError{fmt::format("{} needs an operand", def.name), "", ""};
    if (auto error = too_large(inputs)) return error;
    ShapeContext context(def, inputs, attributes);
    expect_operands(context);
    if (!context.error()) def.shape(context);
    if (context.error()) return context.error();
    results = context.results();
    return too_large(results);
}

ValueList emit(Graph& graph, Node node, const std::string& name) {
    const OpDef& def = op(node.op);
    std::vector<Type> results;
    const auto error = infer(def, types_of(graph, node.inputs), node.attributes, results);
    DTNN_CHECK(!error, "emitting `{}` as `{}`: {}", node.op, name, error->text);
    const NodeId id = graph.add_node(std::move(node), results, name);
    return graph.node(id).outputs;
}

Cost cost_of(const Graph& graph, const Node& node) {
    const std::vector<Type> inputs = types_of(graph, node.inputs);
    const std::vector<Type> outputs = types_of(graph, node.outputs);
    const auto members = std::size_t(member_count(node.attributes));
    Cost cost;
    for (std::size_t m = 0; m < members; ++m) {
        const Cost own = op(node.op).cost(of_member(inputs, m, members),
                                          of_member(outputs, m, members), node.attributes);
        cost.flops += own.flops;
        cost.bytes += own.bytes;
    }
    return cost;
}

std::vector<std::pair<int, int>> in_place_of(const Node& node) {
    const int members = std::max(1, int(member_count(node.attributes)));
    const int outputs = int(node.outputs.size()) / members;
    const int inputs = int(node.inputs.size()) / members;
    std::vector<std::pair<int, int>> pairs;
    for (int m = 0; m < members; ++m)
        for (const auto& [output, input] : op(node.op).in_place)
            if (output < outputs && input < inputs)
                pairs.emplace_back(m * outputs + output, m * inputs + input);
    return pairs;
}

Attributes complete_attributes(const Node& node) {
    Attributes attributes = node.attributes;
    for (const auto& [name, value] : op(node.op).attributes)
        attributes.try_emplace(name, value);
    return attributes;
}

plan::KernelClass kernel_class_of(const Graph& graph, const Node& node, std::string_view kernel) {
    const std::vector<Type> inputs = types_of(graph, node.inputs);
    const std::vector<Type> outputs = types_of(graph, node.outputs);
    const OpDef& def = op(node.op);
    const plan::KernelClass found = def.kernel_class({inputs, outputs, kernel});
    // The name that every operator's naive kernel has (kernels/catalogue.hpp).
    const bool naive = kernel == "reference" && found != plan::KernelClass::updates &&
                       def.cost(inputs, outputs, node.attributes).flops > 0;
    if (naive) return plan::KernelClass::reference_kernels;
    return flag(node.attributes, "bf16") ? plan::KernelClass::bf16_products : found;
}

plan::Prediction given_by(const Graph& graph, ValueId value) {
    plan::Prediction gives = plan::Prediction::scores;
    while (const Node* node = producer(graph, value)) {
        gives = op(node->op).gives;
        if (!op(node->op).keeps_numbers) break;
        value = node->inputs[0];
    }
    return gives;
}

bool has_wide_factors(const OpDef& def, const Dims& weights, const Attributes& attributes) {
    constexpr std::int64_t kWide = 32;
    const auto groups = attributes.find("groups");
    if (groups != attributes.end() && std::get<std::int64_t>(groups->second) != 1) return false;
    if (def.family == Family::convolution) return weights[0] >= kWide && weights[1] >= kWide;
    const std::int64_t units = weights.back();
    return units >= kWide && element_count(weights) >= kWide * units;
}

std::optional<std::string> infer_types(const std::string& name, const std::vector<Type>& inputs,
                                       Attributes& attributes, std::vector<Type>& results) {
    const OpDef* def = find_op(name);
    if (!def) return fmt::format("no operator is named `{}`", name);
    if (const auto error = infer(*def, inputs, attributes, results)) return error->text;
    return std::nullopt;
}

std::vector<std::string> check_types(const Graph& graph, NodeKinds& kinds) {
    std::vector<std::string> problems;
    kinds.begin(graph);
    for (const Node& node : graph.nodes) {
        const NodeKinds::Kind& kind = kinds.of(node);
        if (!kind.op) {
            problems.push_back(fmt::format("no operator is named `{}`", node.op));
            continue;
        }
        if (kind.error) {
            problems.push_back(fmt::format("{}: {}", print(graph, node), kind.error->text));
            continue;
        }
        bool same = kind.results.size() == node.outputs.size();
        for (std::size_t i = 0; same && i < kind.results.size(); ++i) {
            const Type& have = graph.type(node.outputs[i]);
            same = have.dims == kind.results[i].dims && have.dtype == kind.results[i].dtype &&
                   have.axes == kind.results[i].axes;
        }
        if (!same)
            problems.push_back(
                fmt::format("{}: the results' types are not the operator's", print(graph, node)));
    }
    return problems;
}

std::vector<std::string> check_types(const Graph& graph) {
    NodeKinds kinds;
    return check_types(graph, kinds);
}

std::string expression_of(const Node& node) {
    const OpDef* def = find_op(node.op);
    if (def && def->expression_rule) return def->expression_rule(node);
    return def ? def->expression : std::string();
}

std::int64_t flops_of_epilogue(const Attributes& attributes) {
    const EpilogueForm form = epilogue_of(attributes);
    if (form != EpilogueForm::expression) return form == EpilogueForm::relu ? 1 : 0;
    return flops(parse_postfix(text_or(attributes, "expression", "0")));
}

bool has_epilogue(const Node& node) {
    return epilogue_of(node.attributes) != EpilogueForm::none ||
           flag(node.attributes, "residual") || flag(node.attributes, "mask");
}

}  // namespace dtnn::compiler
