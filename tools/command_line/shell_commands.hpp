#pragma once
/// The commands that every program has: help, completion and man.

#include <vector>

#include "tools/command_line/program.hpp"

namespace dtnn::tools {

/// Adds them; `program` is the one whose entries they are, and lives as long.
void add_shell_commands(const Program& program, std::vector<Program::Entry>& entries);

}  // namespace dtnn::tools
