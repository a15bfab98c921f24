#pragma once
/// Specs and plans from standard input: `-` on the command line.

#include <string>

namespace dtnn::tools {

/// All of it, read the first time and kept: at most as much as a plan may have, and of what does
/// not begin as a plan as much as a spec. UsageError where it cannot be read.
const std::string& standard_input();

/// Whether the name stands for it: kStandardInput.
bool is_standard_input(const std::string& name);

/// What has been read; null: nothing.
const std::string* standard_input_read();
/// In a library, which has a state of its own: what its program has read (null: nothing).
void take_standard_input(const std::string* read);

}  // namespace dtnn::tools
