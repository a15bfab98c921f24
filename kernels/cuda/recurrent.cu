/// Recurrent cells where no library does them: a launch for each step, in which a thread works out
/// a unit of a sample.

#include <cmath>

#include "kernels/arguments/recurrent.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

DTNN_DEVICE double squashed(double x) {
    return 1 / (1 + std::exp(-x));
}

/// The sum over the state of state[k] * weights[k, column].
template <class T>
DTNN_DEVICE double of_state(const T* state, const T* weights, std::int64_t units,
                            std::int64_t columns, std::int64_t column) {
    double sum = 0;
    for (std::int64_t k = 0; k < units; ++k)
        sum += double(state[k]) * double(weights[k * columns + column]);
    return sum;
}

/// The sum over the columns of diff[k] * weights[unit, k].
template <class T>
DTNN_DEVICE double to_state(const T* diff, const T* weights, std::int64_t columns,
                            std::int64_t unit) {
    double sum = 0;
    for (std::int64_t k = 0; k < columns; ++k)
        sum += double(diff[k]) * double(weights[unit * columns + k]);
    return sum;
}

/// step(n, u, t), for all units of all samples, step by step.
template <class Step>
void forward(const Launch& launch, const RecurrentSizes& a, const Step& step) {
    const std::int64_t units = a.units;
    for (std::int64_t t = 0; t < a.steps; ++t)
        launch.each(a.batch * units,
                    [=] DTNN_DEVICE(std::int64_t i) { step(i / units, i % units, t); });
}
template <class Step>
void backward(const Launch& launch, const RecurrentSizes& a, const Step& step) {
    const std::int64_t units = a.units;
    for (std::int64_t t = a.steps - 1; t >= 0; --t)
        launch.each(a.batch * units,
                    [=] DTNN_DEVICE(std::int64_t i) { step(i / units, i % units, t); });
}

}  // namespace

DTNN_CUDA_KERNEL(rnn_steps_each, RnnStepsArguments) {
    forward(launch, a, [=] DTNN_DEVICE(std::int64_t n, std::int64_t u, std::int64_t t) {
        const std::int64_t at = a.row(n, t, a.units) + u;
        double sum = double(a.src[at]);
        if (const T* const state = a.before(a.dst, a.state, n, t))
            sum += of_state(state, a.weights, a.units, a.units, u);
        a.dst[at] = T(std::tanh(sum));
    });
}

DTNN_CUDA_KERNEL(rnn_steps_backward_each, RnnStepsBackwardArguments) {
    backward(launch, a, [=] DTNN_DEVICE(std::int64_t n, std::int64_t u, std::int64_t t) {
        const std::int64_t at = a.row(n, t, a.units) + u;
        double dh = double(a.diff_dst[at]);
        if (t + 1 < a.steps)
            dh += to_state(a.diff_src + a.row(n, t + 1, a.units), a.weights, a.units, u);
        const double h = double(a.dst[at]);
        a.diff_src[at] = T(dh * (1 - h * h));
    });
}

DTNN_CUDA_KERNEL(lstm_steps_each, LstmStepsArguments) {
    auto* const cells = reinterpret_cast<double*>(a.workspace);
    forward(launch, a, [=] DTNN_DEVICE(std::int64_t n, std::int64_t u, std::int64_t t) {
        const std::int64_t columns = kLstmParts * a.units, from = a.row(n, t, columns) + u,
                           to = a.row(n, t, a.units) + u;
        const T* const state = a.before(a.dst, a.state, n, t);
        double sums[kLstmParts];
        for (std::int64_t p = 0; p < kLstmParts; ++p) {
            sums[p] = double(a.src[from + p * a.units]);
            if (state != nullptr)
                sums[p] += of_state(state, a.weights, a.units, columns, p * a.units + u);
            sums[p] = p == 2 ? std::tanh(sums[p]) : squashed(sums[p]);
        }
        double& cell = cells[n * a.units + u];
        if (t == 0) cell = a.cells_before != nullptr ? double(a.cells_before[n * a.units + u]) : 0;
        cell = sums[1] * cell + sums[0] * sums[2];
        a.dst[to] = T(sums[3] * std::tanh(cell));
        if (a.gates == nullptr) return;
        a.cells[to] = T(cell);
        for (std::int64_t p = 0; p < kLstmParts; ++p)
            a.gates[from + p * a.units] = T(sums[p]);
    });
}

