/// Connectionist temporal classification: a group of threads takes a sample from step to step, and
/// a thread some of its states.

#include <cmath>

#include "kernels/arguments/ctc.hpp"
#include "kernels/cuda/class_rows.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/workspace/ctc.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// log(exp(a) + exp(b)), of which either may be the logarithm of 0.
DTNN_DEVICE inline double log_sum_of_two(double a, double b) {
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return (a > b ? a : b) + std::log1p(std::exp(-std::fabs(a - b)));
}

/// Nothing: what threads tell each other stands in the workspace.
struct SharedByCtc {
    char nothing;
};

/// A sample, and the step of it that comes next.
struct CtcSample {
    std::int64_t n, states, length, step;
    double total;  ///< backward: the logarithm of its probability
};

/// Rows of ctc_row() numbers, one for each state: `rows` of them for each sample, of which steps
/// take the next by turns.
struct CtcRows {
    double* memory;
    std::int64_t rows, width;

    DTNN_DEVICE double* of(std::int64_t n, std::int64_t step) const {
        return memory + (n * rows + step % rows) * width;
    }
};

/// What the tiles of both directions are.
template <class T>
struct CtcTile {
    using Shared = SharedByCtc;
    using Own = CtcSample;
    CtcArguments<T> a;
    CtcRows to;  ///< by step, the logarithms of sums over the paths to each state

    DTNN_DEVICE std::int64_t steps() const { return a.steps; }
    DTNN_DEVICE void fetch(std::int64_t, int, CtcSample&) const {}
    DTNN_DEVICE void put(int, const CtcSample&, SharedByCtc&) const {}
    DTNN_DEVICE CtcSample sample(std::int64_t n) const {
        return {n, 2 * a.count(n) + 1, a.length(n), 0, 0};
    }
    /// The logarithm of a state's class at a step.
    DTNN_DEVICE double number(std::int64_t n, std::int64_t t, std::int64_t s) const {
        return double(a.row(n, t)[a.class_of(n, s)]);
    }
    DTNN_DEVICE double total(const CtcSample& own) const {
        const double* const last = to.of(own.n, own.length - 1);
        const double blank = last[own.states - 1];
        return own.states > 1 ? log_sum_of_two(blank, last[own.states - 2]) : blank;
    }
};

/// Forward; where `of_sample` is not null, each sample's part of the loss.
template <class T>
struct CtcPathsTo : CtcTile<T> {
    double* of_sample;

    DTNN_DEVICE void begin(std::int64_t group, int, CtcSample& own) const {
        own = this->sample(group);
    }
    DTNN_DEVICE void add(int thread, const SharedByCtc&, CtcSample& own) const {
        const std::int64_t t = own.step++;
        if (t >= own.length) return;
        double* const now = this->to.of(own.n, t);
        const double* const before = this->to.of(own.n, t > 0 ? t - 1 : 0);
        for (std::int64_t s = thread; s < own.states; s += kThreads) {
            double sum = s < 2 ? 0.0 : -INFINITY;
            if (t > 0) {
                sum = before[s];
                if (s >= 1) sum = log_sum_of_two(sum, before[s - 1]);
                if (this->a.skips(own.n, s)) sum = log_sum_of_two(sum, before[s - 2]);
            }
            now[s] = sum + this->number(own.n, t, s);
        }
    }
    DTNN_DEVICE void end(std::int64_t group, int thread, const CtcSample& own) const {
        if (thread == 0 && of_sample != nullptr)
            of_sample[group] = -this->a.weight(own.states / 2) * this->total(own);
    }
};

/// Backward: the sums over the paths that go on from a state, of the last step first; in the place
/// of those to a state, the share of the paths that are there.
template <class T>
struct CtcPathsFrom : CtcTile<T> {
    CtcRows from;  ///< with the step itself

    DTNN_DEVICE void begin(std::int64_t group, int, CtcSample& own) const {
        own = this->sample(group);
        own.total = this->total(own);
    }
    DTNN_DEVICE void add(int thread, const SharedByCtc&, CtcSample& own) const {
        const std::int64_t step = own.step++, t = own.length - 1 - step;
        if (t < 0) return;
        double *const shares = this->to.of(own.n, t), *const now = from.of(own.n, step);
        const double* const next = from.of(own.n, step > 0 ? step - 1 : 0);
        for (std::int64_t s = thread; s < own.states; s += kThreads) {
            double sum = s + 2 >= own.states ? 0.0 : -INFINITY;
            if (step > 0) {
                sum = next[s];
                if (s + 1 < own.states) sum = log_sum_of_two(sum, next[s + 1]);
                if (s + 2 < own.states && this->a.skips(own.n, s + 2))
                    sum = log_sum_of_two(sum, next[s + 2]);
            }
            now[s] = sum + this->number(own.n, t, s);
            shares[s] = own.total == -INFINITY ? 0.0 : std::exp(shares[s] + sum - own.total);
        }
    }
    DTNN_DEVICE void end(std::int64_t, int, const CtcSample&) const {}
};

