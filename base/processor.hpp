#pragma once
/// What computes here.

#include <string>

namespace dtnn {

/// The processor's model as the system names it; empty where it has no name.
std::string processor_name();

}  // namespace dtnn