DTNN_CUDA_KERNEL(lstm_steps_backward_each, LstmStepsBackwardArguments) {
    auto* const of_cells = reinterpret_cast<double*>(a.workspace);
    backward(launch, a, [=] DTNN_DEVICE(std::int64_t n, std::int64_t u, std::int64_t t) {
        const std::int64_t columns = kLstmParts * a.units, from = a.row(n, t, columns) + u,
                           to = a.row(n, t, a.units) + u;
        const bool last = t + 1 == a.steps;
        double dh = double(a.diff_dst[to]);
        if (!last) dh += to_state(a.diff_src + a.row(n, t + 1, columns), a.weights, columns, u);
        const double i = double(a.gates[from]), f = double(a.gates[from + a.units]),
                     g = double(a.gates[from + 2 * a.units]),
                     o = double(a.gates[from + 3 * a.units]);
        const double c = std::tanh(double(a.cells[to]));
        const T* const cells = a.before(a.cells, a.cells_before, n, t);
        const double before = cells != nullptr ? double(cells[u]) : 0;
        double& dc = of_cells[n * a.units + u];
        const double all = (last ? 0 : dc) + dh * o * (1 - c * c);
        a.diff_src[from] = T(all * g * i * (1 - i));
        a.diff_src[from + a.units] = T(all * before * f * (1 - f));
        a.diff_src[from + 2 * a.units] = T(all * i * (1 - g * g));
        a.diff_src[from + 3 * a.units] = T(dh * c * o * (1 - o));
        dc = all * f;
    });
}

DTNN_CUDA_KERNEL(gru_steps_each, GruStepsArguments) {
    forward(launch, a, [=] DTNN_DEVICE(std::int64_t n, std::int64_t u, std::int64_t t) {
        const std::int64_t columns = kGruParts * a.units, from = a.row(n, t, columns) + u,
                           to = a.row(n, t, a.units) + u;
        const T* const state = a.before(a.dst, a.state, n, t);
        double sums[kGruParts];
        for (std::int64_t p = 0; p < kGruParts; ++p)
            sums[p] = state != nullptr
                          ? of_state(state, a.weights, a.units, columns, p * a.units + u)
                          : 0;
        const double r = squashed(double(a.src[from]) + sums[0]),
                     z = squashed(double(a.src[from + a.units]) + sums[1]),
                     q = sums[2] + double(a.bias[u]),
                     made = std::tanh(double(a.src[from + 2 * a.units]) + r * q);
        a.dst[to] = T((1 - z) * made + (state != nullptr ? z * double(state[u]) : 0));
        if (a.gates == nullptr) return;
        T* const gates = a.gates + a.row(n, t, kGruGates * a.units) + u;
        gates[0] = T(r);
        gates[a.units] = T(z);
        gates[2 * a.units] = T(made);
        gates[3 * a.units] = T(q);
    });
}

DTNN_CUDA_KERNEL(gru_steps_backward_each, GruStepsBackwardArguments) {
    auto* const kept = reinterpret_cast<double*>(a.workspace);
    backward(launch, a, [=] DTNN_DEVICE(std::int64_t n, std::int64_t u, std::int64_t t) {
        const std::int64_t columns = kGruParts * a.units, from = a.row(n, t, columns) + u,
                           to = a.row(n, t, a.units) + u;
        const T* const gates = a.gates + a.row(n, t, kGruGates * a.units) + u;
        const double r = double(gates[0]), z = double(gates[a.units]),
                     made = double(gates[2 * a.units]), q = double(gates[3 * a.units]);
        const T* const state = a.before(a.dst, a.state, n, t);
        const double before = state != nullptr ? double(state[u]) : 0;
        double dh = double(a.diff_dst[to]);
        if (t + 1 < a.steps)
            dh += kept[n * a.units + u] +
                  to_state(a.diff_hidden + a.row(n, t + 1, columns), a.weights, columns, u);
        const double dn = dh * (1 - z) * (1 - made * made);
        const double dr = dn * q * r * (1 - r), dz = dh * (before - made) * z * (1 - z);
        a.diff_src[from] = a.diff_hidden[from] = T(dr);
        a.diff_src[from + a.units] = a.diff_hidden[from + a.units] = T(dz);
        a.diff_src[from + 2 * a.units] = T(dn);
        a.diff_hidden[from + 2 * a.units] = T(dn * r);
        kept[n * a.units + u] = dh * z;
    });
}

}  // namespace dtnn::kernels::cuda
