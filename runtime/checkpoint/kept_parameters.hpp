#pragma once
/// The parameters that keep what they have when weights are loaded.

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/checkpoint/name_pattern.hpp"

namespace dtnn::runtime {

class KeptParameters {
  public:
    /// By patterns (name_pattern.hpp). One that is none is a RunError (exit 2), one that no
    /// parameter of the plan matches likewise (exit 5).
    KeptParameters(const plan::Plan& plan, const std::vector<std::string>& patterns);

    bool matches(const std::string& name) const;

  private:
    std::vector<NamePattern> patterns_;
};

}  // namespace dtnn::runtime
