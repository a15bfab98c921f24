/// Recurrent cells: a thread takes some samples through all steps by itself, so that nobody waits
/// at a step; what a sample gets depends on no other. The weights are packed once, in panels of two
/// vectors, and read from the caches by a dozen samples at a time.

#include "kernels/arguments/recurrent.hpp"

#include <cmath>

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/small_products.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

template <int kCount>
DTNN_INLINE typename Lanes<double, kCount>::Vector hyperbolic_tangent(
    Lanes<double, kCount>, typename Lanes<double, kCount>::Vector x) {
    for (int lane = 0; lane < kCount; ++lane)
        x[lane] = std::tanh(x[lane]);
    return x;
}

/// A matrix [rows, columns] in panels of two vectors of columns, zeros behind the last.
template <class T>
struct Panels {
    static constexpr std::int64_t kWidth = 2 * kLanes<T>;

    const T* first;
    std::int64_t rows, columns;

    std::int64_t count() const { return (columns + kWidth - 1) / kWidth; }
    /// Those of the matrix whose element (r, c) is at from[r * row + c * column].
    static Panels pack(const T* from, std::int64_t row, std::int64_t column, std::int64_t rows,
                       std::int64_t columns, T* to, ThreadTeam& team) {
        const Panels panels{to, rows, columns};
        team.for_pieces(panels.count(), 1, [&](auto begin, auto end, int) {
            for (std::int64_t panel = begin; panel < end; ++panel) {
                T* line = to + panel * rows * kWidth;
                for (std::int64_t r = 0; r < rows; ++r, line += kWidth)
                    for (std::int64_t i = 0; i < kWidth; ++i) {
                        const std::int64_t c = panel * kWidth + i;
                        line[i] = c < columns ? from[r * row + c * column] : T(0);
                    }
            }
        });
        return panels;
    }
    /// c += a * this, c with whole panels of columns.
    void add_product(std::int64_t count, const SmallMatrix<T>& a, T* c, std::int64_t c_row) const {
        for (std::int64_t panel = 0; panel < this->count(); ++panel)
            multiply_small_strip<T, 2>(count, rows, a, first + panel * rows * kWidth, kWidth,
                                       c + panel * kWidth, c_row);
    }
};

template <class T>
DTNN_INLINE void copy_numbers(T* to, const T* from, std::int64_t count) {
    __builtin_memcpy(to, from, std::size_t(count) * sizeof(T));
}

/// body(first sample, samples, thread), for all samples of a batch.
template <class Body>
DTNN_INLINE void for_samples(const RecurrentSizes& a, ThreadTeam& team, Body body) {
    const std::int64_t share = (a.batch + team.size() - 1) / team.size();
    const std::int64_t rows = share < kRecurrentRows ? share : kRecurrentRows;
    team.for_pieces((a.batch + rows - 1) / rows, 1, [&](auto begin, auto end, int thread) {
        for (std::int64_t block = begin; block < end; ++block) {
            const std::int64_t first = block * rows, left = a.batch - first;
            body(first, left < rows ? left : rows, thread);
        }
    });
}

/// All steps of a cell. begin(n, sums) fills what a step of sample n adds up, `parts` of `units`
/// numbers, before the state's product comes to it; end(n, t, sums, cells) makes the step's state
/// of them, in a.dst. `cells` begin as those of `cells_before`, [N, units], or as zeros.
template <class T, class Arguments, class Begin, class End>
DTNN_INLINE void recur(const Arguments& a, ThreadTeam& team, std::int64_t parts,
                       const T* cells_before, Begin begin, End end) {
    const std::int64_t columns = parts * a.units, row = padded_columns(columns),
                       cells_row = padded_columns(a.units);
    T* const memory = reinterpret_cast<T*>(a.workspace);
    const auto weights = Panels<T>::pack(a.weights, columns, 1, a.units, columns, memory, team);
    T* const of_threads = memory + recurrent_panels(a.units, columns);
    for_samples(a, team, [&](std::int64_t first, std::int64_t count, int thread) {
        T* const sums = of_threads + thread * recurrent_rows(parts, a.units);
        T* const cells = sums + kRecurrentRows * row;
        clear_numbers(cells, kRecurrentRows * cells_row);
        for (std::int64_t n = 0; cells_before != nullptr && n < count; ++n)
            copy_numbers(cells + n * cells_row, cells_before + (first + n) * a.units, a.units);
        for (std::int64_t t = 0; t < a.steps; ++t) {
            for (std::int64_t n = 0; n < count; ++n) {
                begin(first + n, t, sums + n * row);
                clear_numbers(sums + n * row + columns, row - columns);
            }
            if (const T* const state = a.before(a.dst, a.state, first, t))
                weights.add_product(count, {state, t > 0 ? a.steps * a.units : a.units}, sums, row);
            for (std::int64_t n = 0; n < count; ++n)
                end(first + n, t, sums + n * row, cells + n * cells_row);
        }
    });
}

