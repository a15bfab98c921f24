#pragma once
/// The attribute `axis` of operators that work along channels.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

inline Field axis_field(std::string_view doc) {
    return choice_field("axis", "channels", {"channels"}, doc);
}

/// Sets `axis` when it is absent and fails unless operand 0 has a channel axis (logical axis 1).
inline bool expect_channel_axis(ShapeContext& c, const char* op) {
    fallback(c, "axis", std::string("channels"));
    if (c.input(0).dims.size() >= 2) return true;
    c.fail(std::string(op) + " needs a channel axis, got a scalar or a vector");
    return false;
}

}  // namespace dtnn::compiler
