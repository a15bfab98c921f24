#pragma once
/// The words that may stand last on a command line, and the scripts that ask for them from bash,
/// zsh and fish.

#include <string>
#include <vector>

#include "tools/command_line/program.hpp"

namespace dtnn::tools {

/// A line for everything that may stand for the last word, which may be empty or begun: the word, a
/// tab and what it is; or, where the shell is to look for files, `:files` and the endings that they
/// may have (none: any), or `:folders`. The words are those behind the program's name.
std::string completions(const Program& program, std::vector<std::string> words);

/// The shells that have a script.
std::vector<std::string> completed_shells();
/// For one of them.
std::string completion_script(const std::string& program, const std::string& shell);

}  // namespace dtnn::tools
