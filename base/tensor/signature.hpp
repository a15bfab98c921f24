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

/// The operands that a node or a step with these attributes has, in their order.
class PresentOperands {
  public:
    PresentOperands(const OperandList& operands, const Attributes& attributes);

    const std::vector<const Operand*>& list() const { return list_; }
    /// Whether there may be so many in all.
    bool fit(std::size_t count) const;
    /// The place of an operand among `count`, the first of one that is repeated; none where it is
    /// not there.
    std::optional<std::size_t> place_of(std::string_view name, std::size_t count) const;

  private:
    std::vector<const Operand*> list_;
};

}  // namespace dtnn
