#pragma once
/// One step of a recurrent cell behind those before: a product of the state that was kept, and the
/// cell's formulas (kernels/arguments/recurrent.hpp) as elementwise nodes.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

class NextCell {
  public:
    /// Of an operator whose operands begin with src and weights.
    NextCell(StepContext& c, std::int64_t parts);

    /// It goes from the last step to the first, or several steps come at once, which is refused.
    bool refused() const { return refused_; }
    /// A state of so many units as the cell has, before the step.
    ValueId kept(const std::string& name);
    /// The state's product with the weights, in parts.
    ValueId product(ValueId state);
    /// Part i of `parts` side by side.
    ValueId part(ValueId value, std::int64_t i);
    /// A postfix expression of values, element by element.
    ValueId formula(const char* postfix, ValueList values, const std::string& name);

  private:
    StepContext& c_;
    std::int64_t parts_, units_;
    bool refused_;
};

}  // namespace dtnn::compiler
