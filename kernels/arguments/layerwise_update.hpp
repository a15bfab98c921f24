#pragma once
/// Optimizer steps whose size follows from norms over the whole parameter. Learning rate, clipping
/// and scale as in update.hpp; ||x|| is the Euclidean norm of all elements, summed in double over
/// chunks in a fixed order, so that it does not depend on the number of threads.
///
///     lars  You, Gitman and Ginsburg, "Large batch training of convolutional networks",
///           arXiv:1708.03888, 2017, algorithm 1; eta is trust_coefficient:
///             r = eta ||w|| / (||g|| + weight_decay ||w|| + epsilon)
///             u = momentum u + lr r (g + weight_decay w);  w -= u
///     lamb  You et al., "Large batch optimization for deep learning: training BERT in 76 minutes",
///           ICLR 2020, algorithm 2, with phi(x) = x; m, v as adam's, t = update + 1:
///             c = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon) + weight_decay w
///             w -= lr (||w|| / ||c||) c
///
/// The papers leave open what happens to parameters that are zero (fresh biases would never move):
/// a ratio with ||w|| = 0, or whose divisor is 0, is 1 (lars: eta is then not applied either), as
/// in the usual implementations. So it is for parameters with `adaptive` false.

#include "kernels/arguments/update.hpp"

namespace dtnn::kernels {

bool is_adaptive(const Problem& problem);

template <class T>
struct LarsUpdateArguments : UpdateArguments<T> {
    double momentum = 0, trust_coefficient = 0, epsilon = 0;
    bool adaptive = true;
    const T* velocity = nullptr;
    T* new_velocity = nullptr;
    double* sums = nullptr;  ///< two for every chunk

    explicit LarsUpdateArguments(const Operands& o)
        : UpdateArguments<T>(o),
          momentum(o.problem.real("momentum")),
          trust_coefficient(o.problem.real("trust_coefficient")),
          epsilon(o.problem.real("epsilon")),
          adaptive(is_adaptive(o.problem)),
          velocity(o.source("velocity")),
          new_velocity(o.result("velocity")),
          sums(o.scratch<double>()) {}
};

template <class T>
struct LambUpdateArguments : UpdateArguments<T> {
    double beta1 = 0, beta2 = 0, epsilon = 0;
    bool adaptive = true;
    const std::int64_t* update = nullptr;
    const T *first_moment = nullptr, *second_moment = nullptr;
    T *new_first_moment = nullptr, *new_second_moment = nullptr;
    double* sums = nullptr;  ///< two for every chunk

    explicit LambUpdateArguments(const Operands& o)
        : UpdateArguments<T>(o),
          beta1(o.problem.real("beta1")),
          beta2(o.problem.real("beta2")),
          epsilon(o.problem.real("epsilon")),
          adaptive(is_adaptive(o.problem)),
          update(o.source("update")),
          first_moment(o.source("first_moment")),
          second_moment(o.source("second_moment")),
          new_first_moment(o.result("first_moment")),
          new_second_moment(o.result("second_moment")),
          sums(o.scratch<double>()) {}
};

/// eta ||w|| / divisor; 1 where either is zero.
double lars_ratio(double trust_coefficient, double weights_norm, double divisor);
/// ||w|| / ||c||; 1 where either is zero.
double lamb_ratio(double weights_norm, double change_norm);

}  // namespace dtnn::kernels
