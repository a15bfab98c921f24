#include "kernels/arguments/recurrent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

using Row = std::vector<double>;

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

/// a[k] = sum over u of state[u] * weights[u, k]; zeros without a state.
template <class T>
Row of_state(const T* state, const T* weights, std::int64_t units, std::int64_t columns) {
    Row a(static_cast<std::size_t>(columns));
    for (std::int64_t u = 0; state != nullptr && u < units; ++u)
        for (std::int64_t k = 0; k < columns; ++k)
            a[std::size_t(k)] += double(state[u]) * double(weights[u * columns + k]);
    return a;
}

/// sum over k of da[k] * weights[u, k], for each u.
template <class T>
Row to_state(const Row& da, const T* weights, std::int64_t units) {
    Row result(static_cast<std::size_t>(units));
    for (std::size_t u = 0; u < result.size(); ++u)
        for (std::size_t k = 0; k < da.size(); ++k)
            result[u] += da[k] * double(weights[u * da.size() + k]);
    return result;
}

/// visit(n, t) for all steps of every sample, in order.
template <class Visit>
void for_steps(const RecurrentSizes& a, bool backward, Visit visit) {
    for (std::int64_t n = 0; n < a.batch; ++n)
        for (std::int64_t i = 0; i < a.steps; ++i)
            visit(n, backward ? a.steps - 1 - i : i);
}

}  // namespace

DTNN_REFERENCE(rnn_steps, RnnStepsArguments) {
    for_steps(a, false, [&](auto n, auto t) {
        const T* const state = a.before(a.dst, a.state, n, t);
        const Row sum = of_state(state, a.weights, a.units, a.units);
        const std::int64_t at = a.row(n, t, a.units);
        for (std::int64_t u = 0; u < a.units; ++u)
            a.dst[at + u] = T(std::tanh(double(a.src[at + u]) + sum[std::size_t(u)]));
    });
}

DTNN_REFERENCE(rnn_steps_backward, RnnStepsBackwardArguments) {
    Row next;
    for_steps(a, true, [&](auto n, auto t) {
        if (t == a.steps - 1) next.assign(std::size_t(a.units), 0);
        const std::int64_t at = a.row(n, t, a.units);
        Row da(static_cast<std::size_t>(a.units));
        for (std::size_t u = 0; u < da.size(); ++u) {
            const double h = double(a.dst[at + std::int64_t(u)]);
            da[u] = (double(a.diff_dst[at + std::int64_t(u)]) + next[u]) * (1 - h * h);
            a.diff_src[at + std::int64_t(u)] = T(da[u]);
        }
        next = to_state(da, a.weights, a.units);
    });
}

DTNN_REFERENCE(lstm_steps, LstmStepsArguments) {
    Row cells;
    for_steps(a, false, [&](auto n, auto t) {
        if (t == 0) cells.assign(std::size_t(a.units), 0);
        if (t == 0 && a.cells_before != nullptr)
            std::copy_n(a.cells_before + n * a.units, a.units, cells.begin());
        const T* const state = a.before(a.dst, a.state, n, t);
        const std::int64_t columns = kLstmParts * a.units, from = a.row(n, t, columns),
                           to = a.row(n, t, a.units);
        Row sum = of_state(state, a.weights, a.units, columns);
        for (std::int64_t k = 0; k < columns; ++k)
            sum[std::size_t(k)] += double(a.src[from + k]);
        for (std::int64_t u = 0; u < a.units; ++u) {
            const auto part = [&](std::int64_t p) { return sum[std::size_t(p * a.units + u)]; };
            const double gates[] = {sigmoid(part(0)), sigmoid(part(1)), std::tanh(part(2)),
                                    sigmoid(part(3))};
            double& c = cells[std::size_t(u)];
            c = gates[1] * c + gates[0] * gates[2];
            a.dst[to + u] = T(gates[3] * std::tanh(c));
            if (a.gates == nullptr) continue;
            a.cells[to + u] = T(c);
            for (std::int64_t p = 0; p < kLstmParts; ++p)
                a.gates[from + p * a.units + u] = T(gates[p]);
        }
    });
}

