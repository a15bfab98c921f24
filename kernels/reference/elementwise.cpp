#include <cmath>

#include "kernels/arguments/elementwise_mean.hpp"
#include "kernels/arguments/elementwise_sums.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// Applies an operation to the top of the stack; `top` is the last value, the result takes the
/// first operand's place.
template <class T>
T* apply(Term term, T* top) {
    switch (term) {
#define DTNN_TERM(name, operands, form, value)                                  \
    case Term::name: {                                                          \
        T* const first = top - (operands - 1);                                  \
        [[maybe_unused]] const T a = first[0];                                  \
        [[maybe_unused]] const T b = operands > 1 ? first[operands > 1] : T(0); \
        [[maybe_unused]] const T c = operands > 2 ? *top : T(0);                \
        *first = value;                                                         \
        return first;                                                           \
    }
#include "base/expression/terms.def"
#undef DTNN_TERM
        case Term::input:
        case Term::number:
            break;
    }
    return top;
}

template <class T>
T evaluate(const ElementwiseArguments<T>& arguments, std::vector<T>& stack, std::int64_t i) {
    T* next = stack.data();
    for (const Instruction& instruction : arguments.expression.instructions) {
        if (instruction.term == Term::input) {
            const auto source = std::size_t(instruction.index);
            *next++ = arguments.sources[source][instruction.by_channel
                                                    ? arguments.place(i, arguments.periods[source],
                                                                      arguments.channel_stride)
                                                    : i];
        } else if (instruction.term == Term::number) {
            *next++ = T(instruction.number);
        } else {
            next = apply(instruction.term, next - 1) + 1;
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

template <class T>
void elementwise_sums_reference(const ElementwiseSumsArguments<T>& arguments, ThreadTeam&) {
    std::vector<T> stack(std::size_t(arguments.terms.expression.depth));
    std::vector<double> sums(std::size_t(arguments.numbers));
    for (std::int64_t i = 0; i < arguments.terms.count; ++i)
        sums[std::size_t(arguments.terms.place(i, arguments.numbers, arguments.channel_stride))] +=
            double(evaluate(arguments.terms, stack, i));
    for (std::size_t c = 0; c < sums.size(); ++c)
        arguments.dst[c] = T(sums[c]);
}

DTNN_REFERENCE(elementwise, ElementwiseArguments)
DTNN_REFERENCE(elementwise_mean, ElementwiseMeanArguments)
DTNN_REFERENCE(elementwise_sums, ElementwiseSumsArguments)

}  // namespace dtnn::kernels::reference
