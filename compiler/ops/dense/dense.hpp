#pragma once
/// What a fully connected layer and its gradients share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The classes of matrix products, and of those that give the gradient of weights, whose results
/// are narrow where the layer has few units.
KernelClass product_class(const KernelClassContext& c);
KernelClass product_gradient_class(const KernelClassContext& c);

}  // namespace dtnn::compiler
