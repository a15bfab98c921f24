#pragma once
/// Specs that are written of data.

#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"
#include "tools/dtnnc/options.hpp"

namespace dtnn::runtime {
class RunError;
}

namespace dtnn::tools {

/// Whether the path is data rather than a spec or a plan: a folder, a table, an archive.
bool is_data(const std::string& path);

/// "FACT, DETAIL, help: HELP" on lines of their own, to standard error; the exit code.
int print_run_error(const runtime::RunError& error);

/// The spec of the data at `path` as a dataset, and its text, which would be the file `file`.
/// `samples`: as many of each split are looked at for mean and deviation; 0: all. Throws RunError
/// for data that cannot be read; nothing after a diagnostic, which settings may bring about.
struct WrittenSpec {
    compiler::DatasetSpec spec;
    std::string text;
    std::vector<std::string> remarks;  ///< what was guessed, and what people should look at
};
std::optional<WrittenSpec> write_spec(const std::string& path, const std::string& file,
                                      std::int64_t samples, const CommonOptions& options,
                                      compiler::Diagnostics& diagnostics);

}  // namespace dtnn::tools
