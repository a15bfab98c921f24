#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/cuda/chunks.hpp"
#include "kernels/layout.hpp"
#include "kernels/workspace/elementwise.hpp"
#include "kernels/workspace/loss.hpp"

namespace dtnn::kernels {
namespace {

struct Word {
    std::string_view text;
    Opcode opcode;
    int operands;
};
constexpr Word kWords[] = {
#define DTNN_TERM(name, operands, form, value) {#name, Opcode::name, operands},
#include "kernels/terms.def"
#undef DTNN_TERM
};

/// Reads one token; the number of operands it takes, or nothing when it is no token.
std::optional<int> read_token(std::string_view token, Instruction& instruction) {
    for (const Word& word : kWords) {
        if (word.text == token) {
            instruction.opcode = word.opcode;
            instruction.operands = word.operands;
            return word.operands;
        }
    }
    const char* const end = token.data() + token.size();
    if (token.size() > 1 && (token.front() == 'x' || token.front() == 'c')) {
        const auto read = std::from_chars(token.data() + 1, end, instruction.source);
        if (read.ec != std::errc{} || read.ptr != end || instruction.source < 0) return {};
        // One more is the number of sources, which must be a number too.
        if (instruction.source == std::numeric_limits<int>::max()) return {};
        instruction.opcode = Opcode::source;
        instruction.by_channel = token.front() == 'c';
        return 0;
    }
    const auto read = std::from_chars(token.data(), end, instruction.constant);
    if (read.ec != std::errc{} || read.ptr != end) return {};
    instruction.opcode = Opcode::constant;
    return 0;
}

}  // namespace

bool parse_expression(std::string_view text, Expression& expression, std::string& mistake) {
    expression = {};
    int stack = 0;
    while (!text.empty()) {
        const std::size_t length = text.substr(0, text.find(' ')).size();
        const std::string_view token = text.substr(0, length);
        text.remove_prefix(length == text.size() ? length : length + 1);
        Instruction instruction;
        const std::optional<int> operands = read_token(token, instruction);
        if (!operands) {
            mistake = "`" + std::string(token) + "` is no operand and no operation";
            return false;
        }
        if (*operands > stack) {
            mistake = "`" + std::string(token) + "` needs " + std::to_string(*operands) +
                      " operands and finds " + std::to_string(stack);
            return false;
        }
        stack += 1 - *operands;
        if (stack > expression.depth) expression.depth = stack;
        if (instruction.opcode == Opcode::source && instruction.source >= expression.sources) {
            expression.sources = instruction.source + 1;
        }
        expression.instructions.push_back(instruction);
    }
    if (stack != 1) {
        mistake = "it leaves " + std::to_string(stack) + " values instead of one";
        return false;
    }
    return true;
}

std::vector<std::int64_t> numbers_by_channel(const Expression& expression, const Problem& problem) {
    std::vector<std::int64_t> numbers(problem.sources.size());
    for (const Instruction& instruction : expression.instructions) {
        const auto source = std::size_t(instruction.source);
        if (instruction.by_channel && source < numbers.size())
            numbers[source] = problem.sources[source].elements();
    }
    return numbers;
}

double evaluate(const Expression& expression, std::span<const double> sources) {
    using T = double;
    double stack[kMostEvaluatedDepth] = {};
    double* top = stack;  // behind the last value
    for (const Instruction& instruction : expression.instructions) {
        if (instruction.opcode == Opcode::source) {
            *top++ = sources[std::size_t(instruction.source)];
            continue;
        }
        if (instruction.opcode == Opcode::constant) {
            *top++ = instruction.constant;
            continue;
        }
        const int operands = instruction.operands;
        const double* const v = top - operands;
        [[maybe_unused]] const T a = v[0], b = operands > 1 ? v[1] : 0, c = operands > 2 ? v[2] : 0;
        double result = 0;
        switch (instruction.opcode) {
#define DTNN_TERM(name, operands, form, value) \
    case Opcode::name:                         \
        result = value;                        \
        break;
#include "kernels/terms.def"
#undef DTNN_TERM
            case Opcode::source:
            case Opcode::constant:
                break;
        }
        top -= operands;
        *top++ = result;
    }
    return stack[0];
}

namespace predicates {
namespace {

Refused unless_text(const Problem& problem, std::string_view wanted) {
    if (problem.text("expression") == wanted) return std::nullopt;
    return "the expression is not `" + std::string(wanted) + "`";
}

Refused unless_sums_are_channels_last(const Problem& problem) {
    if (problem.destinations[0].elements() == 1 || is_channels_last(problem.sources[0]))
        return std::nullopt;
    return "the image is not stored channels last";
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
    Expression expression;
    std::string mistake;
    if (!parse_expression(problem.text("expression"), expression, mistake)) {
        return "the expression cannot be read: " + mistake;
    }
    if (expression.sources > int(problem.sources.size())) {
        return "the expression names more sources than there are";
    }
    if (expression.depth > depth) {
        return "the expression needs a stack of " + std::to_string(expression.depth) +
               ", the kernel has " + std::to_string(depth);
    }
    return std::nullopt;
}

Refused unless_epilogue_is_shallow(const Problem& problem) {
    return has_written_epilogue(problem) ? unless_stack_suffices(problem, 8) : std::nullopt;
}

namespace {

/// Of the sources that are read by channel; empty without them.
std::vector<std::int64_t> numbers_of(const Problem& problem) {
    Expression expression;
    std::string mistake;
    if (!parse_expression(problem.text("expression"), expression, mistake)) return {};
    std::vector<std::int64_t> numbers = numbers_by_channel(expression, problem);
    if (std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 0; }))
        return {};
    return numbers;
}

}  // namespace

/// The kernel keeps a chunk for every place of its stack in the first-level cache, and goes over
/// numbers by channel as they lie.
Refused unless_expression_is_shallow(const Problem& problem) {
    if (Refused refused = unless_stack_suffices(problem, 8)) return refused;
    std::vector<std::int64_t> numbers = numbers_of(problem);
    if (numbers.size() > kMostTiledSources)
        return "it has more than " + std::to_string(kMostTiledSources) + " sources";
    if (problem.op == "elementwise_sums") numbers.push_back(problem.destinations[0].elements());
    const bool by_channel =
        std::any_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n > 1; });
    if (by_channel && !is_channels_last(problem.sources[0]))
        return "numbers by channel, and an image that is not stored channels last";
    return std::nullopt;
}

