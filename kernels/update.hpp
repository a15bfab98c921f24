#pragma once
/// Optimizer steps, with PyTorch's formulas (torch.optim.SGD, Adam):
///
///     sgd    g += weight_decay w;  v = momentum v + g;  w -= lr (nesterov ? g + momentum v : v) [v
///     = g without momentum] adam   t = step + 1;  g += weight_decay w;  m = b1 m + (1-b1) g;  v =
///     b2 v + (1-b2) g g
///            w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
///
/// Adam: Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015. Results may
/// overwrite their sources.

#include "kernels/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct SgdUpdateArguments {
    std::int64_t count = 0;
    double momentum = 0, weight_decay = 0;
    bool nesterov = false;
    const T *weights = nullptr, *diff = nullptr, *learning_rate = nullptr;
    const T* velocity = nullptr;  ///< null: no momentum
    T *new_weights = nullptr, *new_velocity = nullptr;

    static SgdUpdateArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct AdamUpdateArguments {
    std::int64_t count = 0;
    double beta1 = 0, beta2 = 0, epsilon = 0, weight_decay = 0;
    const T *weights = nullptr, *diff = nullptr, *learning_rate = nullptr;
    const std::int64_t* step = nullptr;
    const T *first_moment = nullptr, *second_moment = nullptr;
    T *new_weights = nullptr, *new_first_moment = nullptr, *new_second_moment = nullptr;

    static AdamUpdateArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
