#include <algorithm>
#include <optional>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"
#include "kernels/workspace/elementwise.hpp"
#include "kernels/workspace/loss.hpp"

namespace dtnn::kernels {
std::vector<std::int64_t> numbers_by_channel(const Postfix& expression, const Problem& problem) {
    std::vector<std::int64_t> numbers(problem.sources.size());
    for (const Instruction& instruction : expression.instructions) {
        const auto source = std::size_t(instruction.index);
        if (instruction.by_channel && source < numbers.size())
            numbers[source] = problem.sources[source].elements();
    }
    return numbers;
}

namespace predicates {
namespace {

Refused unless_text(const Problem& problem, std::string_view wanted) {
    if (problem.text("expression") == wanted) return std::nullopt;
    return "the expression is not `" + std::string(wanted) + "`";
}

}  // namespace

Refused unless_relu(const Problem& problem) {
    return unless_text(problem, "x0 0 max");
}
Refused unless_relu_backward(const Problem& problem) {
    return unless_text(problem, "x1 0 gt x0 0 select");
}
Refused unless_add(const Problem& problem) {
    return unless_text(problem, "x0 x1 add");
}
Refused unless_add_relu(const Problem& problem) {
    return unless_text(problem, "x0 x1 add 0 max");
}

Refused unless_stack_suffices(const Problem& problem, int depth) {
    Postfix expression;
    if (const auto mistake = parse_postfix(problem.text("expression"), expression))
        return "the expression cannot be read: " + mistake->reason;
    if (expression.inputs > int(problem.sources.size())) {
        return "the expression names more sources than there are";
    }
    if (expression.depth > depth) {
        return "the expression needs a stack of " + std::to_string(expression.depth) +
               ", the kernel has " + std::to_string(depth);
    }
    return std::nullopt;
}

Refused unless_epilogue_is_shallow(const Problem& problem) {
    return has_written_epilogue(problem) ? unless_stack_suffices(problem, kExpressionSlots)
                                         : std::nullopt;
}

namespace {

/// Tells which sources are read by channel; empty where none is.
std::vector<std::int64_t> numbers_of(const Problem& problem) {
    Postfix expression;
    if (parse_postfix(problem.text("expression"), expression)) return {};
    std::vector<std::int64_t> numbers = numbers_by_channel(expression, problem);
    if (std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 0; }))
        return {};
    return numbers;
}

/// Elements between neighbours along the channels of x0.
std::int64_t channel_stride(const Problem& problem) {
    return strides_of(problem.sources[0])[axis_of(problem).first];
}

}  // namespace

/// The kernel keeps a chunk for every place of its stack.
Refused unless_expression_is_shallow(const Problem& problem) {
    if (Refused refused = unless_stack_suffices(problem, kExpressionSlots)) return refused;
    if (numbers_of(problem).size() > kMostTiledSources)
        return "it has more than " + std::to_string(kMostTiledSources) + " sources";
    return std::nullopt;
}

std::int64_t channel_tiles(const Problem& problem) {
    std::int64_t elements = 0;
    for (const std::int64_t numbers : numbers_of(problem))
        elements += tile_of(numbers, numbers > 1 ? channel_stride(problem) : 1);
    return elements * element_bytes(problem);
}

std::int64_t elementwise_mean_scratch(const Problem& problem) {
    return elementwise_mean_chunks_of(problem.sources[0].elements()) * 8 + channel_tiles(problem);
}

std::int64_t elementwise_sums_scratch(const Problem& problem) {
    const std::int64_t numbers = problem.destinations[0].elements();
    const std::int64_t places = numbers > 1 ? numbers * channel_stride(problem) : numbers;
    const ElementwiseSumsCut cut = cut_elementwise_sums(problem.sources[0].elements(), places);
    return cut.stretches * places * 8 + channel_tiles(problem);
}

}  // namespace predicates
}  // namespace dtnn::kernels
