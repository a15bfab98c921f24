#pragma once
/// The angles by which the steps of a sequence are told apart (Vaswani and others, 2017; Su and
/// others, 2021): pair p of `numbers` numbers turns by base^(-2p / numbers) a step.

#include <cmath>
#include <cstdint>

#include "base/device.hpp"

namespace dtnn {

struct Turn {
    double sine, cosine;
};

DTNN_DEVICE inline Turn turn_of(std::int64_t step, std::int64_t pair, std::int64_t numbers,
                                double base) {
    const double angle = double(step) * std::pow(base, -2.0 * double(pair) / double(numbers));
    return {std::sin(angle), std::cos(angle)};
}

}  // namespace dtnn
