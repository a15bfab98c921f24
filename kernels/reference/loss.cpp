#include "kernels/arguments/loss.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/reference/class_rows.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

template <class T>
bool counts(const LabelledRows<T>& a, std::int64_t n) {
    return a.targets != nullptr || label_of(a, n) >= 0;
}

template <class T>
double weight(const ClassLossArguments<T>& a, std::int64_t c) {
    return a.class_weights.empty() ? 1.0 : a.class_weights[std::size_t(c)];
}

/// w q
template <class T>
double share(const ClassLossArguments<T>& a, std::int64_t n, std::int64_t c) {
    const double t = a.targets != nullptr ? double(a.targets[n * a.classes + c])
                     : c == a.labels[n]   ? 1.0
                                          : 0.0;
    return weight(a, c) * ((1 - a.smoothing) * t + a.smoothing / double(a.classes));
}

/// D, or infinity where it is 0, so that all is 0.
template <class T>
double divisor(const ClassLossArguments<T>& a) {
    if (a.targets != nullptr || a.class_weights.empty()) return double(a.samples);
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        if (counts(a, n)) sum += weight(a, a.labels[n]);
    return sum != 0 ? sum : INFINITY;
}

/// The sum over rows and classes of share * term(n, c), for shares that are not 0.
template <class T, class Term>
double sum_of_shares(const ClassLossArguments<T>& a, Term term) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        if (!counts(a, n)) continue;
        for (std::int64_t c = 0; c < a.classes; ++c)
            if (share(a, n, c) != 0) sum += share(a, n, c) * term(n, c);
    }
    return sum;
}

/// diff = slope(n, c) for rows that count.
template <class T, class Slope>
void gradient(const ClassLossArguments<T>& a, Slope slope) {
    for (std::int64_t n = 0; n < a.samples; ++n)
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.dst[n * a.classes + c] = counts(a, n) ? T(slope(n, c)) : T(0);
}

template <class T>
double probability(const CategoricalCrossEntropyArguments<T>& a, std::int64_t n, std::int64_t c) {
    const double p = double(a.src[n * a.classes + c]);
    return p < a.epsilon ? a.epsilon : p;
}

/// A maximum with 0 that keeps what is not a number.
double above_zero(double value) {
    return value <= 0 ? 0 : value;
}

}  // namespace

DTNN_REFERENCE(categorical_cross_entropy, CategoricalCrossEntropyArguments) {
    const double sum = sum_of_shares(
        a, [&](std::int64_t n, std::int64_t c) { return -std::log(probability(a, n, c)); });
    *a.dst = T(sum / divisor(a));
}

DTNN_REFERENCE(categorical_cross_entropy_backward, CategoricalCrossEntropyArguments) {
    const double d = divisor(a);
    gradient(a, [&](std::int64_t n, std::int64_t c) {
        return share(a, n, c) != 0 ? -share(a, n, c) / probability(a, n, c) / d : 0.0;
    });
}

DTNN_REFERENCE(softmax_cross_entropy, SoftmaxCrossEntropyArguments) {
    double total = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const T* const logits = a.src + n * a.classes;
        const double largest = double(*std::max_element(logits, logits + a.classes));
        double sum = 0;
        for (std::int64_t c = 0; c < a.classes; ++c)
            sum += std::exp(double(logits[c]) - largest);
        // Before the row's probabilities, which may take the place of its logits.
        for (std::int64_t c = 0; c < a.classes && counts(a, n); ++c)
            if (share(a, n, c) != 0)
                total += share(a, n, c) * (std::log(sum) + largest - double(logits[c]));
        for (std::int64_t c = 0; c < a.classes; ++c)
            a.probabilities[n * a.classes + c] = T(std::exp(double(logits[c]) - largest) / sum);
    }
    *a.dst = T(total / divisor(a));
}

DTNN_REFERENCE(softmax_cross_entropy_backward, ClassLossArguments) {
    const double d = divisor(a);
    gradient(a, [&](std::int64_t n, std::int64_t c) {
        double all = 0;
        for (std::int64_t other = 0; other < a.classes; ++other)
            all += share(a, n, other);
        return (double(a.src[n * a.classes + c]) * all - share(a, n, c)) / d;
    });
}

DTNN_REFERENCE(negative_log_likelihood, ClassLossArguments) {
    const double sum = sum_of_shares(
        a, [&](std::int64_t n, std::int64_t c) { return -double(a.src[n * a.classes + c]); });
    *a.dst = T(sum / divisor(a));
}

