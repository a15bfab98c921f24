#include "compiler/frontend/explain/reference_operators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"

namespace dtnn::compiler {
namespace {

std::string inputs_text(const OpDef& op) {
    return fmt::format(
        "\n## Inputs\n\nIt reads {} or more values: the layers that `from` names, or the results "
        "of [branches](../kinds/model.md#branches), which are its value (`{}: [[...], [...]]`) or "
        "its field `branches`. Branches are lists of layers that all read the layer before; an "
        "empty one is that layer itself.\n",
        op.min_inputs == 1 ? "one" : "two", op.name);
}

/// The origin of the first values: a field of the operator, or a rule of its own.
std::string first_values(const OpDef& op, const Parameter& parameter) {
    const std::string field_name = parameter.role + "_initializer";
    const Field* field = find_field(op.fields, field_name);
    const std::string_view kind = parameter.initializer.kind;
    return field ? fmt::format("`{}`, else [`{}`]({})", field_name, default_text(*field),
                               kInitializersPage)
                 : fmt::format("[`{}`]({})", kind, kInitializersPage);
}

std::string weights_text(const OpDef& op, const OperatorExample& example) {
    std::string text =
        "\n## Weights\n\n| name | trained | first values | shape in the example | numbers "
        "|\n|---|---|---|---|---|\n";
    for (const Parameter& parameter : example.graph.parameters) {
        if (parameter.layer != example.layer) continue;
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", parameter.role,
                            parameter.trainable ? "yes" : "no, follows the data",
                            first_values(op, parameter), shape_text(parameter.dims),
                            grouped(element_count(parameter.dims)));
    }
    return text;
}

std::string example_text(const OpDef& op, const OperatorExample& example) {
    const Node& node = example.graph.node(example.node);
    std::vector<std::string> inputs;
    for (const ValueId input : node.inputs)
        if (example.graph.value(input).kind != ValueKind::parameter)
            inputs.push_back(sample_text(example.graph.type(input)));
    return fmt::format(
        "```yaml\n{}```\n\nHere it reads {} and gives {}; forward takes {} floating-point "
        "operations a sample.\n",
        example_model(op), fmt::join(inputs, " and "),
        sample_text(example.graph.type(node.outputs[0])),
        grouped(cost_of(example.graph, node).flops));
}

ReferencePage operator_page(const OpDef& op, const DescribeTraining& training) {
    const OperatorExample example = compile_example(op);
    ReferencePage page{fmt::format("operators/{}.md", op.name), "Operators", op.name,
                       first_sentence(op.doc), ""};
    page.text = fmt::format("{}\n# {}\n\n{}\n\n```yaml\n{}\n```\n\n", kGeneratedLine, op.name,
                            op.doc, op.example);
    if (!op.fields.empty())
        page.text += "## Fields\n\n" + fields_markdown(op.fields, kInitializersPage) + "\n";
    page.text += fmt::format("{} `name` and `from`, as [every layer](../kinds/model.md#layers).\n",
                             op.fields.empty() ? "It takes" : "Besides, it takes");
    if (op.variadic) page.text += inputs_text(op);
    if (!op.parameters.empty()) page.text += weights_text(op, example);
    if (!op.expression.empty())
        page.text += fmt::format(
            "\n## Arithmetic\n\nWith the default fields, for every element, in "
            "[postfix](../../operators.md#expressions): `{}`\n",
            op.expression);
    page.text += "\n## Example\n\n" + example_text(op, example);
    if (training) page.text += "\n## In training\n\n" + training(op, example);
    return page;
}

}  // namespace

std::vector<ReferencePage> operator_pages(const DescribeTraining& training) {
    std::vector<std::string> names = layer_names();
    std::sort(names.begin(), names.end());
    std::vector<ReferencePage> pages;
    for (const std::string& name : names)
        pages.push_back(operator_page(op(name), training));
    return pages;
}

}  // namespace dtnn::compiler
