#include "compiler/passes/shared/batch_norm_patterns.hpp"

#include "compiler/ops/define.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

bool is_plain_batch_norm(const Node& node) {
    return (node.op == kTraining || node.op == kInference) && !has_epilogue(node) &&
           !flag(node.attributes, "residual");
}

bool is_backward_of(const Node& node, const Node& norm, ValueId diff) {
    return node.op == kBackward && norm.op == kTraining && !has_epilogue(node) &&
           node.inputs[0] == norm.inputs[0] && node.inputs[1] == diff &&
           node.inputs[2] == norm.inputs[1] && node.inputs[3] == norm.outputs[1] &&
           node.inputs[4] == norm.outputs[2];
}

}  // namespace dtnn::compiler
