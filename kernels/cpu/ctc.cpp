#include "kernels/arguments/ctc.hpp"

#include <cmath>

#include "kernels/cpu/class_rows.hpp"
#include "kernels/cpu/logarithm.hpp"
#include "kernels/workspace/ctc.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The logarithm of what cannot be: far below any other, and finite, so that differences are.
constexpr double kNever = -1e300;
/// A sum of paths that is less is one of none.
constexpr double kPossible = -1e299;

/// log(exp(a) + exp(b) + exp(c)). What is not a number stays one.
template <class V, class Vector>
DTNN_INLINE Vector log_sum(V lanes, Vector a, Vector b, Vector c) {
    Vector largest = a > b ? a : b;
    largest = c > largest ? c : largest;
    const Vector sum = exponential(lanes, a - largest) + exponential(lanes, b - largest) +
                       exponential(lanes, c - largest);
    const Vector all = largest + logarithm(lanes, sum), never = V::broadcast(kNever);
    return never > all ? never : all;
}

/// A sample's states, and the rows that a thread has for them.
template <class T>
struct CtcStates {
    const LabelSequenceArguments<T>& a;
    std::int64_t n, count, states, length;
    double* skips;  ///< 0 for a state that may be skipped to, else kNever
    double* y;      ///< of a step, the logarithm of each state's probability

    /// `rows` has place for two rows.
    DTNN_INLINE CtcStates(const LabelSequenceArguments<T>& arguments, std::int64_t sample,
                          double* rows)
        : a(arguments),
          n(sample),
          count(a.count(sample)),
          states(2 * count + 1),
          length(a.length(sample)),
          skips(begin_row(rows)),
          y(begin_row(rows + ctc_row(a.room))) {
        for (std::int64_t s = 0; s < states; ++s)
            skips[s] = a.skips(n, s) ? 0 : kNever;
    }

    /// Where the states of a row begin, which is never anywhere else.
    DTNN_INLINE double* begin_row(double* memory) const {
        for (std::int64_t i = 0; i < ctc_row(a.room); ++i)
            memory[i] = kNever;
        return memory + kCtcMargin;
    }
    DTNN_INLINE void read(std::int64_t t) const {
        const T* const row = a.row(n, t);
        const double blank = within(double(row[a.blank]));
        for (std::int64_t s = 0; s < states; ++s)
            y[s] = blank;
        for (std::int64_t u = 0; u < count; ++u)
            y[2 * u + 1] = within(double(row[a.label(n, u)]));
    }
    static DTNN_INLINE double within(double value) { return value < kNever ? kNever : value; }

    /// The first step.
    DTNN_INLINE void begin(double* to) const {
        read(0);
        to[0] = y[0];
        if (count > 0) to[1] = y[1];
    }
    /// Step t, of what the paths are at the step before.
    DTNN_INLINE void step(std::int64_t t, const double* before, double* to) const {
        read(t);
        for_channels<double>(states, [&](auto lanes, std::int64_t s) {
            using V = decltype(lanes);
            V::store(to + s, log_sum(lanes, V::load(before + s), V::load(before + s - 1),
                                     V::load(before + s - 2) + V::load(skips + s)) +
                                 V::load(y + s));
        });
    }
    DTNN_INLINE double total(const double* last) const {
        const Lanes<double, 1> lane;
        using Vector = Lanes<double, 1>::Vector;
        const Vector blank{last[states - 1]}, label{last[states - 2]}, never{kNever};
        return log_sum(lane, blank, label, never)[0];
    }
};

}  // namespace

DTNN_KERNEL(ctc_samples, CtcArguments) {
    double* const terms = reinterpret_cast<double*>(a.workspace);
    double* const memory = terms + a.samples;
    const std::int64_t row = ctc_row(a.room);
    team.for_pieces(a.samples, 1, [&](auto begin, auto end, int thread) {
        double* const own = memory + thread * ctc_rows(a.room);
        for (std::int64_t n = begin; n < end; ++n) {
            const CtcStates<T> states(a, n, own);
            double *last = states.begin_row(own + 2 * row), *to = states.begin_row(own + 3 * row);
            states.begin(last);
            for (std::int64_t t = 1; t < states.length; ++t) {
                states.step(t, last, to);
                double* const other = last;
                last = to, to = other;
            }
            const double total = states.total(last);
            terms[n] = a.weight(states.count) * (total < kPossible ? INFINITY : -total);
        }
    });
    double loss = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        loss += terms[n];
    *a.dst = T(loss);
}