DTNN_REFERENCE(lstm_steps_backward, LstmStepsBackwardArguments) {
    Row next, of_cells;
    for_steps(a, true, [&](auto n, auto t) {
        if (t == a.steps - 1) {
            next.assign(std::size_t(a.units), 0);
            of_cells.assign(std::size_t(a.units), 0);
        }
        const std::int64_t columns = kLstmParts * a.units, from = a.row(n, t, columns),
                           to = a.row(n, t, a.units);
        const T* const last = a.before(a.cells, a.cells_before, n, t);
        Row da(static_cast<std::size_t>(columns));
        for (std::int64_t u = 0; u < a.units; ++u) {
            const auto gate = [&](std::int64_t p) {
                return double(a.gates[from + p * a.units + u]);
            };
            const double i = gate(0), f = gate(1), g = gate(2), o = gate(3);
            const double before = last != nullptr ? double(last[u]) : 0;
            const double c = std::tanh(double(a.cells[to + u]));
            const double dh = double(a.diff_dst[to + u]) + next[std::size_t(u)];
            double& dc = of_cells[std::size_t(u)];
            dc += dh * o * (1 - c * c);
            const double parts[] = {dc * g * i * (1 - i), dc * before * f * (1 - f),
                                    dc * i * (1 - g * g), dh * c * o * (1 - o)};
            for (std::int64_t p = 0; p < kLstmParts; ++p) {
                da[std::size_t(p * a.units + u)] = parts[p];
                a.diff_src[from + p * a.units + u] = T(parts[p]);
            }
            dc *= f;
        }
        next = to_state(da, a.weights, a.units);
    });
}

DTNN_REFERENCE(gru_steps, GruStepsArguments) {
    for_steps(a, false, [&](auto n, auto t) {
        const T* const state = a.before(a.dst, a.state, n, t);
        const std::int64_t columns = kGruParts * a.units, from = a.row(n, t, columns),
                           to = a.row(n, t, a.units);
        const Row sum = of_state(state, a.weights, a.units, columns);
        for (std::int64_t u = 0; u < a.units; ++u) {
            const auto part = [&](std::int64_t p) { return sum[std::size_t(p * a.units + u)]; };
            const auto given = [&](std::int64_t p) {
                return double(a.src[from + p * a.units + u]);
            };
            const double r = sigmoid(given(0) + part(0)), z = sigmoid(given(1) + part(1)),
                         q = part(2) + double(a.bias[u]), fresh = std::tanh(given(2) + r * q);
            const double before = state != nullptr ? double(state[u]) : 0;
            a.dst[to + u] = T((1 - z) * fresh + z * before);
            if (a.gates == nullptr) continue;
            const double gates[] = {r, z, fresh, q};
            for (std::int64_t p = 0; p < kGruGates; ++p)
                a.gates[a.row(n, t, kGruGates * a.units) + p * a.units + u] = T(gates[p]);
        }
    });
}

DTNN_REFERENCE(gru_steps_backward, GruStepsBackwardArguments) {
    Row next;
    for_steps(a, true, [&](auto n, auto t) {
        if (t == a.steps - 1) next.assign(std::size_t(a.units), 0);
        const std::int64_t columns = kGruParts * a.units, from = a.row(n, t, columns),
                           gates = a.row(n, t, kGruGates * a.units), to = a.row(n, t, a.units);
        const T* const last = a.before(a.dst, a.state, n, t);
        Row hidden(static_cast<std::size_t>(columns)), kept(static_cast<std::size_t>(a.units));
        for (std::int64_t u = 0; u < a.units; ++u) {
            const auto gate = [&](std::int64_t p) {
                return double(a.gates[gates + p * a.units + u]);
            };
            const double r = gate(0), z = gate(1), fresh = gate(2), q = gate(3);
            const double before = last != nullptr ? double(last[u]) : 0;
            const double dh = double(a.diff_dst[to + u]) + next[std::size_t(u)];
            const double dn = dh * (1 - z) * (1 - fresh * fresh);
            const double parts[] = {dn * q * r * (1 - r), dh * (before - fresh) * z * (1 - z), dn};
            for (std::int64_t p = 0; p < kGruParts; ++p) {
                const double of_hidden = p == 2 ? dn * r : parts[p];
                hidden[std::size_t(p * a.units + u)] = of_hidden;
                a.diff_src[from + p * a.units + u] = T(parts[p]);
                a.diff_hidden[from + p * a.units + u] = T(of_hidden);
            }
            kept[std::size_t(u)] = dh * z;
        }
        next = to_state(hidden, a.weights, a.units);
        for (std::size_t u = 0; u < next.size(); ++u)
            next[u] += kept[u];
    });
}

}  // namespace dtnn::kernels::reference
