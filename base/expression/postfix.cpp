#include "base/expression/postfix.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace dtnn {
namespace {

constexpr TermInfo kTerms[] = {
#define DTNN_TERM(name, operands, form, value) {Term::name, #name, operands, TermForm::form},
#include "base/expression/terms.def"
#undef DTNN_TERM
};

std::optional<Instruction> read_word(std::string_view word) {
    Instruction instruction;
    if (const TermInfo* info = find_term(word)) {
        instruction.term = info->term;
        instruction.operands = info->operands;
        return instruction;
    }
    instruction.by_channel = word.starts_with('c');
    if (const auto index = input_index(word, instruction.by_channel ? 'c' : 'x')) {
        instruction.term = Term::input;
        instruction.index = *index;
        return instruction;
    }
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, instruction.number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    instruction.by_channel = false;
    return instruction;
}

}  // namespace

std::span<const TermInfo> term_infos() {
    return kTerms;
}

const TermInfo* find_term(std::string_view name) {
    if (name == kWhere) name = "select";
    const auto* found = std::find_if(std::begin(kTerms), std::end(kTerms),
                                     [&](const TermInfo& info) { return info.name == name; });
    return found == std::end(kTerms) ? nullptr : found;
}

std::string_view name_of(Term term) {
    if (term == Term::input) return "input";
    if (term == Term::number) return "number";
    return kTerms[std::size_t(term) - 2].name;
}

std::optional<int> input_index(std::string_view word, char letter) {
    if (word.size() < 2 || word[0] != letter || word[1] < '0' || word[1] > '9') return std::nullopt;
    int index = 0;
    const auto [end, failure] = std::from_chars(word.data() + 1, word.data() + word.size(), index);
    if (failure != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if (index == std::numeric_limits<int>::max()) return std::nullopt;
    return index;
}

std::optional<PostfixMistake> parse_postfix(std::string_view text, Postfix& postfix) {
    postfix = {};
    int stack = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at, end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        at = end + 1;
        if (word.empty()) continue;
        const std::optional<Instruction> instruction = read_word(word);
        if (!instruction)
            return PostfixMistake{begin + 1,
                                  "`" + std::string(word) + "` is no operand and no operation"};
        if (instruction->operands > stack)
            return PostfixMistake{begin + 1, "`" + std::string(word) + "` needs " +
                                                 std::to_string(instruction->operands) +
                                                 " operands and finds " + std::to_string(stack)};
        stack += 1 - instruction->operands;
        postfix.depth = std::max(postfix.depth, stack);
        if (instruction->term == Term::input)
            postfix.inputs = std::max(postfix.inputs, instruction->index + 1);
        postfix.instructions.push_back(*instruction);
    }
    if (stack != 1)
        return PostfixMistake{text.size() + 1,
                              "it leaves " + std::to_string(stack) + " values instead of one"};
    return std::nullopt;
}

double apply_term(Term term, const double* operands) {
    using T = double;
    switch (term) {
#define DTNN_TERM(name, count, form, value)                       \
    case Term::name: {                                            \
        [[maybe_unused]] const T a = operands[0];                 \
        [[maybe_unused]] const T b = count > 1 ? operands[1] : 0; \
        [[maybe_unused]] const T c = count > 2 ? operands[2] : 0; \
        return value;                                             \
    }
#include "base/expression/terms.def"
#undef DTNN_TERM
        case Term::input:
        case Term::number:
            break;
    }
    return 0;
}

double evaluate(const Postfix& postfix, std::span<const double> inputs) {
    double stack[kMostEvaluatedDepth] = {};
    double* top = stack;  // behind the last value
    for (const Instruction& instruction : postfix.instructions) {
        top -= instruction.operands;
        *top = instruction.term == Term::input    ? inputs[std::size_t(instruction.index)]
               : instruction.term == Term::number ? instruction.number
                                                  : apply_term(instruction.term, top);
        ++top;
    }
    return stack[0];
}

}  // namespace dtnn
