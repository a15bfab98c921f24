#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/predicates.hpp"

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
    if (token.size() > 1 && token.front() == 'x') {
        const auto read = std::from_chars(token.data() + 1, end, instruction.source);
        if (read.ec != std::errc{} || read.ptr != end || instruction.source < 0) return {};
        // One more is the number of sources, which must be a number too.
        if (instruction.source == std::numeric_limits<int>::max()) return {};
        instruction.opcode = Opcode::source;
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

/// The kernel keeps a chunk for every place of its stack in the first-level cache.
Refused unless_expression_is_shallow(const Problem& problem) {
    return unless_stack_suffices(problem, 8);
}

}  // namespace predicates
}  // namespace dtnn::kernels
