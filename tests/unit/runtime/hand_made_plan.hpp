#pragma once
/// A small plan made without the compiler: softmax regression on made-up samples, reference kernels
/// only.

#include <string>

#include "plan/plan.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace dtnn::runtime {

struct HandMade {
    DType dtype = DType::f32;
    Dims shape = {2, 4, 4};
    Order order = {0, 2, 3, 1};  ///< of the source: channels last
    std::int64_t classes = 3;
    std::int64_t train_samples = 44;
    std::int64_t validation_samples = 12;
    std::int64_t test_samples = 24;
    std::int64_t batch = 8;
    std::int64_t epochs = 4;
    double learning_rate = 0.5;
    bool parallel = false;  ///< the gradients are weighted by batch, and added up over the ranks
};

/// Programs train, train_tail, evaluate, evaluate_tail; it passes its audit.
plan::Plan hand_made_plan(const HandMade& wish = {});

}  // namespace dtnn::runtime
