#include "kernels/codegen/loop.hpp"

#include <charconv>

#include "kernels/catalogue.hpp"

namespace dtnn::kernels {

std::string text_of(const Loop& loop) {
    std::string text = std::string(name_of(loop.dtype)) + ' ' + std::string(name_of(loop.isa));
    for (const Instruction& instruction : loop.expression.instructions) {
        text += ' ';
        if (instruction.term == Term::input) {
            text += 'x' + std::to_string(instruction.index);
        } else if (instruction.term == Term::number) {
            char digits[32];
            const auto end = std::to_chars(digits, digits + sizeof digits, instruction.number).ptr;
            text.append(digits, end);
        } else {
            text += name_of(instruction.term);
        }
    }
    return text;
}

}  // namespace dtnn::kernels
