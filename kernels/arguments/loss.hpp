#pragma once
/// Losses over rows, their gradients, and what metrics are made of. Matrices are [N,C], row-major:
/// tensors of any rank whose classes are stored last (classes_of). What a row should be is its
/// class, i32 [N], or a share for each class, T [N,C] (targets).
///
///     q[n, c] = (1 - smoothing) * t[n, c] + smoothing / C,  t[n, c] = (c == label) or the target
///     w[c]    = class_weights, 1 unless given
///     D       = sum over rows of w[label], or N with targets (and without weights)
///
///     categorical_cross_entropy      loss = -1/D sum w q log(max(p, epsilon))
///       backward                     diff = -w q / max(p, epsilon) / D
///     softmax_cross_entropy          p = softmax(logits); loss = 1/D sum w q (log sum exp(logits -
///                                    m) - (logits - m)), m a row's largest logit
///       backward                     diff = (p sum_c(w q) - w q) / D
///     negative_log_likelihood        loss = -1/D sum w q log_probabilities
///       backward                     diff = -w q / D
///     hinge                          with the label's number y and a margin: form "largest":
///                                    loss = 1/N sum max(0, margin - y + largest of the others),
///                                    form "all": 1/(N C) sum over the others max(0, margin - y +
///                                    x)
///       backward                     of "largest": to the first largest; 0 where the maximum is 0
///     dice                           groups of numbers: with pixels > 0 a class over the `pixels`
///                                    consecutive rows of a sample, else a row; loss = mean over
///                                    groups of 1 - (2 sum p t + smooth) / (sum p + sum t +
///                                    smooth), 0 where the denominator is
///       backward                     diff of each p
///
/// These are PyTorch's cross_entropy and nll_loss with reduction "mean" (also for label_smoothing,
/// for weights, whose mean is a weighted one over labels and a plain one over targets) and, by form
/// "all", its multi_margin_loss; "largest" is Crammer and Singer's. If D is 0, so are loss and
/// gradient. With `sum` the result of hinge is not divided by N, and is f64.
///
///     categorical_accuracy           rows whose first largest number is at the label: f64
///     top_k_accuracy                 rows with less than k numbers before the label's, which are
///                                    greater, or equal and further left: f64
///     class_pairs                    i32 [N,2]: label, place of the first largest number
///     label_counts                   i64 [C,4]: true negatives, false positives, false negatives,
///                                    true positives of (prediction > threshold) by (target > 0.5)
///     label_weights                  sum of w[label]: f64
///     label_share                    batch_weight times the mean of w[label]
///     one_hot                        dst[n, c] = c == label
///     scale_classes                  dst[n, c] = src[n, c] * class_weights[c] + offsets[c]
///
/// The label of a row of targets is its first largest. A label outside [0, C) belongs to no class:
/// its row adds nothing to a loss or a gradient, is never right, and is -1 in class_pairs. diff may
/// be the first source.

#include <vector>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// Rows of numbers and what each should be.
template <class T>
struct LabelledRows : FromOperands {
    std::int64_t samples = 0, classes = 0;  ///< rows and numbers of each
    const T* src = nullptr;  ///< (log-)probabilities, logits, predictions; null where only labels
                             ///< are read
    const std::int32_t* labels = nullptr;  ///< or
    const T* targets = nullptr;
    std::byte* workspace = o.scratch();

    explicit LabelledRows(const Operands& operands) : FromOperands(operands) {
        const TensorType& first = *o.first_source().type();
        if (first.dtype == DType::i32) {
            samples = first.elements();
        } else {
            const ClassRows rows = class_rows(o.problem, first);
            samples = rows.rows, classes = rows.classes;
            src = o.first_source();
        }
        const auto wanted = o.source("labels", "targets");
        if (!wanted) return;
        if (wanted.type()->dtype == DType::i32)
            labels = wanted;
        else
            targets = wanted;
    }
};

/// negative_log_likelihood, and what the other cross entropies and all their gradients have.
template <class T>
struct ClassLossArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    double smoothing = this->o.problem.real("smoothing", 0);
    std::vector<double> class_weights = this->o.problem.reals("class_weights");  ///< empty: all 1
    T* dst = this->o.first_result();  ///< the loss or the gradient
};

template <class T>
struct CategoricalCrossEntropyArguments : ClassLossArguments<T> {
    using ClassLossArguments<T>::ClassLossArguments;
    double epsilon = this->o.problem.real("epsilon");
};

template <class T>
struct SoftmaxCrossEntropyArguments : ClassLossArguments<T> {
    using ClassLossArguments<T>::ClassLossArguments;
    T* probabilities = this->o.result("probabilities");  ///< the second result
};

template <class T>
struct HingeArguments : LabelledRows<T> {
    double margin = this->o.problem.real("margin");
    bool over_all = this->o.problem.template chosen<HingeForm>("form") == HingeForm::all;
    T* dst = nullptr;       ///< the mean or the gradient
    double* sum = nullptr;  ///< with `sum`, instead of dst

    explicit HingeArguments(const Operands& operands) : LabelledRows<T>(operands) {
        if (this->o.problem.flag("sum"))
            sum = this->o.result("loss");
        else
            dst = this->o.first_result();
    }
};

template <class T>
struct DiceArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    double smooth = this->o.problem.real("smooth");
    std::int64_t pixels = this->o.problem.integer("pixels");
    T* dst = this->o.first_result();  ///< the loss or the gradient
};

template <class T>
struct AccuracyArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    double* sum = this->o.result("right");
};

template <class T>
struct TopKAccuracyArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    std::int64_t k = this->o.problem.integer("k");
    double* sum = this->o.result("right");
};

template <class T>
struct ClassPairsArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    std::int32_t* pairs = this->o.result("pairs");
};

template <class T>
struct LabelCountsArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    double threshold = this->o.problem.real("threshold");
    std::int64_t* counts = this->o.result("counts");
};

template <class T>
struct LabelWeightsArguments : LabelledRows<T> {
    std::vector<double> class_weights = this->o.problem.reals("class_weights");
    double* sum = this->o.result("weight");

    explicit LabelWeightsArguments(const Operands& operands) : LabelledRows<T>(operands) {
        this->classes = std::int64_t(class_weights.size());
    }
};

template <class T>
struct LabelShareArguments : LabelledRows<T> {
    std::vector<double> class_weights = this->o.problem.reals("class_weights");
    const T* batch_weight = this->o.source("batch_weight");
    T* share = this->o.result("share");

    explicit LabelShareArguments(const Operands& operands) : LabelledRows<T>(operands) {
        this->classes = std::int64_t(class_weights.size());
    }
};

template <class T>
struct OneHotArguments : LabelledRows<T> {
    T* dst = this->o.result("dst");

    explicit OneHotArguments(const Operands& operands) : LabelledRows<T>(operands) {
        // The rows of a sample with several labels lie one behind the other.
        if (this->samples > 0) this->classes = this->o.result("dst").elements() / this->samples;
    }
};

template <class T>
struct ScaleClassesArguments : LabelledRows<T> {
    using LabelledRows<T>::LabelledRows;
    std::vector<double> class_weights = this->o.problem.reals("class_weights");
    /// Zeros where none are given.
    std::vector<double> offsets = [this] {
        std::vector<double> given = this->o.problem.reals("offsets");
        given.resize(class_weights.size());
        return given;
    }();
    T* dst = this->o.result("dst");
};

}  // namespace dtnn::kernels
