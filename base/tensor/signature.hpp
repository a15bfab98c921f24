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
        like_first,  ///< the first source's type and shape
        number,      ///< one of the first source's type
        count        ///< one i64
    };
    std::string name;
    Kind kind = Kind::like_first;
    std::string attribute;    ///< that says whether it is there; empty: it always is
    bool above_zero = false;  ///< the attribute is a number, which every step has
    std::string unless;       ///< the attribute's text where it is not there; empty: no text
};

using OperandList = std::vector<Operand>;

struct Signature {
    std::string_view op;
    OperandList sources, destinations;
};

/// Null: the operator states its operands itself.
const Signature* find_signature(std::string_view op);

/// Whether a node or a step that has these attributes has the operand.
bool is_there(const Operand& operand, const Attributes& attributes);
/// The operands that are there, in their order.
OperandList present(const OperandList& operands, const Attributes& attributes);
/// The place of an operand among those that are there; none where it is not.
std::optional<std::size_t> place_of(const OperandList& operands, std::string_view name,
                                    const Attributes& attributes);

}  // namespace dtnn
