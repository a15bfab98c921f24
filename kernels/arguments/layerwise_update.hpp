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

template <class T>
struct LarsUpdateArguments : UpdateArguments<T> {
    double momentum = 0, trust_coefficient = 0, epsilon = 0;
    bool adaptive = true;
    const T* velocity = nullptr;
    T* new_velocity = nullptr;
    double* sums = nullptr;  ///< two for every chunk

    static LarsUpdateArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct LambUpdateArguments : UpdateArguments<T> {
    double beta1 = 0, beta2 = 0, epsilon = 0;
    bool adaptive = true;
    const std::int64_t* update = nullptr;
    const T *first_moment = nullptr, *second_moment = nullptr;
    T *new_first_moment = nullptr, *new_second_moment = nullptr;
    double* sums = nullptr;  ///< two for every chunk

    static LambUpdateArguments bind(const Problem&, Sources, Destinations, Workspace);
};

/// eta ||w|| / divisor; 1 where either is zero.
double lars_ratio(double trust_coefficient, double weights_norm, double divisor);
/// ||w|| / ||c||; 1 where either is zero.
double lamb_ratio(double weights_norm, double change_norm);

}  // namespace dtnn::kernels
