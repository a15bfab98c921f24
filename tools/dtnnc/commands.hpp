#pragma once
/// The commands of dtnnc, one function each; main.cpp reads the command line. All return the exit
/// code.

#include <cstdio>
#include <string>
#include <vector>

namespace dtnn::compiler {
class Diagnostics;
}

namespace dtnn::tools {

struct CommonOptions {
    std::vector<std::string> settings;  ///< --set, in order
    std::vector<std::string>
        spec_path;                ///< --spec-path, then DTNN_SPEC_PATH, then the installed specs
    std::string format = "text";  ///< text or json
    std::string color = "auto";   ///< auto, always or never
};

/// Every mistake in the specs, nothing written: silent and 0 when there is none.
int check(const std::vector<std::string>& specs, const CommonOptions& options);

/// What the product knows about a word: an operator, a field, a kind, a diagnostic, a pass or a
/// kernel.
int explain(const std::string& word, const CommonOptions& options);

/// `auto` colours a terminal, unless NO_COLOR is set to something.
bool use_color(const std::string& color, std::FILE* stream);

/// Prints to standard error as text, or to standard output as JSON, when there is something to say;
/// returns their exit code.
int print_diagnostics(const compiler::Diagnostics& diagnostics, const CommonOptions& options);

}  // namespace dtnn::tools
