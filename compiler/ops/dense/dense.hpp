#pragma once
/// The parts that a fully connected layer and its gradients share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The order of weights [C,H,W,units] that an image is read by: H, W, C, units.
inline const Order kDenseOrder{1, 2, 0, 3};

/// The classes of matrix products, and of those that give the gradient of weights, whose results
/// are narrow where the layer has few units.
KernelClass product_class(const KernelClassContext& c);
KernelClass product_gradient_class(const KernelClassContext& c);

}  // namespace dtnn::compiler
