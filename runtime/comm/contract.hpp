#pragma once
/// The facts that all ranks of a job must agree on before its first step.

#include <string>
#include <vector>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

struct Fact {
    std::string name;  ///< "plan checksum", "version of dtnn-run", "batch size"
    std::string value;
    bool operator==(const Fact&) const = default;
};

/// Compares the facts of all ranks: hashes first, and only when those differ the facts themselves.
/// On a difference all ranks throw the same RunError(Exit::mismatch), which names the ranks in the
/// minority, the first fact that differs, and both values. All ranks call it.
void check_contract(Communicator& communicator, const std::vector<Fact>& facts);

}  // namespace dtnn::runtime
