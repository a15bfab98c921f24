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
    const UpdateTerms<T> common(a);
    const double beta1 = a.beta1, beta2 = a.beta2, epsilon = a.epsilon;
    const bool inside = a.epsilon_inside_root;
    const T *first = a.first_moment, *second = a.second_moment, *largest = a.largest_moment;
    T *new_first = a.new_first_moment, *new_second = a.new_second_moment;
    T* new_largest = a.new_largest_moment;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (common.skips()) {
            common.leave(first, new_first, i);
            common.leave(second, new_second, i);
            common.leave(largest, new_largest, i);
            return common.leave(i);
        }
        const double g = common.gradient(i), kept = common.kept(i);
        const double m = beta1 * double(first[i]) + (1 - beta1) * g;
        double v = beta2 * double(second[i]) + (1 - beta2) * g * g;
        new_first[i] = T(m);
        new_second[i] = T(v);
        if (largest != nullptr) {
            if (double(largest[i]) > v) v = double(largest[i]);
            new_largest[i] = T(v);
        }
        common.new_weights[i] = T(kept - (step->of_gradient * g + step->of_moment * m) /
                                             root(v / step->correction, epsilon, inside));
    });
}

}  // namespace

template <class T>
void sgd_update_each(const SgdUpdateArguments<T>& a, const Launch& launch) {
    const UpdateTerms<T> common(a);
    const double momentum = a.momentum;
    const bool nesterov = a.nesterov;
    const T* velocity = a.velocity;
    T* new_velocity = a.new_velocity;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (common.skips()) {
            common.leave(velocity, new_velocity, i);
            return common.leave(i);
        }
        const double g = common.gradient(i), kept = common.kept(i);
        double change = g;
        if (velocity != nullptr) {
            const double u = momentum * double(velocity[i]) + g;
            new_velocity[i] = T(u);
            change = nesterov ? g + momentum * u : u;
        }
        common.new_weights[i] = T(kept - common.rate() * change);
    });
}

template <class T>
void rmsprop_update_each(const RmspropUpdateArguments<T>& a, const Launch& launch) {
    const UpdateTerms<T> common(a);
    const double rho = a.rho, epsilon = a.epsilon, momentum = a.momentum;
    const bool inside = a.epsilon_inside_root;
    const T *second = a.second_moment, *first = a.first_moment, *velocity = a.velocity;
    T *new_second = a.new_second_moment, *new_first = a.new_first_moment;
    T* new_velocity = a.new_velocity;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (common.skips()) {
            common.leave(second, new_second, i);
            common.leave(first, new_first, i);
            common.leave(velocity, new_velocity, i);
            return common.leave(i);
        }
        const double g = common.gradient(i), kept = common.kept(i);
        const double v = rho * double(second[i]) + (1 - rho) * g * g;
        new_second[i] = T(v);
        double d = v;
        if (first != nullptr) {
            const double m = rho * double(first[i]) + (1 - rho) * g;
            new_first[i] = T(m);
            d = v - m * m > 0 ? v - m * m : 0;  // rounding must not make it negative
        }
        double change = g / root(d, epsilon, inside);
        if (velocity != nullptr) {
            change += momentum * double(velocity[i]);
            new_velocity[i] = T(change);
        }
        common.new_weights[i] = T(kept - common.rate() * change);
    });
}

template <class T>
void adam_update_each(const AdamUpdateArguments<T>& a, const Launch& launch) {
    const UpdateTerms<T> common(a);
    const double beta1 = a.beta1, beta2 = a.beta2;
    const std::int64_t* update = a.update;
    Step* const step = reinterpret_cast<Step*>(a.workspace);
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const double t = double(*update + 1);
        step->of_gradient = 0;
        step->of_moment = common.rate() / (1 - std::pow(beta1, t));
        step->correction = 1 - std::pow(beta2, t);
    });
    moments_and_weights(a, step, launch);
}

template <class T>
void nadam_update_each(const AdamUpdateArguments<T>& a, const Launch& launch) {
    const UpdateTerms<T> common(a);
    const double beta1 = a.beta1, beta2 = a.beta2, decay = a.momentum_decay;
    const std::int64_t* update = a.update;
    const T* product = a.momentum_product;
    T* new_product = a.new_momentum_product;
    Step* const step = reinterpret_cast<Step*>(a.workspace);
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const double t = double(*update + 1);
        step->correction = 1 - std::pow(beta2, t);
        if (product == nullptr) {  // variant "pydtnn"
            step->of_moment = common.rate() / (1 - std::pow(beta1, t));
            step->of_gradient = step->of_moment * (1 - beta1);
            return;
        }
        const double now = beta1 * (1 - std::pow(0.96, t * decay) / 2);
        const double next = beta1 * (1 - std::pow(0.96, (t + 1) * decay) / 2);
        const double all = double(*product) * now;
        step->of_gradient = common.rate() * (1 - now) / (1 - all);
        step->of_moment = common.rate() * next / (1 - all * next);
        *new_product = common.skips() ? *product : T(all);
    });
    moments_and_weights(a, step, launch);
}

template <class T>
void adagrad_update_each(const AdagradUpdateArguments<T>& a, const Launch& launch) {
    const UpdateTerms<T> common(a);
    const double decay = a.learning_rate_decay, epsilon = a.epsilon;
    const bool inside = a.epsilon_inside_root;
    const std::int64_t* update = a.update;
    const T* sum = a.square_sum;
    T* new_sum = a.new_square_sum;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (common.skips()) {
            common.leave(sum, new_sum, i);
            return common.leave(i);
        }
        const double g = common.gradient(i), kept = common.kept(i);
        const double s = double(sum[i]) + g * g;
        const double rate = common.rate() / (1 + double(*update) * decay);
        new_sum[i] = T(s);
        common.new_weights[i] = T(kept - rate * g / root(s, epsilon, inside));
    });
}

DTNN_CUDA_KERNEL(sgd_update_each, SgdUpdateArguments)
DTNN_CUDA_KERNEL(rmsprop_update_each, RmspropUpdateArguments)
DTNN_CUDA_KERNEL(adam_update_each, AdamUpdateArguments)
DTNN_CUDA_KERNEL(nadam_update_each, AdamUpdateArguments)
DTNN_CUDA_KERNEL(adagrad_update_each, AdagradUpdateArguments)

}  // namespace dtnn::kernels::cuda
