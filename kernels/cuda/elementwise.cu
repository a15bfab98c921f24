#include <cmath>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/arguments/elementwise_mean.hpp"
#include "kernels/arguments/elementwise_sums.hpp"
#include "kernels/cuda/expression_stack.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/packs.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// The value of one operation.
template <class T>
DTNN_DEVICE T value_of(Term term, T a, T b, T c) {
    static_cast<void>(b);
    static_cast<void>(c);
    switch (term) {
#define DTNN_TERM(name, operands, form, value) \
    case Term::name:                           \
        return value;
#include "base/expression/terms.def"
#undef DTNN_TERM
        case Term::input:
        case Term::number:
            break;
    }
    return a;
}

/// An expression, whose stack is at most so deep, and its sources on the device. It is worked out
/// in the type that sources of 16 bits widen to.
template <class T, int kDepth>
struct Terms {
    using Number = Wide<T>;
    const Instruction* instructions;
    int count;
    const T* const* sources;
    const std::int64_t* periods;  ///< of sources read by channel
    std::int64_t channel_stride;

    /// The values of kWidth neighbours, which share the reading of the expression.
    template <int kWidth>
    DTNN_DEVICE void at(std::int64_t i, Number (&results)[kWidth]) const;
    DTNN_DEVICE Number at(std::int64_t i) const {
        Number result[1];
        at<1>(i, result);
        return result[0];
    }
};

template <int kDepth, class T>
Terms<T, kDepth> terms_of(const ElementwiseArguments<T>& a, const Launch& launch) {
    return {launch.constant(a.expression.instructions), int(a.expression.instructions.size()),
            launch.constant(a.sources), launch.constant(a.periods), a.channel_stride};
}

/// Neighbours that one access moves: 16 bytes.
template <class T>
inline constexpr int kTogether = 16 / int(sizeof(T));

template <class T, int kDepth>
template <int kWidth>
DTNN_DEVICE void Terms<T, kDepth>::at(std::int64_t i, Number (&results)[kWidth]) const {
    Number stack[kDepth][kWidth];
    int next = 0;
    for (int k = 0; k < count; ++k) {
        const Instruction& instruction = instructions[k];
        if (instruction.by_channel) {
            const auto* const numbers = reinterpret_cast<const Number*>(sources[instruction.index]);
            const std::int64_t period = periods[instruction.index];
            for (int n = 0; n < kWidth; ++n)
                stack[next][n] =
                    numbers[ElementwiseArguments<T>::place(i + n, period, channel_stride)];
            ++next;
            continue;
        }
        if (instruction.term == Term::input) {
            const auto pack =
                *reinterpret_cast<const Pack<T, kWidth>*>(sources[instruction.index] + i);
            for (int n = 0; n < kWidth; ++n)
                stack[next][n] = Number(pack.of[n]);
            ++next;
            continue;
        }
        if (instruction.term == Term::number) {
            for (int n = 0; n < kWidth; ++n)
                stack[next][n] = Number(instruction.number);
            ++next;
            continue;
        }
        next -= instruction.operands;
        for (int n = 0; n < kWidth; ++n)
            stack[next][n] =
                value_of<Number>(instruction.term, stack[next][n],
                                 instruction.operands > 1 ? stack[next + 1][n] : Number(0),
                                 instruction.operands > 2 ? stack[next + 2][n] : Number(0));
        ++next;
    }
    for (int n = 0; n < kWidth; ++n)
        results[n] = stack[0][n];
}

/// Whether the expression is the sum of its two sources, as gradients of a value that two read are.
template <class T>
bool is_sum(const ElementwiseArguments<T>& a) {
    const std::vector<Instruction>& all = a.expression.instructions;
    return all.size() == 3 && all[0].term == Term::input && !all[0].by_channel &&
           all[1].term == Term::input && !all[1].by_channel && all[2].term == Term::add;
}

