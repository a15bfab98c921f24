#include <algorithm>
#include <string_view>
#include <utility>

#include "base/tensor/members.hpp"
#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels {
namespace operands {

std::string text_of(const Dims& dims) {
    std::string text = "[";
    for (const std::int64_t dim : dims)
        text += (text.size() > 1 ? "," : "") + std::to_string(dim);
    return text + "]";
}

void window(Rule& rule, const TensorType& image, const TensorType& result, std::int64_t height,
            std::int64_t width) {
    if (!rule.image(image) || !rule.image(result)) return;
    const auto stride = rule.values<2>("stride", 1, 1);
    const auto dilation = rule.values<2>("dilation", 1, 1);
    const auto padding = rule.values<4>("padding", 0, 0);
    if (rule.broken()) return;
    const std::array<std::int64_t, 2> kernel = {height, width};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::int64_t span = image.dims[2 + axis] + padding[2 * axis] + padding[2 * axis + 1] -
                                  dilation[axis] * (kernel[axis] - 1) - 1;
        rule.require(span >= 0 && span / stride[axis] + 1 == result.dims[2 + axis],
                     "a window of " + text_of({height, width}) + " does not lead from " +
                         text_of(image.dims) + " to " + text_of(result.dims));
    }
    rule.require(image.dims[0] == result.dims[0], "the batches of " + text_of(image.dims) +
                                                      " and " + text_of(result.dims) + " differ");
}

void written_epilogue(Rule& rule, int sources) {
    const Problem& p = rule.problem();
    Postfix expression;
    const auto mistake = parse_postfix(p.text("expression"), expression);
    rule.require(!mistake, "its expression cannot be read: " + (mistake ? mistake->reason : ""));
    rule.require(expression.inputs <= sources && expression.depth <= kMostEvaluatedDepth,
                 "its expression is over other numbers, or too deep");
    const bool by_channel =
        std::any_of(expression.instructions.begin(), expression.instructions.end(),
                    [](const Instruction& instruction) { return instruction.by_channel; });
    rule.require(!by_channel && !p.flag("mask") && !p.flag("residual"),
                 "its expression does not stand alone");
}

}  // namespace operands

namespace {

constexpr std::pair<std::string_view, void (*)(operands::Rule&)> kRules[] = {
#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace)
#define REFERENCE(op, Arguments, operands_rule) {#op, operands::operands_rule},
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE
};

}  // namespace

std::optional<std::string> operand_mistake(const Problem& problem) {
    if (problem.attributes.contains(kMembers)) {
        const std::int64_t count = member_count(problem.attributes);
        const std::size_t sources = problem.sources.size(), results = problem.destinations.size();
        if (count < 2 || std::size_t(count) > sources || sources % std::size_t(count) != 0 ||
            results % std::size_t(count) != 0)
            return "its operands are not those of `members` of it";
        for (const Problem& member : members_of(problem))
            if (auto mistake = operand_mistake(member)) return mistake;
        return std::nullopt;
    }
    for (const auto& [op, check] : kRules) {
        if (op != problem.op) continue;
        try {
            operands::Rule rule(problem);
            if (!rule.broken()) check(rule);
            return rule.mistake();
        } catch (const MissingAttribute& missing) {
            return missing.what();
        }
    }
    return "nothing is known about the operands of `" + problem.op + "`";
}

}  // namespace dtnn::kernels
