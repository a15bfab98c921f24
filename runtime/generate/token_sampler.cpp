#include "runtime/generate/token_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/philox.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

TokenSampler::TokenSampler(const Sampling& sampling, plan::Prediction given, std::int64_t tokens)
    : sampling_(sampling),
      given_(given),
      numbers_(std::size_t(tokens)),
      order_(std::size_t(tokens)) {
    std::iota(order_.begin(), order_.end(), std::int32_t{0});
}

std::int32_t TokenSampler::draw(std::uint64_t text, std::uint64_t index) {
    refuse_what_is_no_number(text, index);
    if (sampling_.temperature == 0)
        return std::int32_t(std::max_element(numbers_.begin(), numbers_.end()) - numbers_.begin());
    make_weights();
    const std::size_t kept = keep_likeliest();
    double sum = 0;
    for (std::size_t i = 0; i < kept; ++i)
        sum += numbers_[std::size_t(order_[i])];
    namespace philox = kernels::philox;
    const philox::Block drawn =
        philox::block(philox::key_of(sampling_.seed, philox::Purpose::generate, text), index, 0);
    const double wanted = philox::uniform_double(drawn[0], drawn[1]) * sum;
    // Rounding may leave the sum of all a little below what is wanted: then it is the last one that
    // can be at all.
    std::int32_t token = order_[0];
    double passed = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        const double weight = numbers_[std::size_t(order_[i])];
        if (weight == 0) continue;
        token = order_[i];
        passed += weight;
        if (passed > wanted) break;
    }
    return token;
}

void TokenSampler::refuse_what_is_no_number(std::uint64_t text, std::uint64_t index) const {
    const bool logarithms = given_ == plan::Prediction::log_probabilities;
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    double largest = kNone;
    const double* none = nullptr;
    for (const double& number : numbers_) {
        if (!std::isfinite(number) && !(logarithms && number == kNone)) none = &number;
        largest = std::max(largest, number);
    }
    if (none == nullptr && largest > kNone) return;
    throw RunError(Exit::diverged,
                   fmt::format("the prediction for token {} of text {} is {}", index + 1, text + 1,
                               none != nullptr ? *none : kNone),
                   "generate with the weights of a training that did not diverge");
}

/// Probabilities, but for a factor that all have in common.
void TokenSampler::make_weights() {
    if (given_ == plan::Prediction::probabilities)
        for (double& number : numbers_)
            number = std::log(std::max(number, 0.0));
    const double largest = *std::max_element(numbers_.begin(), numbers_.end());
    for (double& number : numbers_)
        number = number == largest ? 1.0 : std::exp((number - largest) / sampling_.temperature);
}

/// How many tokens, in front of order_, are drawn from. Where that is all of them, they are in the
/// order of their numbers, else the likeliest first.
std::size_t TokenSampler::keep_likeliest() {
    const std::size_t all = order_.size();
    const std::size_t most =
        sampling_.top_k > 0 ? std::min(std::size_t(sampling_.top_k), all) : all;
    if (most == all && sampling_.top_p >= 1) return all;
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
        const double first = numbers_[std::size_t(a)], second = numbers_[std::size_t(b)];
        return first != second ? first > second : a < b;
    };
    const auto end = order_.begin() + std::ptrdiff_t(most);
    if (most < all) std::nth_element(order_.begin(), end, order_.end(), likelier);
    std::sort(order_.begin(), end, likelier);
    if (sampling_.top_p >= 1) return most;
    double sum = 0, passed = 0;
    for (auto token = order_.begin(); token != end; ++token)
        sum += numbers_[std::size_t(*token)];
    std::size_t kept = 0;
    while (kept < most && (kept == 0 || passed < sampling_.top_p * sum))
        passed += numbers_[std::size_t(order_[kept++])];
    return kept;
}

}  // namespace dtnn::runtime
