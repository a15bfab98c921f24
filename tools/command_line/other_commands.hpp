#pragma once
/// Commands and options that people type who have the other of the two programs in mind, or another
/// tool, and what does the same here.

#include <string>
#include <string_view>

namespace dtnn::tools {

/// The help for a first word of the program that is none of its commands. Empty: nothing is known.
std::string help_of_other_command(std::string_view program, std::string_view word);
/// The same of an option, with its dashes, of one of its commands.
std::string help_of_other_option(std::string_view program, std::string_view option);

}  // namespace dtnn::tools