DTNN_REFERENCE(negative_log_likelihood_backward, ClassLossArguments) {
    const double d = divisor(a);
    gradient(a, [&](std::int64_t n, std::int64_t c) { return -share(a, n, c) / d; });
}

DTNN_REFERENCE(hinge, HingeArguments) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const std::int64_t label = label_of(a, n);
        if (label < 0) continue;
        const T* const row = a.src + n * a.classes;
        const double mine = double(row[label]);
        double largest = -INFINITY;
        for (std::int64_t c = 0; c < a.classes; ++c) {
            if (c == label) continue;
            if (a.over_all) sum += above_zero(a.margin - mine + double(row[c])) / double(a.classes);
            largest = std::max(largest, double(row[c]));
        }
        if (!a.over_all) sum += above_zero(a.margin - mine + largest);
    }
    if (a.sum) {
        *a.sum = sum;
    } else {
        *a.dst = T(sum / double(a.samples));
    }
}

DTNN_REFERENCE(hinge_backward, HingeArguments) {
    const double slope = 1 / double(a.samples) / (a.over_all ? double(a.classes) : 1.0);
    std::vector<double> row;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        row.assign(a.src + n * a.classes, a.src + (n + 1) * a.classes);
        T* const diff = a.dst + n * a.classes;
        std::fill(diff, diff + a.classes, T(0));
        if (label_of(a, n) < 0) continue;
        const std::size_t label = std::size_t(label_of(a, n));
        std::vector<std::size_t> counted;
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (c == label) continue;
            if (a.over_all) {
                counted.push_back(c);
            } else if (counted.empty() || row[c] > row[counted[0]]) {
                counted = {c};
            }
        }
        double all = 0;
        for (const std::size_t c : counted) {
            if (!(a.margin - row[label] + row[c] > 0)) continue;
            diff[c] = T(slope);
            all += slope;
        }
        diff[label] = T(-all);
    }
}

namespace {

/// Calls group(places, targets) for every group of dice: where its numbers lie, and what they
/// should be.
template <class T, class Visit>
std::int64_t for_groups(const DiceArguments<T>& a, Visit visit) {
    const auto target = [&](std::int64_t row, std::int64_t c) {
        return a.targets != nullptr ? double(a.targets[row * a.classes + c])
               : c == a.labels[row] ? 1.0
                                    : 0.0;
    };
    std::int64_t groups = 0;
    std::vector<std::int64_t> places;
    std::vector<double> targets;
    const auto add = [&](std::int64_t row, std::int64_t c) {
        places.push_back(row * a.classes + c);
        targets.push_back(target(row, c));
    };
    const auto done = [&] {
        visit(places, targets);
        places.clear();
        targets.clear();
        ++groups;
    };
    if (a.pixels == 0) {
        for (std::int64_t n = 0; n < a.samples; ++n, done())
            for (std::int64_t c = 0; c < a.classes; ++c)
                add(n, c);
    } else {
        for (std::int64_t first = 0; first < a.samples; first += a.pixels)
            for (std::int64_t c = 0; c < a.classes; ++c, done())
                for (std::int64_t pixel = 0; pixel < a.pixels; ++pixel)
                    add(first + pixel, c);
    }
    return groups;
}

}  // namespace

DTNN_REFERENCE(dice, DiceArguments) {
    double loss = 0;
    const std::int64_t groups =
        for_groups(a, [&](const auto& places, const std::vector<double>& targets) {
            double both = 0, all = a.smooth;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const double p = double(a.src[places[i]]);
                both += p * targets[i];
                all += p + targets[i];
            }
            if (all != 0) loss += 1 - (2 * both + a.smooth) / all;
        });
    *a.dst = T(loss / double(groups));
}

DTNN_REFERENCE(dice_backward, DiceArguments) {
    const std::int64_t groups = for_groups(a, [](const auto&, const auto&) {});
    for_groups(a, [&](const auto& places, const std::vector<double>& targets) {
        double both = 0, all = a.smooth;
        for (std::size_t i = 0; i < places.size(); ++i) {
            both += double(a.src[places[i]]) * targets[i];
            all += double(a.src[places[i]]) + targets[i];
        }
        for (std::size_t i = 0; i < places.size(); ++i) {
            const double slope =
                all != 0 ? (2 * both + a.smooth) / all / all - 2 * targets[i] / all : 0;
            a.dst[places[i]] = T(slope / double(groups));
        }
    });
}

}  // namespace dtnn::kernels::reference
