#pragma once
/// Losses over rows, their gradients, and what metrics are made of. Matrices are [N,C], row-major.
/// What a row should be is its class, i32 [N], or a share for each class, T [N,C] (targets).
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
///     one_hot                        dst[n, c] = c == label
///     scale_classes                  dst[n, c] = src[n, c] * class_weights[c]
///
/// The label of a row of targets is its first largest. A label outside [0, C) belongs to no class:
/// its row adds nothing to a loss or a gradient, is never right, and is -1 in class_pairs. diff may
/// be the first source.

#include <vector>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct ClassificationArguments {
    std::int64_t samples = 0, classes = 0;  ///< rows and numbers of each
    double epsilon = 0;                     ///< categorical_cross_entropy
    double smoothing = 0;
    double margin = 1;                  ///< hinge
    bool over_all = false;              ///< hinge of form "all"
    double smooth = 1;                  ///< dice
    std::int64_t pixels = 0;            ///< dice
    std::int64_t k = 1;                 ///< top_k_accuracy
    double threshold = 0;               ///< label_counts
    bool summed = false;                ///< hinge: the sum, in f64, not the mean
    std::vector<double> class_weights;  ///< empty: all 1

    const T* src = nullptr;  ///< (log-)probabilities, logits, predictions; null where only labels
                             ///< are read
    const std::int32_t* labels = nullptr;  ///< or
    const T* targets = nullptr;
    T* dst = nullptr;                ///< the loss, the gradient, the rows of one_hot
    double* sum = nullptr;           ///< a result that is f64
    std::int32_t* pairs = nullptr;   ///< class_pairs
    std::int64_t* counts = nullptr;  ///< label_counts
    T* probabilities = nullptr;      ///< softmax_cross_entropy's second result
    std::byte* workspace = nullptr;

    static ClassificationArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
