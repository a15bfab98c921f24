#pragma once
/// The options that most commands take: the form and colour of what is printed, and how specs are
/// found and changed.

#include <cstdio>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/command_line/command.hpp"
#include "tools/command_line/output_format.hpp"

namespace dtnn::tools {

struct CommonOptions {
    std::vector<std::string> settings;  ///< --set, in order
    /// --spec-path, then DTNN_SPEC_PATH, then the installed specs.
    std::vector<std::string> spec_path;
    Format format = Format::text;    ///< text or json, and what a command takes besides
    std::string color = "auto";      ///< auto, always or never
    int max_errors = 20;             ///< shown as text; 0: all
    int ranks = 0;                   ///< --ranks of commands that compile; 0: not given
    std::vector<std::string> allow;  ///< --allow: lints that are not said
    bool strict = false;             ///< --strict: warnings are errors
    bool lint = false;               ///< of commands with these two
};

/// --format and --color.
void declare_format(OptionList& list, CommonOptions& options,
                    const std::vector<Format>& formats = {Format::text, Format::json});
/// These, and what commands on specs take besides.
void declare_common(OptionList& list, CommonOptions& options,
                    const std::vector<Format>& formats = {Format::text, Format::json});
void declare_set(OptionList& list, CommonOptions& options);
/// --strict and --allow, of commands that judge specs.
void declare_lints(OptionList& list, CommonOptions& options);
/// Makes warnings errors where the command line says so.
void settle_warnings(const CommonOptions& options, compiler::Diagnostics& diagnostics);
/// Behind the given folders come those of DTNN_SPEC_PATH and the installed ones.
void declare_spec_path(OptionList& list, CommonOptions& options);

/// The part of a command line that loading specs takes. Throws UsageError for a lint that there is
/// not.
compiler::LoadOptions load_options(const CommonOptions& options);

/// Options that change specs, given with a plan: UsageError.
void refuse_spec_options(const CommonOptions& options, const std::string& plan);

/// `auto` colours a terminal, unless NO_COLOR is set to something.
bool use_color(const std::string& color, std::FILE* stream);

/// Prints to standard error as text, or to standard output as JSON, when there is something to say;
/// returns their exit code.
int print_diagnostics(const compiler::Diagnostics& diagnostics, const CommonOptions& options);

}  // namespace dtnn::tools
