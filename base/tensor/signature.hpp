#pragma once
/// The operands of operators, by name (signatures.def).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/attributes.hpp"

namespace dtnn {

struct Operand {
    enum class Kind {
        plain,   ///< of an update: the first source's type and shape; else what its rule says
        number,  ///< one of the first source's type
        count    ///< one i64
    };
    /// What an attribute is to be.
    struct Condition {
        enum class Test { set, not_set, above_zero, text, other_text };
        std::string attribute;
        Test test = Test::set;
        std::vector<std::string> texts;
    };
    std::string name;
    Kind kind = Kind::plain;
    bool repeated = false;              ///< there may be any number of them
    std::vector<Condition> conditions;  ///< all hold where it is there; none: it always is
};

using OperandList = std::vector<Operand>;

struct Signature {
    OperandList sources, destinations;
};

/// Null: the operator states its operands itself.
const Signature* find_signature(std::string_view op);

/// The operands that a node or a step with these attributes has, in their order. Made for every
/// problem, so conditions are looked at when an operand is asked for; what it is made of outlives
/// it.
class PresentOperands {
  public:
    PresentOperands(const OperandList& operands, const Attributes& attributes)
        : operands_(&operands), attributes_(&attributes) {}
    PresentOperands(const OperandList& operands, Attributes&& attributes) = delete;

    std::vector<const Operand*> list() const;
    std::size_t count() const;
    /// Whether there may be so many in all.
    bool fit(std::size_t count) const;
    /// The place of an operand among `count`, the first of one that is repeated; none where it is
    /// not there.
    std::optional<std::size_t> place_of(std::string_view name, std::size_t count) const;

  private:
    bool is_there(const Operand& operand) const;

    const OperandList* operands_;
    const Attributes* attributes_;
};

}  // namespace dtnn
