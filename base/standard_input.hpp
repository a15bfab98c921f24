#pragma once
/// Specs and plans from standard input: `-` on the command line.

#include <functional>
#include <string>
#include <string_view>

namespace dtnn {

/// The name of standard input where files are named, in messages too.
inline constexpr std::string_view kStandardInput = "<stdin>";

/// Adds to `text` what standard input has, in pieces, until it ends or `enough` says so of what has
/// come; 0 or an errno. `enough` is asked several times a second while nothing comes, and after
/// every signal; it may throw.
int read_standard_input(std::string& text, const std::function<bool(const std::string&)>& enough);

}  // namespace dtnn
