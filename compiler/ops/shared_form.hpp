#pragma once
/// How a layer reads a parameter that is another layer's.

#include <cstdint>
#include <optional>

#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

enum class SharedForm : std::uint8_t {
    as_it_is,
    transposed,  ///< [a, b] as [b, a]: the node's attribute kTransposed says so
};

/// Nothing where the reader, which would have one of the extents `wanted` itself, cannot read one
/// of the extents `there` of such an owner. Layers of one operator share what has the same extents;
/// what may be read the other way round an operator says (`reads_transposed`).
std::optional<SharedForm> shared_form(const OpDef& reader, const Dims& wanted, const OpDef& owner,
                                      const Dims& there);

/// The flag of a node whose weights lie the other way round.
inline constexpr const char* kTransposed = "transposed";

}  // namespace dtnn::compiler