/// The shares of a step's states by their classes: the blank's, and each label's where it comes
/// first.
template <class T>
DTNN_DEVICE void add_shares(const CtcArguments<T>& a, const CtcRows& to, std::int64_t n,
                            std::int64_t t, std::int64_t place) {
    const std::int64_t count = a.count(n);
    if (t >= a.length(n) || place > count) return;
    const double* const shares = to.of(n, t);
    double sum = 0;
    if (place == 0) {
        for (std::int64_t s = 0; s <= 2 * count; s += 2)
            sum += shares[s];
    } else {
        const std::int64_t label = a.label(n, place - 1);
        for (std::int64_t u = 0; u < count; ++u) {
            if (a.label(n, u) != label) continue;
            if (u < place - 1) return;
            sum += shares[2 * u + 1];
        }
    }
    const std::int64_t c = place == 0 ? a.blank : a.label(n, place - 1);
    a.dst[(n * a.steps + t) * a.classes + c] = T(-a.weight(count) * sum);
}

}  // namespace

DTNN_CUDA_KERNEL(ctc_groups, CtcArguments) {
    auto* const memory = reinterpret_cast<double*>(a.workspace);
    double* const of_sample = memory + a.samples * ctc_device_rows(a.room);
    launch.steps(a.samples, CtcPathsTo<T>{{a, CtcRows{memory, 2, ctc_row(a.room)}}, of_sample});
    add_rows<1>(launch, a.samples, reinterpret_cast<Sums<1>*>(of_sample),
                [=] DTNN_DEVICE(const Sums<1>& total) { *a.dst = T(total.of[0]); });
}

DTNN_CUDA_KERNEL(ctc_backward_groups, CtcArguments) {
    auto* const memory = reinterpret_cast<double*>(a.workspace);
    const std::int64_t width = ctc_row(a.room), places = a.room + 1;
    const CtcRows to{memory, a.steps, width};
    const CtcRows from{memory + a.samples * a.steps * width, 2, width};
    launch.steps(a.samples, CtcPathsTo<T>{{a, to}, nullptr});
    launch.steps(a.samples, CtcPathsFrom<T>{{a, to}, from});
    launch.each(a.samples * a.steps * a.classes, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = 0; });
    launch.each(a.samples * a.steps * places, [=] DTNN_DEVICE(std::int64_t i) {
        add_shares(a, to, i / places / a.steps, i / places % a.steps, i % places);
    });
}

/// The best class of each step first, then the changes of each sample.
DTNN_CUDA_KERNEL(label_error_rate_samples, LabelErrorRateArguments) {
    auto* const of_sample = reinterpret_cast<Sums<1>*>(a.workspace);
    auto* const best =
        reinterpret_cast<std::int32_t*>(of_sample + a.samples + chunk_sums_of(a.samples));
    std::int32_t* const changes = best + a.samples * a.steps;
    fold_rows<Unfolded, FirstLargest>(
        launch, a.samples * a.steps, a.classes,
        [=] DTNN_DEVICE(std::int64_t, std::int64_t) { return Unfolded{}; },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const Unfolded&) {
            return FirstLargest::of(double(a.src[row * a.classes + c]), c, 0);
        },
        [=] DTNN_DEVICE(std::int64_t row, const Unfolded&, const FirstLargest& largest) {
            best[row] = std::int32_t(largest.place);
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const Unfolded&, const FirstLargest&) {});
    launch.each(a.samples, [=] DTNN_DEVICE(std::int64_t n) {
        const std::int64_t count = a.count(n), length = a.length(n);
        std::int32_t* const least = changes + n * (a.room + 1);
        for (std::int64_t u = 0; u <= count; ++u)
            least[u] = std::int32_t(u);
        std::int64_t before = a.blank;
        for (std::int64_t t = 0; t < length; ++t) {
            const std::int64_t c = best[n * a.steps + t];
            if (c != before && c != a.blank) a.read(n, count, c, least);
            before = c;
        }
        of_sample[n] = Sums<1>{{double(least[count])}};
    });
    add_rows<1>(launch, a.samples, of_sample,
                [=] DTNN_DEVICE(const Sums<1>& total) { *a.sum = total.of[0]; });
}

}  // namespace dtnn::kernels::cuda
