#pragma once
/// What is switched off like an optional pass, but is no rewrite of the graph.

#include "compiler/passes/pass.hpp"

namespace dtnn::tools {

inline const compiler::PassInfo& storage_pass() {
    static const compiler::PassInfo info{
        "in_place", "Lets a node write over an operand that nobody reads afterwards.", true,
        nullptr, "train evaluate predict"};
    return info;
}

}  // namespace dtnn::tools
