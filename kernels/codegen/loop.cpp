#include "kernels/codegen/loop.hpp"

#include <charconv>

#include "kernels/catalogue.hpp"

namespace dtnn::kernels {
namespace {

constexpr const char* kNames[] = {
    "source",
    "constant",
#define DTNN_TERM(name, operands, form, value) #name,
#include "kernels/terms.def"
#undef DTNN_TERM
};

}  // namespace

std::string text_of(const Loop& loop) {
    std::string text = std::string(name_of(loop.dtype)) + ' ' + std::string(name_of(loop.isa));
    for (const Instruction& instruction : loop.expression.instructions) {
        text += ' ';
        if (instruction.opcode == Opcode::source) {
            text += 'x' + std::to_string(instruction.source);
        } else if (instruction.opcode == Opcode::constant) {
            char digits[32];
            const auto end =
                std::to_chars(digits, digits + sizeof digits, instruction.constant).ptr;
            text.append(digits, end);
        } else {
            text += kNames[std::size_t(instruction.opcode)];
        }
    }
    return text;
}

}  // namespace dtnn::kernels
