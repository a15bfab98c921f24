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

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// The arguments that all updates have.
template <class T>
struct UpdateArguments {
    std::int64_t count = 0;
    double learning_rate_scale = 1, weight_decay = 0;
    double clip_value = std::numeric_limits<double>::infinity();
    bool decoupled = false;
    bool may_skip = false;
    const T *weights = nullptr, *diff = nullptr, *learning_rate = nullptr;
    const T* scale = nullptr;  ///< null: one
    T* new_weights = nullptr;

    /// Of this step.
    double rate() const { return double(*learning_rate) * learning_rate_scale; }
    bool skips() const { return may_skip && *scale != *scale; }

  protected:
    explicit UpdateArguments(const Operands& o)
        : count(o.source("weights").elements()),
          learning_rate_scale(o.problem.real("learning_rate_scale", 1)),
          weight_decay(o.problem.real("weight_decay")),
          decoupled(o.problem.flag("decoupled_weight_decay")),
          may_skip(o.problem.flag("skips")),
          weights(o.source("weights")),
          diff(o.source("diff")),
          learning_rate(o.source("learning_rate")),
          scale(o.source("scale")),
          new_weights(o.result("weights")) {
        if (const double limit = o.problem.real("clip_value", 0); limit > 0) clip_value = limit;
    }
};

template <class T>
struct SgdUpdateArguments : UpdateArguments<T> {
    double momentum = 0;
    bool nesterov = false;
    const T* velocity = nullptr;  ///< null: no momentum
    T* new_velocity = nullptr;

    explicit SgdUpdateArguments(const Operands& o)
        : UpdateArguments<T>(o),
          momentum(o.problem.real("momentum")),
          nesterov(o.problem.flag("nesterov")),
          velocity(o.source("velocity")),
          new_velocity(o.result("velocity")) {}
};

template <class T>
struct RmspropUpdateArguments : UpdateArguments<T> {
    double rho = 0, epsilon = 0, momentum = 0;
    bool epsilon_inside_root = false;
    const T* second_moment = nullptr;
    const T* first_moment = nullptr;  ///< null: not centered
    const T* velocity = nullptr;      ///< null: no momentum
    T *new_second_moment = nullptr, *new_first_moment = nullptr, *new_velocity = nullptr;

    explicit RmspropUpdateArguments(const Operands& o)
        : UpdateArguments<T>(o),
          rho(o.problem.real("rho")),
          epsilon(o.problem.real("epsilon")),
          momentum(o.problem.real("momentum")),
          epsilon_inside_root(o.problem.flag("epsilon_inside_root")),
          second_moment(o.source("second_moment")),
          first_moment(o.source("first_moment")),
          velocity(o.source("velocity")),
          new_second_moment(o.result("second_moment")),
          new_first_moment(o.result("first_moment")),
          new_velocity(o.result("velocity")) {}
};

/// adam and nadam.
template <class T>
struct AdamUpdateArguments : UpdateArguments<T> {
    double beta1 = 0, beta2 = 0, epsilon = 0;
    double momentum_decay = 0;  ///< nadam, variant "dozat"
    bool epsilon_inside_root = false;
    const std::int64_t* update = nullptr;
    const T *first_moment = nullptr, *second_moment = nullptr;
    const T* largest_moment = nullptr;    ///< null: not amsgrad
    const T* momentum_product = nullptr;  ///< one number; null: adam, or variant "pydtnn"
    T *new_first_moment = nullptr, *new_second_moment = nullptr, *new_largest_moment = nullptr;
    T* new_momentum_product = nullptr;
    std::byte* workspace = nullptr;

    explicit AdamUpdateArguments(const Operands& o)
        : UpdateArguments<T>(o),
          beta1(o.problem.real("beta1")),
          beta2(o.problem.real("beta2")),
          epsilon(o.problem.real("epsilon")),
          momentum_decay(o.problem.op == "nadam_update" ? o.problem.real("momentum_decay") : 0),
          epsilon_inside_root(o.problem.flag("epsilon_inside_root")),
          update(o.source("update")),
          first_moment(o.source("first_moment")),
          second_moment(o.source("second_moment")),
          largest_moment(o.source("largest_moment")),
          momentum_product(o.source("momentum_product")),
          new_first_moment(o.result("first_moment")),
          new_second_moment(o.result("second_moment")),
          new_largest_moment(o.result("largest_moment")),
          new_momentum_product(o.result("momentum_product")),
          workspace(o.scratch()) {}
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
    double epsilon = 0, learning_rate_decay = 0;
    bool epsilon_inside_root = false;
    const std::int64_t* update = nullptr;
    const T* square_sum = nullptr;
    T* new_square_sum = nullptr;

    explicit AdagradUpdateArguments(const Operands& o)
        : UpdateArguments<T>(o),
          epsilon(o.problem.real("epsilon")),
          learning_rate_decay(o.problem.real("learning_rate_decay")),
          epsilon_inside_root(o.problem.flag("epsilon_inside_root")),
          update(o.source("update")),
          square_sum(o.source("square_sum")),
          new_square_sum(o.result("square_sum")) {}
};

}  // namespace dtnn::kernels
