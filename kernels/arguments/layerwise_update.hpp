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
    using UpdateArguments<T>::UpdateArguments;
    double momentum = this->o.problem.real("momentum"),
           trust_coefficient = this->o.problem.real("trust_coefficient"),
           epsilon = this->o.problem.real("epsilon");
    bool adaptive = is_adaptive(this->o.problem);
    const T* velocity = this->o.source("velocity");
    T* new_velocity = this->o.result("velocity");
    double* sums = this->o.template scratch<double>();  ///< two for every chunk
};

template <class T>
struct LambUpdateArguments : UpdateArguments<T> {
    using UpdateArguments<T>::UpdateArguments;
    double beta1 = this->o.problem.real("beta1"), beta2 = this->o.problem.real("beta2"),
           epsilon = this->o.problem.real("epsilon");
    bool adaptive = is_adaptive(this->o.problem);
    const std::int64_t* update = this->o.source("update");
    const T *first_moment = this->o.source("first_moment"),
            *second_moment = this->o.source("second_moment");
    T *new_first_moment = this->o.result("first_moment"),
      *new_second_moment = this->o.result("second_moment");
    double* sums = this->o.template scratch<double>();  ///< two for every chunk
};

/// eta ||w|| / divisor; 1 where either is zero.
double lars_ratio(double trust_coefficient, double weights_norm, double divisor);
/// ||w|| / ||c||; 1 where either is zero.
double lamb_ratio(double weights_norm, double change_norm);

}  // namespace dtnn::kernels
