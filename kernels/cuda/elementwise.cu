#include <cmath>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/arguments/elementwise_mean.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// Values on the stack of an expression (catalogue/device.cpp refuses deeper ones).
constexpr int kDepth = 8;

/// An expression and its sources on the device.
template <class T>
struct Terms {
    const Instruction* instructions;
    int count;
    const T* const* sources;

    DTNN_DEVICE T at(std::int64_t i) const;
};

template <class T>
Terms<T> terms_of(const ElementwiseArguments<T>& a, const Launch& launch) {
    return {launch.constant(a.expression.instructions), int(a.expression.instructions.size()),
            launch.constant(a.sources)};
}

template <class T>
DTNN_DEVICE T Terms<T>::at(std::int64_t i) const {
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

}  // namespace

template <class T>
void elementwise_interpreted(const ElementwiseArguments<T>& a, const Launch& launch) {
    const Terms<T> terms = terms_of(a, launch);
    T* const dst = a.dst;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { dst[i] = terms.at(i); });
}

template <class T>
void elementwise_mean_interpreted(const ElementwiseMeanArguments<T>& a, const Launch& launch) {
    const Terms<T> terms = terms_of(a.terms, launch);
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

DTNN_CUDA_KERNEL(elementwise_interpreted, ElementwiseArguments)
DTNN_CUDA_KERNEL(elementwise_mean_interpreted, ElementwiseMeanArguments)

}  // namespace dtnn::kernels::cuda
