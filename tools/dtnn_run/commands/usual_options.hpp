#pragma once
/// The options that several commands of dtnn-run take, said once.

#include "tools/command_line/command.hpp"
#include "tools/dtnn_run/commands.hpp"

namespace dtnn {

/// The plan, and colours.
void declare_plan(tools::OptionList& list, Options& options, bool required = true);
void declare_color(tools::OptionList& list, Options& options);
/// --format, of commands that print data.
void declare_format(tools::OptionList& list, Options& options);
/// Declares what is shown of work that takes long.
void declare_progress(tools::OptionList& list, Options& options);
void declare_ranks(tools::OptionList& list, Options& options, const char* doc);
/// --map, --layout, --match, --keep, --allow-missing, --cast. `optional`: --weights may be left
/// out, and they are refused without it.
void declare_weight_options(tools::OptionList& list, WeightOptions& options, bool optional = false);
/// --map and --layout, as where weights are written for other programs.
void declare_export_options(tools::OptionList& list, WeightOptions& options);

}  // namespace dtnn