/// No expression is read.
template <class T>
void add(const ElementwiseArguments<T>& a, const Launch& launch) {
    constexpr int kWidth = kTogether<T>;
    const T* const first = a.sources[a.expression.instructions[0].index];
    const T* const second = a.sources[a.expression.instructions[1].index];
    T* const dst = a.dst;
    const std::int64_t packs = a.count / kWidth;
    launch.each(packs + a.count % kWidth, [=] DTNN_DEVICE(std::int64_t i) {
        if (i >= packs) {
            const std::int64_t rest = packs * kWidth + (i - packs);
            dst[rest] = T(Wide<T>(first[rest]) + Wide<T>(second[rest]));
            return;
        }
        auto sum = pack_at<T, kWidth>(first + i * kWidth);
        const auto more = pack_at<T, kWidth>(second + i * kWidth);
        for (int n = 0; n < kWidth; ++n)
            sum.of[n] = T(Wide<T>(sum.of[n]) + Wide<T>(more.of[n]));
        store(sum, dst + i * kWidth);
    });
}

template <int kDepth, class T>
void evaluate(const ElementwiseArguments<T>& a, const Launch& launch) {
    if (is_sum(a)) return add(a, launch);
    constexpr int kWidth = kTogether<T>;
    const auto terms = terms_of<kDepth>(a, launch);
    T* const dst = a.dst;
    const std::int64_t packs = a.count / kWidth, count = a.count;
    launch.each(packs + count % kWidth, [=] DTNN_DEVICE(std::int64_t i) {
        if (i >= packs) {
            const std::int64_t rest = packs * kWidth + (i - packs);
            dst[rest] = T(terms.at(rest));
            return;
        }
        Wide<T> results[kWidth];
        terms.template at<kWidth>(i * kWidth, results);
        Pack<T, kWidth> pack;
        for (int n = 0; n < kWidth; ++n)
            pack.of[n] = T(results[n]);
        *reinterpret_cast<Pack<T, kWidth>*>(dst + i * kWidth) = pack;
    });
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

/// Neighbouring threads have neighbouring channels.
template <int kDepth, class T>
void evaluate_sums(const ElementwiseSumsArguments<T>& a, const Launch& launch) {
    const auto terms = terms_of<kDepth>(a.terms, launch);
    const std::int64_t numbers = a.numbers, stride = a.channel_stride;
    Wide<T>* const dst = a.dst;
    reduce_columns<1>(
        launch, 1, a.terms.count / numbers, numbers, reinterpret_cast<Sums<1>*>(a.sums),
        [=] DTNN_DEVICE(std::int64_t, std::int64_t row, std::int64_t c) {
            const std::int64_t outer = stride == 1 ? row : row / stride;
            const std::int64_t inner = row - outer * stride;
            return Sums<1>{{double(terms.at((outer * numbers + c) * stride + inner))}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t c, const Sums<1>& sums) {
            dst[c] = Wide<T>(sums.of[0]);
        });
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(elementwise_interpreted, ElementwiseArguments) {
    evaluate<kShallowStack>(a, launch);
}
DTNN_CUDA_KERNEL_OF_VALUES(elementwise_interpreted_deep, ElementwiseArguments) {
    evaluate<kDeepStack>(a, launch);
}

DTNN_CUDA_KERNEL(elementwise_mean_interpreted, ElementwiseMeanArguments) {
    evaluate_mean<kShallowStack>(a, launch);
}
DTNN_CUDA_KERNEL(elementwise_mean_interpreted_deep, ElementwiseMeanArguments) {
    evaluate_mean<kDeepStack>(a, launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(elementwise_sums_interpreted, ElementwiseSumsArguments) {
    evaluate_sums<kShallowStack>(a, launch);
}
DTNN_CUDA_KERNEL_OF_VALUES(elementwise_sums_interpreted_deep, ElementwiseSumsArguments) {
    evaluate_sums<kDeepStack>(a, launch);
}

}  // namespace dtnn::kernels::cuda
