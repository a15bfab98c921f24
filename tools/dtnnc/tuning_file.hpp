#pragma once
/// The file of the history of tuning, and how it is read and written.

#include <optional>
#include <string>

#include "compiler/tuning/tuning_file.hpp"

namespace dtnn::tools {

using compiler::TuningFile;

/// Which file the command line and the environment name: `option`, else the usual one.
TuningFile tuning_file(const std::string& option);

/// The history of the file. Nothing where there is no such file, if it need not exist. What is no
/// history is a UsageError where the user named the file, else a warning, once, and nothing.
std::optional<compiler::TuningHistory> read_tuning_file(const TuningFile& file,
                                                        bool must_exist = false);

/// The file with these entries in place of its own ones of the same problems, whole or not at all;
/// makes the folder of the usual place. What other processes add meanwhile stays. Throws
/// OutputError; UsageError for a file that is there and is no history, which is left alone.
void add_to_tuning_file(const TuningFile& file, const compiler::TuningHistory& measured);

}  // namespace dtnn::tools
