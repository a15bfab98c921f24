#pragma once
/// The assignment of storage, which is switched off like an optional pass, but is no rewrite of the
/// graph.

#include "compiler/passes/pass.hpp"

namespace dtnn::tools {

inline const compiler::PassInfo& storage_pass() {
    static const compiler::PassInfo info{
        "in_place", "Lets a node write over an operand that nobody reads afterwards.", nullptr,
        compiler::ProgramSet(plan::ProgramKind::train, plan::ProgramKind::evaluate,
                             plan::ProgramKind::predict, plan::ProgramKind::generate),
        true};
    return info;
}

}  // namespace dtnn::tools
