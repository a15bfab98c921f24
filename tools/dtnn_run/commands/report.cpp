/// The options of `dtnn-run report`.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

std::function<int()> declare_report(OptionList& list) {
    auto options = std::make_shared<Options>();
    list.arguments(
        "RUN", options->runs,
        "Folders of runs, of a sweep, or of folders of runs: more than one are compared");
    list.text("-o,--output", options->output,
              "The page's file, - for standard output; default report.html in the folder of the "
              "run or the sweep, and comparison.html here for several runs",
              {.value = "FILE"});
    list.one_of("--format", options->report_format,
                "The page, or the comparison as text, CSV or JSON on standard output",
                std::vector{tools::Format::html, tools::Format::text, tools::Format::csv,
                            tools::Format::json});
    declare_color(list, *options);
    return [options] {
        require_one_process("report");
        return report_command(*options);
    };
}

const tools::RegisteredCommand kReportCommand(
    {.name = "report",
     .doc = "Writes a page about a run, or about several beside each other",
     .place = 10,
     .declare = declare_report,
     .purpose = tools::Purpose::look,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnn-run report runs/first",
                   "curves, results, layers, settings and machine, in runs/first/report.html"},
                  {"dtnn-run report runs/first runs/second -o both.html",
                   "curves over each other, what differs, the best values"},
                  {"dtnn-run report sw --format csv", "the runs of a sweep as a table"}}});

}  // namespace
}  // namespace dtnn