std::int64_t channel_tiles(const Problem& problem) {
    std::int64_t elements = 0;
    for (const std::int64_t numbers : numbers_of(problem))
        elements += tile_of(numbers);
    return elements * element_bytes(problem);
}

std::int64_t elementwise_mean_scratch(const Problem& problem) {
    return elementwise_mean_chunks_of(problem.sources[0].elements()) * 8 + channel_tiles(problem);
}

std::int64_t elementwise_sums_scratch(const Problem& problem) {
    const std::int64_t numbers = problem.destinations[0].elements();
    const ElementwiseSumsCut cut = cut_elementwise_sums(problem.sources[0].elements(), numbers);
    return cut.stretches * numbers * 8 + channel_tiles(problem);
}

/// A device's threads go along the channels where sums are by channel.
Refused unless_sums_suit_registers(const Problem& problem) {
    if (Refused refused = unless_stack_fits_registers(problem)) return refused;
    return unless_sums_are_channels_last(problem);
}
Refused unless_sums_suit_thread(const Problem& problem) {
    if (Refused refused = unless_stack_fits_thread(problem)) return refused;
    return unless_sums_are_channels_last(problem);
}

std::int64_t device_elementwise_sums(const Problem& problem) {
    const std::int64_t numbers = problem.destinations[0].elements();
    if (numbers == 0) return 0;
    return cuda::column_sums_of(1, 1, problem.sources[0].elements() / numbers, numbers) * 8;
}

}  // namespace predicates
}  // namespace dtnn::kernels
