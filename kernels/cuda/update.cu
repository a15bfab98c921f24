#include <cmath>

#include "kernels/arguments/update.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/update_terms.hpp"

namespace dtnn::kernels::cuda {
namespace {

DTNN_DEVICE inline double root(double square, double epsilon, bool inside) {
    return inside ? std::sqrt(square + epsilon) : std::sqrt(square) + epsilon;
}

/// The numbers of a step of adam or nadam that are alike for all elements: in the workspace, made
/// by one thread.
struct Step {
    double of_gradient, of_moment, correction;
};

template <class T>
void moments_and_weights(const AdamUpdateArguments<T>& a, const Step* step, const Launch& launch) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (a.skips()) {
            leave(a.first_moment, a.new_first_moment, i);
            leave(a.second_moment, a.new_second_moment, i);
            leave(a.largest_moment, a.new_largest_moment, i);
            return leave(a, i);
        }
        const double g = gradient(a, i), kept = kept_weight(a, i);
        const double m = a.beta1 * double(a.first_moment[i]) + (1 - a.beta1) * g;
        double v = a.beta2 * double(a.second_moment[i]) + (1 - a.beta2) * g * g;
        a.new_first_moment[i] = T(m);
        a.new_second_moment[i] = T(v);
        if (a.largest_moment != nullptr) {
            if (double(a.largest_moment[i]) > v) v = double(a.largest_moment[i]);
            a.new_largest_moment[i] = T(v);
        }
        a.new_weights[i] =
            T(kept - (step->of_gradient * g + step->of_moment * m) /
                         root(v / step->correction, a.epsilon, a.epsilon_inside_root));
    });
}

}  // namespace

DTNN_CUDA_KERNEL(sgd_update_each, SgdUpdateArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (a.skips()) {
            leave(a.velocity, a.new_velocity, i);
            return leave(a, i);
        }
        const double g = gradient(a, i), kept = kept_weight(a, i);
        double change = g;
        if (a.velocity != nullptr) {
            const double u = a.momentum * double(a.velocity[i]) + g;
            a.new_velocity[i] = T(u);
            change = a.nesterov ? g + a.momentum * u : u;
        }
        a.new_weights[i] = T(kept - a.rate() * change);
    });
}

DTNN_CUDA_KERNEL(rmsprop_update_each, RmspropUpdateArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (a.skips()) {
            leave(a.second_moment, a.new_second_moment, i);
            leave(a.first_moment, a.new_first_moment, i);
            leave(a.velocity, a.new_velocity, i);
            return leave(a, i);
        }
        const double g = gradient(a, i), kept = kept_weight(a, i);
        const double v = a.rho * double(a.second_moment[i]) + (1 - a.rho) * g * g;
        a.new_second_moment[i] = T(v);
        double d = v;
        if (a.first_moment != nullptr) {
            const double m = a.rho * double(a.first_moment[i]) + (1 - a.rho) * g;
            a.new_first_moment[i] = T(m);
            d = v - m * m > 0 ? v - m * m : 0;  // rounding must not make it negative
        }
        double change = g / root(d, a.epsilon, a.epsilon_inside_root);
        if (a.velocity != nullptr) {
            change += a.momentum * double(a.velocity[i]);
            a.new_velocity[i] = T(change);
        }
        a.new_weights[i] = T(kept - a.rate() * change);
    });
}

DTNN_CUDA_KERNEL(adam_update_each, AdamUpdateArguments) {
    Step* const step = reinterpret_cast<Step*>(a.workspace);
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const double t = double(*a.update + 1);
        step->of_gradient = 0;
        step->of_moment = a.rate() / (1 - std::pow(a.beta1, t));
        step->correction = 1 - std::pow(a.beta2, t);
    });
    moments_and_weights(a, step, launch);
}

DTNN_CUDA_KERNEL(nadam_update_each, AdamUpdateArguments) {
    Step* const step = reinterpret_cast<Step*>(a.workspace);
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const double t = double(*a.update + 1);
        step->correction = 1 - std::pow(a.beta2, t);
        if (a.momentum_product == nullptr) {  // variant "pydtnn"
            step->of_moment = a.rate() / (1 - std::pow(a.beta1, t));
            step->of_gradient = step->of_moment * (1 - a.beta1);
            return;
        }
        const double now = a.beta1 * (1 - std::pow(0.96, t * a.momentum_decay) / 2);
        const double next = a.beta1 * (1 - std::pow(0.96, (t + 1) * a.momentum_decay) / 2);
        const double all = double(*a.momentum_product) * now;
        step->of_gradient = a.rate() * (1 - now) / (1 - all);
        step->of_moment = a.rate() * next / (1 - all * next);
        *a.new_momentum_product = a.skips() ? *a.momentum_product : T(all);
    });
    moments_and_weights(a, step, launch);
}

DTNN_CUDA_KERNEL(adagrad_update_each, AdagradUpdateArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (a.skips()) {
            leave(a.square_sum, a.new_square_sum, i);
            return leave(a, i);
        }
        const double g = gradient(a, i), kept = kept_weight(a, i);
        const double s = double(a.square_sum[i]) + g * g;
        const double rate = a.rate() / (1 + double(*a.update) * a.learning_rate_decay);
        a.new_square_sum[i] = T(s);
        a.new_weights[i] = T(kept - rate * g / root(s, a.epsilon, a.epsilon_inside_root));
    });
}

}  // namespace dtnn::kernels::cuda