DTNN_KERNEL(ctc_backward_samples, CtcArguments) {
    double* const memory = reinterpret_cast<double*>(a.workspace);
    const std::int64_t row = ctc_row(a.room), classes = a.classes;
    team.for_pieces(a.samples, 1, [&](auto begin, auto end, int thread) {
        double* const own = memory + thread * ctc_backward_rows(a.room, a.steps, classes);
        double* const all = own + ctc_rows(a.room);
        double* const shares = all + a.steps * row;
        for (std::int64_t n = begin; n < end; ++n) {
            const CtcStates<T> states(a, n, own);
            const std::int64_t length = states.length;
            const auto to = [&](std::int64_t t) { return all + t * row + kCtcMargin; };
            for (std::int64_t t = 0; t < length; ++t)
                states.begin_row(all + t * row);
            states.begin(to(0));
            for (std::int64_t t = 1; t < length; ++t)
                states.step(t, to(t - 1), to(t));
            const double total = states.total(to(length - 1));
            const bool possible = !(total < kPossible);
            const double weight = -a.weight(states.count);
            T* const diff = a.dst + n * a.steps * classes;
            for (std::int64_t i = (possible ? length : 0) * classes; i < a.steps * classes; ++i)
                diff[i] = 0;
            if (!possible) continue;
            // Over the paths that go on from a state, without its own step and with it.
            double *from = states.begin_row(own + 2 * row), *with = states.begin_row(own + 3 * row);
            from[states.states - 1] = 0;
            if (states.count > 0) from[states.states - 2] = 0;
            for (std::int64_t t = length - 1; t >= 0; --t) {
                if (t + 1 < length)
                    for_channels<double>(states.states, [&](auto lanes, std::int64_t s) {
                        using V = decltype(lanes);
                        V::store(from + s,
                                 log_sum(lanes, V::load(with + s), V::load(with + s + 1),
                                         V::load(with + s + 2) + V::load(states.skips + s + 2)));
                    });
                states.read(t);
                for_channels<double>(states.states, [&](auto lanes, std::int64_t s) {
                    using V = decltype(lanes);
                    const auto past = V::load(from + s);
                    V::store(with + s, past + V::load(states.y + s));
                    V::store(to(t) + s,
                             exponential(lanes, V::load(to(t) + s) + past - V::broadcast(total)));
                });
                for (std::int64_t c = 0; c < classes; ++c)
                    shares[c] = 0;
                for (std::int64_t s = 0; s < states.states; ++s)
                    shares[a.class_of(n, s)] += to(t)[s];
                for (std::int64_t c = 0; c < classes; ++c)
                    diff[t * classes + c] = T(weight * shares[c]);
            }
        }
    });
}

DTNN_KERNEL(label_error_rate_samples, LabelErrorRateArguments) {
    double* const terms = reinterpret_cast<double*>(a.workspace);
    std::byte* const memory = a.workspace + a.samples * std::int64_t(sizeof(double));
    team.for_pieces(a.samples, 1, [&](auto begin, auto end, int thread) {
        auto* const least =
            reinterpret_cast<std::int32_t*>(memory + thread * label_changes(a.room));
        for (std::int64_t n = begin; n < end; ++n) {
            const std::int64_t count = a.count(n), length = a.length(n);
            for (std::int64_t u = 0; u <= count; ++u)
                least[u] = std::int32_t(u);
            std::int64_t before = a.blank;
            for (std::int64_t t = 0; t < length; ++t) {
                const std::int64_t c = first_largest(a.row(n, t), a.classes);
                const bool label = c != before && c != a.blank;
                before = c;
                if (label) a.read(n, count, c, least);
            }
            terms[n] = double(least[count]);
        }
    });
    double sum = 0;
    for (std::int64_t n = 0; n < a.samples; ++n)
        sum += terms[n];
    *a.sum = sum;
}

}  // namespace dtnn::kernels::DTNN_ISA
