#pragma once
/// Operators that are one expression: everything but the documentation follows from it.

#include "base/expression/expression.hpp"
#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The expression of an operator with fields.
struct ElementwiseForm {
    std::string infix;  ///< over x and the names of the operator's real fields
    /// Over y and the fields, where backward is to keep y. Empty: taken symbolically, over x; then
    /// backward keeps the source, which must not be overwritten.
    std::string derivative = {};
    /// The slope over x and the fields where it is simpler than what differentiation makes of the
    /// text: kernels that read term by term take expressions up to a depth.
    std::string slope = {};
};

/// An operator of one input x and real fields, whose values stand in the expression as numbers.
OpBuilder elementwise_operator(const std::string& name, std::vector<Field> fields,
                               const std::function<ElementwiseForm(const Attributes&)>& form);
OpBuilder elementwise_operator(const std::string& name, std::vector<Field> fields,
                               const ElementwiseForm& form);

/// Sums and rectifiers have a kernel of their own each, other expressions are read term by term.
KernelClass expression_class(const KernelClassContext& c);

/// "x0 x1 add x2 add": the operation over that many operands, from the left.
std::string chain_of(std::string_view operation, std::size_t operands);

/// Fails unless all operands have one type, order included.
bool expect_same_types(ShapeContext& c, const char* op);
/// Fails unless the operands fit an expression over them: those read by element have the first
/// one's type, those read by channel have [C] or [1], never in 16 bits.
bool expect_operands_of(ShapeContext& c, const char* op, const Expression& expression);
/// Adds the pairs (0, i) for the first operands; consumers ignore pairs beyond a node's operands.
void in_place_over_all(OpBuilder& builder);

}  // namespace dtnn::compiler