/// The way back: step(n, t, dh, dc) makes of the gradient dh of the state that of the sums, in
/// `diff`, rows of parts * units numbers, and leaves in dh what goes to the state before without
/// them.
template <class T, class Arguments, class Step>
DTNN_INLINE void recur_back(const Arguments& a, ThreadTeam& team, std::int64_t parts, const T* diff,
                            Step step) {
    const std::int64_t columns = parts * a.units, row = padded_columns(a.units);
    T* const memory = reinterpret_cast<T*>(a.workspace);
    const auto across = Panels<T>::pack(a.weights, 1, columns, columns, a.units, memory, team);
    T* const of_threads = memory + recurrent_panels(columns, a.units);
    for_samples(a, team, [&](std::int64_t first, std::int64_t count, int thread) {
        T* const state = of_threads + thread * recurrent_backward_rows(a.units);
        T* const cells = state + kRecurrentRows * row;
        clear_numbers(state, recurrent_backward_rows(a.units));
        for (std::int64_t t = a.steps - 1; t >= 0; --t) {
            for (std::int64_t n = 0; n < count; ++n)
                step(first + n, t, state + n * row, cells + n * row);
            if (t > 0)
                across.add_product(count, {diff + a.row(first, t, columns), a.steps * columns},
                                   state, row);
        }
    });
}

}  // namespace

DTNN_KERNEL(rnn_steps_samples, RnnStepsArguments) {
    recur<T>(
        a, team, kRnnParts, nullptr,
        [&](std::int64_t n, std::int64_t t, T* sums) {
            copy_numbers(sums, a.src + a.row(n, t, a.units), a.units);
        },
        [&](std::int64_t n, std::int64_t t, const T* sums, T*) {
            T* const h = a.dst + a.row(n, t, a.units);
            for_channels<T>(a.units, [&](auto lanes, std::int64_t u) {
                using V = decltype(lanes);
                V::store(h + u, hyperbolic_tangent(lanes, V::load(sums + u)));
            });
        });
}

DTNN_KERNEL(rnn_steps_backward_samples, RnnStepsBackwardArguments) {
    recur_back<T>(a, team, kRnnParts, a.diff_src, [&](std::int64_t n, std::int64_t t, T* dh, T*) {
        const std::int64_t at = a.row(n, t, a.units);
        for_channels<T>(a.units, [&](auto lanes, std::int64_t u) {
            using V = decltype(lanes);
            const auto h = V::load(a.dst + at + u);
            const auto all = V::load(dh + u) + V::load(a.diff_dst + at + u);
            V::store(a.diff_src + at + u, all * (V::broadcast(1) - h * h));
            V::store(dh + u, V::zero());
        });
    });
}

DTNN_KERNEL(lstm_steps_samples, LstmStepsArguments) {
    const std::int64_t units = a.units, columns = kLstmParts * units;
    recur<T>(
        a, team, kLstmParts, a.cells_before,
        [&](std::int64_t n, std::int64_t t, T* sums) {
            copy_numbers(sums, a.src + a.row(n, t, columns), columns);
        },
        [&](std::int64_t n, std::int64_t t, T* sums, T* cells) {
            T* const h = a.dst + a.row(n, t, units);
            for_channels<T>(units, [&](auto lanes, std::int64_t u) {
                using V = decltype(lanes);
                const auto i = sigmoid(lanes, V::load(sums + u)),
                           f = sigmoid(lanes, V::load(sums + units + u)),
                           g = hyperbolic_tangent(lanes, V::load(sums + 2 * units + u)),
                           o = sigmoid(lanes, V::load(sums + 3 * units + u));
                const auto c = f * V::load(cells + u) + i * g;
                V::store(cells + u, c);
                V::store(h + u, o * hyperbolic_tangent(lanes, c));
                V::store(sums + u, i);
                V::store(sums + units + u, f);
                V::store(sums + 2 * units + u, g);
                V::store(sums + 3 * units + u, o);
            });
            if (a.gates == nullptr) return;
            copy_numbers(a.gates + a.row(n, t, columns), sums, columns);
            copy_numbers(a.cells + a.row(n, t, units), cells, units);
        });
}

