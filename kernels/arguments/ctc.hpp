#pragma once
/// Connectionist temporal classification (Graves et al., "Connectionist temporal classification:
/// labelling unsegmented sequence data with recurrent neural networks", 2006): samples of labels
/// that are fewer than their steps, which are not told where each of them is. A sample has `steps`
/// rows of `predictions`, logarithms of probabilities [N * steps, C], of which the first T count:
/// all, or lengths[n], as length_of takes it. It has U labels, the first of its row of `labels`,
/// i32 [N * room], before one that is no class or the blank.
///
///     z       blank, label 1, blank, label 2, ... label U, blank: 2 U + 1 states
///     paths   of a state for each of the T steps, from state 0 or 1 to state 2 U or 2 U - 1; from
///     a
///             step to the next the state stays or grows by one, or by two to a label that is not
///             the one before it
///     ctc                 of a sample -log of the sum over the paths of the product over the steps
///                         of exp(y[t, z]); infinite where there is no path
///                         loss = 1/N sum over the samples of w times it, w = 1 / max(U, 1) by
///                         label, 1 by sample
///       backward          diff[t, c] = -w/N times the share of the paths that are at step t in a
///                         state of class c; 0 for steps that do not count, and where there is no
///                         path
///     label_error_rate    the sum over the samples of the least number of labels to be put in,
///                         taken out and replaced (Levenshtein, 1966), so that the best path
///                         becomes the labels: f64. The best path is the first largest class of
///                         each step, equal neighbours taken once, then the blanks taken out
///
/// These are PyTorch's ctc_loss: by label its reduction "mean", by sample the mean of its "none".

#include "base/tensor/choices.hpp"
#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/step_place.hpp"

/// Kernels of every instruction set have these functions, so none may be one of its own.
#define DTNN_CTC_INLINE __attribute__((always_inline)) DTNN_DEVICE

namespace dtnn::kernels {

/// Samples of steps, and the labels of each.
template <class T>
struct LabelSequenceArguments : FromOperands {
    std::int64_t classes = 0, steps = o.problem.integer("steps"), samples = 0;
    std::int64_t room = 0;  ///< for labels of a sample
    std::int64_t blank = o.problem.integer("blank");
    const T* src = o.first_source();
    const std::int32_t* labels = o.source("labels");
    const std::int32_t* lengths = o.source("lengths");
    std::byte* workspace = o.scratch();

    explicit LabelSequenceArguments(const Operands& operands) : FromOperands(operands) {
        const LabelSequences sequences = label_sequences(o.problem);
        classes = class_rows(o.problem, *o.first_source().type()).classes;
        samples = sequences.samples, room = sequences.room;
    }

    /// The steps of sample n that count.
    DTNN_CTC_INLINE std::int64_t length(std::int64_t n) const {
        return length_of(lengths, n, steps);
    }
    DTNN_CTC_INLINE const T* row(std::int64_t n, std::int64_t t) const {
        return src + (n * steps + t) * classes;
    }
    DTNN_CTC_INLINE std::int64_t label(std::int64_t n, std::int64_t u) const {
        return labels[n * room + u];
    }
    /// How many labels sample n has.
    DTNN_CTC_INLINE std::int64_t count(std::int64_t n) const {
        std::int64_t u = 0;
        while (u < room && label(n, u) >= 0 && label(n, u) < classes && label(n, u) != blank)
            ++u;
        return u;
    }
    /// The class of a state.
    DTNN_CTC_INLINE std::int64_t class_of(std::int64_t n, std::int64_t state) const {
        return state % 2 == 0 ? blank : label(n, state / 2);
    }
    /// Whether a path may come to the state from the one before the last.
    DTNN_CTC_INLINE bool skips(std::int64_t n, std::int64_t state) const {
        return state % 2 != 0 && state > 1 && label(n, state / 2) != label(n, state / 2 - 1);
    }
};

template <class T>
struct CtcArguments : LabelSequenceArguments<T> {
    using LabelSequenceArguments<T>::LabelSequenceArguments;
    bool by_label = this->o.problem.template chosen<LossPer>("per") == LossPer::label;
    T* dst = this->o.first_result();  ///< the loss or the gradient

    /// w / N of a sample of so many labels.
    DTNN_CTC_INLINE double weight(std::int64_t count) const {
        return 1 / (double(this->samples) * double(by_label && count > 1 ? count : 1));
    }
};

template <class T>
struct LabelErrorRateArguments : LabelSequenceArguments<T> {
    using LabelSequenceArguments<T>::LabelSequenceArguments;
    double* sum = this->o.result("errors");

    /// least[u]: the changes that make what has been read of the best path the first u labels of
    /// the sample; at first u. Another class has been read.
    DTNN_CTC_INLINE void read(std::int64_t n, std::int64_t count, std::int64_t of_path,
                              std::int32_t* least) const {
        std::int32_t before = least[0]++;
        for (std::int64_t u = 1; u <= count; ++u) {
            const std::int32_t same = before + (this->label(n, u - 1) == of_path ? 0 : 1);
            before = least[u];
            const std::int32_t other = (before < least[u - 1] ? before : least[u - 1]) + 1;
            least[u] = same < other ? same : other;
        }
    }
};

#undef DTNN_CTC_INLINE

}  // namespace dtnn::kernels
