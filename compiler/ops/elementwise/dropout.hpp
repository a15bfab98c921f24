#pragma once
/// The dropout of numbers and that of whole channels.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The layer that users write: specialise_phase makes it `applied` in training and removes it for
/// inference. With `image` its source must be one.
OpBuilder dropout_layer(const char* name, const char* applied, bool image,
                        std::string_view rate_doc);

/// dst = src / (1 - rate) where uniform(seed, stream, epoch, number) >= rate, else 0; the number is
/// that of the sample's place in the epoch and of the element. What is kept depends on nothing
/// else, so the gradient is the same operator on the gradient, and no mask is stored.
OpBuilder dropout_application(const char* name, bool image);

}  // namespace dtnn::compiler