DTNN_KERNEL(lstm_steps_backward_samples, LstmStepsBackwardArguments) {
    const std::int64_t units = a.units, columns = kLstmParts * units;
    recur_back<T>(
        a, team, kLstmParts, a.diff_src, [&](std::int64_t n, std::int64_t t, T* dh, T* dc) {
            const std::int64_t at = a.row(n, t, units);
            const T* const gates = a.gates + a.row(n, t, columns);
            const T* const before = a.before(a.cells, a.cells_before, n, t);
            T* const da = a.diff_src + a.row(n, t, columns);
            for_channels<T>(units, [&](auto lanes, std::int64_t u) {
                using V = decltype(lanes);
                const auto one = V::broadcast(1);
                const auto i = V::load(gates + u), f = V::load(gates + units + u),
                           g = V::load(gates + 2 * units + u), o = V::load(gates + 3 * units + u);
                const auto c = hyperbolic_tangent(lanes, V::load(a.cells + at + u));
                const auto of_state = V::load(dh + u) + V::load(a.diff_dst + at + u);
                const auto of_cell = V::load(dc + u) + of_state * o * (one - c * c);
                const auto last = before != nullptr ? V::load(before + u) : V::zero();
                V::store(da + u, of_cell * g * i * (one - i));
                V::store(da + units + u, of_cell * last * f * (one - f));
                V::store(da + 2 * units + u, of_cell * i * (one - g * g));
                V::store(da + 3 * units + u, of_state * c * o * (one - o));
                V::store(dc + u, of_cell * f);
                V::store(dh + u, V::zero());
            });
        });
}

DTNN_KERNEL(gru_steps_samples, GruStepsArguments) {
    const std::int64_t units = a.units, columns = kGruParts * units;
    recur<T>(
        a, team, kGruParts, a.state,
        [&](std::int64_t n, std::int64_t t, T* sums) {
            copy_numbers(sums, a.src + a.row(n, t, columns), 2 * units);
            copy_numbers(sums + 2 * units, a.bias, units);
        },
        [&](std::int64_t n, std::int64_t t, const T* sums, T* state) {
            const T* const fresh = a.src + a.row(n, t, columns) + 2 * units;
            T* const h = a.dst + a.row(n, t, units);
            T* const gates =
                a.gates == nullptr ? nullptr : a.gates + a.row(n, t, kGruGates * units);
            for_channels<T>(units, [&](auto lanes, std::int64_t u) {
                using V = decltype(lanes);
                const auto r = sigmoid(lanes, V::load(sums + u)),
                           z = sigmoid(lanes, V::load(sums + units + u)),
                           q = V::load(sums + 2 * units + u);
                const auto made = hyperbolic_tangent(lanes, V::load(fresh + u) + r * q);
                const auto next = (V::broadcast(1) - z) * made + z * V::load(state + u);
                V::store(state + u, next);
                V::store(h + u, next);
                if (gates == nullptr) return;
                V::store(gates + u, r);
                V::store(gates + units + u, z);
                V::store(gates + 2 * units + u, made);
                V::store(gates + 3 * units + u, q);
            });
        });
}

DTNN_KERNEL(gru_steps_backward_samples, GruStepsBackwardArguments) {
    const std::int64_t units = a.units, columns = kGruParts * units;
    recur_back<T>(a, team, kGruParts, a.diff_hidden,
                  [&](std::int64_t n, std::int64_t t, T* dh, T*) {
                      const std::int64_t at = a.row(n, t, units), to = a.row(n, t, columns);
                      const T* const gates = a.gates + a.row(n, t, kGruGates * units);
                      const T* const before = a.before(a.dst, a.state, n, t);
                      for_channels<T>(units, [&](auto lanes, std::int64_t u) {
                          using V = decltype(lanes);
                          const auto one = V::broadcast(1);
                          const auto r = V::load(gates + u), z = V::load(gates + units + u),
                                     made = V::load(gates + 2 * units + u),
                                     q = V::load(gates + 3 * units + u);
                          const auto of_state = V::load(dh + u) + V::load(a.diff_dst + at + u);
                          const auto last = before != nullptr ? V::load(before + u) : V::zero();
                          const auto dn = of_state * (one - z) * (one - made * made);
                          const auto dr = dn * q * r * (one - r),
                                     dz = of_state * (last - made) * z * (one - z);
                          for (T* const diff : {a.diff_src + to, a.diff_hidden + to}) {
                              V::store(diff + u, dr);
                              V::store(diff + units + u, dz);
                          }
                          V::store(a.diff_src + to + 2 * units + u, dn);
                          V::store(a.diff_hidden + to + 2 * units + u, dn * r);
                          V::store(dh + u, of_state * z);
                      });
                  });
}

}  // namespace dtnn::kernels::DTNN_ISA
