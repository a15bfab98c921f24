#include "kernels/arguments/ctc.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/class_rows.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// log(exp(a) + exp(b)).
double log_sum(double a, double b) {
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

/// Logarithms of sums over paths, for each step and state of a sample.
struct CtcSums {
    std::int64_t count, states, steps;
    std::vector<double> to;    ///< alpha: over the paths that end there, with this step
    std::vector<double> from;  ///< beta: over those that go on from there, without it

    double& at(std::vector<double>& sums, std::int64_t t, std::int64_t s) const {
        return sums[std::size_t(t * states + s)];
    }
    double total() const {
        const auto last = std::size_t((steps - 1) * states);
        const double blank = to[last + std::size_t(states - 1)];
        return states > 1 ? log_sum(blank, to[last + std::size_t(states - 2)]) : blank;
    }
};

template <class T>
CtcSums sums_of(const LabelSequenceArguments<T>& a, std::int64_t n) {
    CtcSums sums{a.count(n), 2 * a.count(n) + 1, a.length(n), {}, {}};
    const std::int64_t states = sums.states, steps = sums.steps;
    sums.to.assign(std::size_t(steps * states), -INFINITY);
    sums.from = sums.to;
    const auto y = [&](std::int64_t t, std::int64_t s) {
        return double(a.row(n, t)[a.class_of(n, s)]);
    };
    for (std::int64_t s = 0; s < std::min<std::int64_t>(states, 2); ++s)
        sums.at(sums.to, 0, s) = y(0, s);
    for (std::int64_t t = 1; t < steps; ++t) {
        for (std::int64_t s = 0; s < states; ++s) {
            double sum = sums.at(sums.to, t - 1, s);
            if (s >= 1) sum = log_sum(sum, sums.at(sums.to, t - 1, s - 1));
            if (a.skips(n, s)) sum = log_sum(sum, sums.at(sums.to, t - 1, s - 2));
            sums.at(sums.to, t, s) = sum + y(t, s);
        }
    }
    for (std::int64_t s = std::max<std::int64_t>(states - 2, 0); s < states; ++s)
        sums.at(sums.from, steps - 1, s) = 0;
    for (std::int64_t t = steps - 2; t >= 0; --t) {
        const auto next = [&](std::int64_t s) {
            return sums.at(sums.from, t + 1, s) + y(t + 1, s);
        };
        for (std::int64_t s = 0; s < states; ++s) {
            double sum = next(s);
            if (s + 1 < states) sum = log_sum(sum, next(s + 1));
            if (s + 2 < states && a.skips(n, s + 2)) sum = log_sum(sum, next(s + 2));
            sums.at(sums.from, t, s) = sum;
        }
    }
    return sums;
}

/// Levenshtein's distance.
std::int64_t changes(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
    std::vector<std::vector<std::int64_t>> least(from.size() + 1,
                                                 std::vector<std::int64_t>(to.size() + 1));
    for (std::size_t i = 0; i <= from.size(); ++i)
        for (std::size_t j = 0; j <= to.size(); ++j) {
            if (i == 0 || j == 0) {
                least[i][j] = std::int64_t(i + j);
                continue;
            }
            const std::int64_t replaced = least[i - 1][j - 1] + (from[i - 1] != to[j - 1] ? 1 : 0);
            least[i][j] = std::min({replaced, least[i - 1][j] + 1, least[i][j - 1] + 1});
        }
    return least[from.size()][to.size()];
}

}  // namespace

DTNN_REFERENCE(ctc, CtcArguments) {
    double loss = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        const CtcSums sums = sums_of(a, n);
        loss -= a.weight(sums.count) * sums.total();
    }
    *a.dst = T(loss);
}

DTNN_REFERENCE(ctc_backward, CtcArguments) {
    std::vector<double> shares(std::size_t(a.classes));
    for (std::int64_t n = 0; n < a.samples; ++n) {
        CtcSums sums = sums_of(a, n);
        const double total = sums.total();
        for (std::int64_t t = 0; t < a.steps; ++t) {
            std::fill(shares.begin(), shares.end(), 0.0);
            if (t < sums.steps && total != -INFINITY)
                for (std::int64_t s = 0; s < sums.states; ++s)
                    shares[std::size_t(a.class_of(n, s))] +=
                        std::exp(sums.at(sums.to, t, s) + sums.at(sums.from, t, s) - total);
            for (std::int64_t c = 0; c < a.classes; ++c)
                a.dst[(n * a.steps + t) * a.classes + c] =
                    T(-a.weight(sums.count) * shares[std::size_t(c)]);
        }
    }
}

DTNN_REFERENCE(label_error_rate, LabelErrorRateArguments) {
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n) {
        std::vector<std::int64_t> best, wanted;
        std::int64_t before = a.blank;
        for (std::int64_t t = 0; t < a.length(n); ++t) {
            const std::int64_t c = first_largest(a.row(n, t), a.classes);
            if (c != before && c != a.blank) best.push_back(c);
            before = c;
        }
        for (std::int64_t u = 0; u < a.count(n); ++u)
            wanted.push_back(a.label(n, u));
        sum += double(changes(best, wanted));
    }
    *a.sum = sum;
}

}  // namespace dtnn::kernels::reference
