#include "tools/dtnnc_runtime/compare_runs.hpp"

#include "runtime/report/comparison_page.hpp"
#include "runtime/report/comparison_table.hpp"
#include "runtime/report/run_comparison.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

int compare_runs(const CompareRunsCommand& command) {
    const runtime::Comparison comparison =
        runtime::compare_runs(runtime::find_runs({command.folder}));
    if (!command.page.empty())
        write_file(command.page, runtime::comparison_page(comparison, command.page));
    const int exit_code = comparison.differences.empty() ? 0 : 1;
    if (command.quiet) return exit_code;
    const std::string differences = runtime::differences_text(comparison);
    write_stdout(command.format == Format::json  ? runtime::comparison_json(comparison)
                 : command.format == Format::csv ? runtime::comparison_csv(comparison)
                                                 : differences + (differences.empty() ? "" : "\n") +
                                                       runtime::comparison_text(comparison));
    return exit_code;
}

}  // namespace dtnn::tools
