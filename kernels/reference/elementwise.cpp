#include <cmath>

#include "kernels/arguments/elementwise_mean.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// Applies an operation to the top of the stack; `top` is the last value, the result takes the
/// first operand's place.
template <class T>
T* apply(Opcode opcode, T* top) {
    switch (opcode) {
        case Opcode::add:
            top[-1] += top[0];
            return top - 1;
        case Opcode::sub:
            top[-1] -= top[0];
            return top - 1;
        case Opcode::mul:
            top[-1] *= top[0];
            return top - 1;
        case Opcode::div:
            top[-1] /= top[0];
            return top - 1;
        case Opcode::max:
            top[-1] = top[-1] >= top[0] || std::isnan(top[-1]) ? top[-1] : top[0];
            return top - 1;
        case Opcode::min:
            top[-1] = top[-1] <= top[0] || std::isnan(top[-1]) ? top[-1] : top[0];
            return top - 1;
        case Opcode::gt:
            top[-1] = top[-1] > top[0] ? T(1) : T(0);
            return top - 1;
        case Opcode::ge:
            top[-1] = top[-1] >= top[0] ? T(1) : T(0);
            return top - 1;
        case Opcode::eq:
            top[-1] = top[-1] == top[0] ? T(1) : T(0);
            return top - 1;
        case Opcode::neg:
            *top = -*top;
            return top;
        case Opcode::abs:
            *top = std::abs(*top);
            return top;
        case Opcode::exp:
            *top = std::exp(*top);
            return top;
        case Opcode::expm1:
            *top = std::expm1(*top);
            return top;
        case Opcode::log1p:
            *top = std::log1p(*top);
            return top;
        case Opcode::atanh:
            *top = std::atanh(*top);
            return top;
        case Opcode::erf:
            *top = std::erf(*top);
            return top;
        case Opcode::log:
            *top = std::log(*top);
            return top;
        case Opcode::sqrt:
            *top = std::sqrt(*top);
            return top;
        case Opcode::tanh:
            *top = std::tanh(*top);
            return top;
        case Opcode::sigmoid:
            *top = T(1) / (T(1) + std::exp(-*top));
            return top;
        case Opcode::select:
            top[-2] = top[-2] != T(0) ? top[-1] : top[0];
            return top - 2;
        case Opcode::source:
        case Opcode::constant:
            break;
    }
    return top;
}

template <class T>
T evaluate(const ElementwiseArguments<T>& arguments, std::vector<T>& stack, std::int64_t i) {
    T* next = stack.data();
    for (const Instruction& instruction : arguments.expression.instructions) {
        if (instruction.opcode == Opcode::source) {
            *next++ = arguments.sources[std::size_t(instruction.source)][i];
        } else if (instruction.opcode == Opcode::constant) {
            *next++ = T(instruction.constant);
        } else {
            next = apply(instruction.opcode, next - 1) + 1;
        }
    }
    return stack[0];
}

}  // namespace

template <class T>
void elementwise_reference(const ElementwiseArguments<T>& arguments, ThreadTeam&) {
    std::vector<T> stack(std::size_t(arguments.expression.depth));
    for (std::int64_t i = 0; i < arguments.count; ++i)
        arguments.dst[i] = evaluate(arguments, stack, i);
}

template <class T>
void elementwise_mean_reference(const ElementwiseMeanArguments<T>& arguments, ThreadTeam&) {
    std::vector<T> stack(std::size_t(arguments.terms.expression.depth));
    double sum = 0;
    for (std::int64_t i = 0; i < arguments.terms.count; ++i)
        sum += double(evaluate(arguments.terms, stack, i));
    if (arguments.sum != nullptr) {
        *arguments.sum = sum;
    } else {
        *arguments.mean = T(sum / arguments.divisor);
    }
}

DTNN_REFERENCE(elementwise, ElementwiseArguments)
DTNN_REFERENCE(elementwise_mean, ElementwiseMeanArguments)

}  // namespace dtnn::kernels::reference
