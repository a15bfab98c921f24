#pragma once
/// Recurrent cells over all steps of a sequence, behind the product of the steps with the cells'
/// weights of inputs. Operands are [N, steps, ...], row-major; with h = c = 0 before the first
/// step, or where it is `carried` h = state and c = cells_before, [N, 1, units], and a[t] = src[t]
/// + h[t-1] weights, in parts of `units` numbers side by side:
///
/// rnn_steps (Elman, 1990):
///     h[t] = dst[t] = tanh(a)
///     backward da = dh (1 - h^2)
/// lstm_steps (Hochreiter and Schmidhuber, 1997; Gers and others, 2000), four parts:
///     i = sigmoid(a_0), f = sigmoid(a_1), g = tanh(a_2), o = sigmoid(a_3)
///     cells[t] = c[t] = f c[t-1] + i g
///     dst[t] = h[t] = o tanh(c[t])
///     gates[t] = (i, f, g, o)
///     backward dc = dc[t+1] f[t+1] + dh o (1 - tanh(c)^2)
///     da = (dc g i (1 - i), dc c[t-1] f (1 - f), dc i (1 - g^2), dh tanh(c) o (1 - o))
/// gru_steps (Cho and others, 2014, in the form of cuDNN and PyTorch), three parts of src and of
/// weights; b is `bias`:
///     r = sigmoid(a_0), z = sigmoid(a_1)
///     q = h[t-1] weights_2 + b
///     n = tanh(src_2 + r q)
///     dst[t] = h[t] = (1 - z) n + z h[t-1]
///     gates[t] = (r, z, n, q)
///     backward dn = dh (1 - z) (1 - n^2)
///     da = (dn q r (1 - r), dh (h[t-1] - n) z (1 - z), dn)
///     diff_hidden is da but for its third part, dn r
///
/// dh[t] = diff_dst[t] + da[t+1] weights^T (of a gru diff_hidden, and dh[t+1] z[t+1]); diff_src is
/// da. Nothing flows to a carried state. `reversed`: t goes from the last step to the first.

#include "kernels/arguments/arguments.hpp"
#include "kernels/workspace/recurrent.hpp"

namespace dtnn::kernels {

struct RecurrentSizes {
    std::int64_t batch, steps, units;
    bool reversed;

    /// Of operands [N, steps, parts * units].
    RecurrentSizes(const Problem& problem, const TensorType& operand, std::int64_t parts)
        : batch(operand.dims[0]),
          steps(operand.dims[1]),
          units(operand.dims[2] / parts),
          reversed(problem.flag("reversed")) {}
    /// Where the step that comes t-th lies.
    DTNN_DEVICE std::int64_t place(std::int64_t t) const { return reversed ? steps - 1 - t : t; }
    /// Sample n's row of step t, in order, of rows of so many numbers.
    DTNN_DEVICE std::int64_t row(std::int64_t n, std::int64_t t, std::int64_t numbers) const {
        return (n * steps + place(t)) * numbers;
    }
    /// Sample n's row of a result of all steps before step t: that of `carried` before the first,
    /// null where that is zeros.
    template <class T>
    DTNN_DEVICE const T* before(const T* all, const T* carried, std::int64_t n,
                                std::int64_t t) const {
        if (t > 0) return all + row(n, t - 1, units);
        return carried == nullptr ? nullptr : carried + n * units;
    }
};

template <class T>
struct RnnStepsArguments : FromOperands, RecurrentSizes {
    const T* src = o.source("src");
    const T* weights = o.source("weights");
    const T* state = o.source("state");  ///< null: zeros
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();

    explicit RnnStepsArguments(const Operands& operands)
        : FromOperands(operands),
          RecurrentSizes(operands.problem, operands.problem.sources[0], kRnnParts) {}
};

template <class T>
struct RnnStepsBackwardArguments : FromOperands, RecurrentSizes {
    const T* dst = o.source("dst");
    const T* weights = o.source("weights");
    const T* diff_dst = o.source("diff_dst");
    T* diff_src = o.result("diff_src");
    std::byte* workspace = o.scratch();

    explicit RnnStepsBackwardArguments(const Operands& operands)
        : FromOperands(operands),
          RecurrentSizes(operands.problem, operands.problem.sources[0], kRnnParts) {}
};

template <class T>
struct LstmStepsArguments : FromOperands, RecurrentSizes {
    const T* src = o.source("src");
    const T* weights = o.source("weights");
    const T* state = o.source("state");  ///< null: zeros
    const T* cells_before = o.source("cells_before");
    T* dst = o.result("dst");
    T* gates = o.result("gates");  ///< null: not wanted, nor cells
    T* cells = o.result("cells");
    std::byte* workspace = o.scratch();

    explicit LstmStepsArguments(const Operands& operands)
        : FromOperands(operands),
          RecurrentSizes(operands.problem, operands.problem.sources[0], kLstmParts) {}
};

template <class T>
struct LstmStepsBackwardArguments : FromOperands, RecurrentSizes {
    const T* gates = o.source("gates");
    const T* cells = o.source("cells");
    const T* weights = o.source("weights");
    const T* diff_dst = o.source("diff_dst");
    const T* cells_before = o.source("cells_before");  ///< null: zeros
    T* diff_src = o.result("diff_src");
    std::byte* workspace = o.scratch();

    explicit LstmStepsBackwardArguments(const Operands& operands)
        : FromOperands(operands),
          RecurrentSizes(operands.problem, operands.problem.sources[0], kLstmParts) {}
};

template <class T>
struct GruStepsArguments : FromOperands, RecurrentSizes {
    const T* src = o.source("src");
    const T* weights = o.source("weights");
    const T* bias = o.source("bias");
    const T* state = o.source("state");  ///< null: zeros
    T* dst = o.result("dst");
    T* gates = o.result("gates");  ///< null: not wanted
    std::byte* workspace = o.scratch();

    explicit GruStepsArguments(const Operands& operands)
        : FromOperands(operands),
          RecurrentSizes(operands.problem, operands.problem.sources[0], kGruParts) {}
};

template <class T>
struct GruStepsBackwardArguments : FromOperands, RecurrentSizes {
    const T* gates = o.source("gates");
    const T* dst = o.source("dst");
    const T* weights = o.source("weights");
    const T* diff_dst = o.source("diff_dst");
    const T* state = o.source("state");  ///< null: zeros
    T* diff_src = o.result("diff_src");
    T* diff_hidden = o.result("diff_hidden");
    std::byte* workspace = o.scratch();

    explicit GruStepsBackwardArguments(const Operands& operands)
        : FromOperands(operands),
          RecurrentSizes(operands.problem, operands.problem.sources[0], kGruGates) {}
};

}  // namespace dtnn::kernels
