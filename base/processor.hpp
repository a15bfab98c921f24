#pragma once
/// The processor that the program runs on.

#include <string>

namespace dtnn {

/// The processor's model as the system names it; empty where it has no name.
std::string processor_name();

}  // namespace dtnn
