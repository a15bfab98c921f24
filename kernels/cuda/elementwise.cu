#include <cmath>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/arguments/elementwise_mean.hpp"
#include "kernels/cuda/expression_stack.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// An expression, whose stack is at most so deep, and its sources on the device.
template <class T, int kDepth>
struct Terms {
    const Instruction* instructions;
    int count;
    const T* const* sources;

    DTNN_DEVICE T at(std::int64_t i) const;
};

template <int kDepth, class T>
Terms<T, kDepth> terms_of(const ElementwiseArguments<T>& a, const Launch& launch) {
    return {launch.constant(a.expression.instructions), int(a.expression.instructions.size()),
            launch.constant(a.sources)};
}

template <class T, int kDepth>
DTNN_DEVICE T Terms<T, kDepth>::at(std::int64_t i) const {
    T stack[kDepth];
    int next = 0;
    for (int k = 0; k < count; ++k) {
        const Instruction& instruction = instructions[k];
        if (instruction.opcode == Opcode::source) {
            stack[next++] = sources[instruction.source][i];
            continue;
        }
        if (instruction.opcode == Opcode::constant) {
            stack[next++] = T(instruction.constant);
            continue;
        }
        next -= instruction.operands;
        const T a = stack[next];
        const T b = instruction.operands > 1 ? stack[next + 1] : T(0);
        const T c = instruction.operands > 2 ? stack[next + 2] : T(0);
        T result = a;
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
        static_cast<void>(b);
        static_cast<void>(c);
        stack[next++] = result;
    }
    return stack[0];
}

template <int kDepth, class T>
void evaluate(const ElementwiseArguments<T>& a, const Launch& launch) {
    const auto terms = terms_of<kDepth>(a, launch);
    T* const dst = a.dst;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { dst[i] = terms.at(i); });
}

template <int kDepth, class T>
void evaluate_mean(const ElementwiseMeanArguments<T>& a, const Launch& launch) {
    const auto terms = terms_of<kDepth>(a.terms, launch);
    T* const mean = a.mean;
    double* const sum = a.sum;
    const double divisor = a.divisor;
    reduce_all<1>(
        launch, a.terms.count, reinterpret_cast<Sums<1>*>(a.sums_of_chunks),
        [=] DTNN_DEVICE(std::int64_t i) { return Sums<1>{{double(terms.at(i))}}; },
        [=] DTNN_DEVICE(const Sums<1>& total) {
            if (sum != nullptr) {
                *sum = total.of[0];
            } else {
                *mean = T(total.of[0] / divisor);
            }
        });
}

}  // namespace

template <class T>
void elementwise_interpreted(const ElementwiseArguments<T>& a, const Launch& launch) {
    evaluate<kShallowStack>(a, launch);
}
template <class T>
void elementwise_interpreted_deep(const ElementwiseArguments<T>& a, const Launch& launch) {
    evaluate<kDeepStack>(a, launch);
}

template <class T>
void elementwise_mean_interpreted(const ElementwiseMeanArguments<T>& a, const Launch& launch) {
    evaluate_mean<kShallowStack>(a, launch);
}
template <class T>
void elementwise_mean_interpreted_deep(const ElementwiseMeanArguments<T>& a, const Launch& launch) {
    evaluate_mean<kDeepStack>(a, launch);
}

DTNN_CUDA_KERNEL(elementwise_interpreted, ElementwiseArguments)
DTNN_CUDA_KERNEL(elementwise_interpreted_deep, ElementwiseArguments)
DTNN_CUDA_KERNEL(elementwise_mean_interpreted, ElementwiseMeanArguments)
DTNN_CUDA_KERNEL(elementwise_mean_interpreted_deep, ElementwiseMeanArguments)

}  // namespace dtnn::kernels::cuda
