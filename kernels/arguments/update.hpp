#pragma once
/// Optimizer steps, element by element. Results may overwrite their sources.
///
/// The operations of every step before its own formula, with the defaults of PyTorch's torch.optim
/// and clip_grad_value_ (`scale` is what gradient_scale made of the gradients' norm):
///
///     lr = learning_rate * learning_rate_scale
///     g  = clamp(diff * scale, -clip_value, clip_value)
///     g  = g + weight_decay * w         coupled decay, or
///     w  = w - lr * weight_decay * w    with decoupled_weight_decay (Loshchilov and Hutter, 2019),
///                                       w on the right and in g being the old weights
///
/// t = update + 1, m, v, s, u are states, [] is taken only where the attribute asks for it:
///
///     sgd      u = momentum u + g;  w -= lr (nesterov ? g + momentum u : u)   [u = g: no momentum]
///     rmsprop  v = rho v + (1-rho) g g;  [centered: m = rho m + (1-rho) g;  d = v - m m, else v]
///              c = g / (sqrt(d) + epsilon);  [momentum: u = momentum u + c, c = u];  w -= lr c
///     adam     m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g g;  [amsgrad: s = max(s, v), v = s below]
///              w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
///     nadam    m, v as adam's;  n_t = b1 (1 - 0.96^(t momentum_decay) / 2);  p = n_1 n_2 .. n_t
///              w -= lr ((1 - n_t) / (1 - p) g + n_(t+1) / (1 - p n_(t+1)) m)
///                      / (sqrt(v / (1 - b2^t)) + epsilon)                    variant "dozat"
///              w -= lr ((m + (1-b1) g) / (1 - b1^t)) / (as above)            variant "pydtnn"
///     adagrad  s = s + g g;  w -= lr / (1 + (t-1) learning_rate_decay) g / (sqrt(s) + epsilon)
///
/// With `skips`, where `scale` is not a number, weights and states stay as they are: gradients that
/// a loss scale has made too large for 16 bits are left out.
///
/// With epsilon_inside_root every sqrt(x) + epsilon is sqrt(x + epsilon).
///
/// Sources of the formulas: sgd, adam, adagrad and rmsprop of torch.optim 1.13, nadam of its
/// documentation (the code of 1.13 has n_t once more in p n_(t+1)); rmsprop: Tieleman and Hinton,
/// lecture 6.5 of "Neural networks for machine learning", 2012; adam: Kingma and Ba, "Adam: a
/// method for stochastic optimization", ICLR 2015; amsgrad: Reddi, Kale and Kumar, "On the
/// convergence of Adam and beyond", ICLR 2018; nadam: Dozat, "Incorporating Nesterov momentum into
/// Adam", ICLR workshop 2016; adagrad: Duchi, Hazan and Singer, "Adaptive subgradient methods",
/// JMLR 12, 2011; "pydtnn": the formula of that framework's Nadam, whose other optimizers are those
/// above with decoupled_weight_decay and epsilon_inside_root.

#include <limits>

#include "base/device.hpp"
#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// The arguments that all updates have.
template <class T>
struct UpdateArguments : FromOperands {
    std::int64_t count = o.source("weights").elements();
    double learning_rate_scale = o.problem.real("learning_rate_scale", 1),
           weight_decay = o.problem.real("weight_decay");
    double clip_value = std::numeric_limits<double>::infinity();
    bool decoupled = o.problem.flag("decoupled_weight_decay");
    bool may_skip = o.problem.flag("skips");
    const T *weights = o.source("weights"), *diff = o.source("diff"),
            *learning_rate = o.source("learning_rate");
    const T* scale = o.source("scale");  ///< null: one
    T* new_weights = o.result("weights");

    /// Of this step.
    DTNN_DEVICE double rate() const { return double(*learning_rate) * learning_rate_scale; }
    /// Whether weights and states stay as they are.
    DTNN_DEVICE bool skips() const { return may_skip && *scale != *scale; }

    explicit UpdateArguments(const Operands& operands) : FromOperands(operands) {
        if (const double limit = o.problem.real("clip_value", 0); limit > 0) clip_value = limit;
    }
};

template <class T>
struct SgdUpdateArguments : UpdateArguments<T> {
    using UpdateArguments<T>::UpdateArguments;
    double momentum = this->o.problem.real("momentum");
    bool nesterov = this->o.problem.flag("nesterov");
    const T* velocity = this->o.source("velocity");  ///< null: no momentum
    T* new_velocity = this->o.result("velocity");
};

template <class T>
struct RmspropUpdateArguments : UpdateArguments<T> {
    using UpdateArguments<T>::UpdateArguments;
    double rho = this->o.problem.real("rho"), epsilon = this->o.problem.real("epsilon"),
           momentum = this->o.problem.real("momentum");
    bool epsilon_inside_root = this->o.problem.flag("epsilon_inside_root");
    const T* second_moment = this->o.source("second_moment");
    const T* first_moment = this->o.source("first_moment");  ///< null: not centered
    const T* velocity = this->o.source("velocity");          ///< null: no momentum
    T *new_second_moment = this->o.result("second_moment"),
      *new_first_moment = this->o.result("first_moment"),
      *new_velocity = this->o.result("velocity");
};

/// adam and nadam.
template <class T>
struct AdamUpdateArguments : UpdateArguments<T> {
    using UpdateArguments<T>::UpdateArguments;
    double beta1 = this->o.problem.real("beta1"), beta2 = this->o.problem.real("beta2"),
           epsilon = this->o.problem.real("epsilon");
    double momentum_decay = this->o.problem.real("momentum_decay", 0);  ///< nadam, variant "dozat"
    bool epsilon_inside_root = this->o.problem.flag("epsilon_inside_root");
    const std::int64_t* update = this->o.source("update");
    const T *first_moment = this->o.source("first_moment"),
            *second_moment = this->o.source("second_moment");
    const T* largest_moment = this->o.source("largest_moment");  ///< null: not amsgrad
    const T* momentum_product =
        this->o.source("momentum_product");  ///< one number; null: adam, or variant "pydtnn"
    T *new_first_moment = this->o.result("first_moment"),
      *new_second_moment = this->o.result("second_moment"),
      *new_largest_moment = this->o.result("largest_moment");
    T* new_momentum_product = this->o.result("momentum_product");
};

/// The numbers of one step of adam or nadam, alike for all elements:
///     w -= (of_gradient g + of_moment m) / (sqrt(v + inside) * deviation + outside)
struct AdamStep {
    double of_gradient = 0, of_moment = 0, deviation = 1, inside = 0, outside = 0;
    double momentum_product = 1;  ///< after the step

    template <class T>
    static AdamStep adam(const AdamUpdateArguments<T>& a);
    template <class T>
    static AdamStep nadam(const AdamUpdateArguments<T>& a);
};

template <class T>
struct AdagradUpdateArguments : UpdateArguments<T> {
    using UpdateArguments<T>::UpdateArguments;
    double epsilon = this->o.problem.real("epsilon"),
           learning_rate_decay = this->o.problem.real("learning_rate_decay");
    bool epsilon_inside_root = this->o.problem.flag("epsilon_inside_root");
    const std::int64_t* update = this->o.source("update");
    const T* square_sum = this->o.source("square_sum");
    T* new_square_sum = this->o.result("square_sum");
};

}  // namespace dtnn::kernels
