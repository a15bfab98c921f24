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

DTNN_REFERENCE(elementwise, ElementwiseArguments) {
    std::vector<T> stack(std::size_t(a.expression.depth));
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = evaluate(a, stack, i);
}

DTNN_REFERENCE(elementwise_mean, ElementwiseMeanArguments) {
    std::vector<T> stack(std::size_t(a.terms.expression.depth));
    double sum = 0;
    for (std::int64_t i = 0; i < a.terms.count; ++i)
        sum += double(evaluate(a.terms, stack, i));
    if (a.sum != nullptr) {
        *a.sum = sum;
    } else {
        *a.mean = T(sum / a.divisor);
    }
}

DTNN_REFERENCE(elementwise_sums, ElementwiseSumsArguments) {
    std::vector<T> stack(std::size_t(a.terms.expression.depth));
    std::vector<double> sums(std::size_t(a.numbers));
    for (std::int64_t i = 0; i < a.terms.count; ++i)
        sums[std::size_t(a.terms.place(i, a.numbers, a.channel_stride))] +=
            double(evaluate(a.terms, stack, i));
    for (std::size_t c = 0; c < sums.size(); ++c)
        a.dst[c] = T(sums[c]);
}

}  // namespace dtnn::kernels::reference
