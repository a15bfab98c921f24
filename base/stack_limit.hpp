#pragma once
/// The room of stacks, which a shell's or a scheduler's limit (ulimit -s) may make too small for
/// specs that are nested deep and for threads that compute.

#include <string>

namespace dtnn {

/// Where the limit is below what programs commonly have (8 MiB), raises it as far as the system
/// allows, and gives threads that are made from now on a stack of that size.
/// Empty, or why the program cannot go on: its own stack may have no more than a fraction of a MiB.
/// Call once, first in main.
std::string raise_stack_limit();

}  // namespace dtnn
