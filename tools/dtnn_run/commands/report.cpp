/// The options of `dtnn-run report`.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/job_words.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

std::function<int()> declare_report(OptionList& list) {
    auto options = std::make_shared<Options>();
    list.argument("RUN", options->plan, "The folder of a run");
    list.text("-o,--output", options->output,
              "The page's file, - for standard output; default report.html in the run's folder",
              {.value = "FILE"});
    declare_color(list, *options);
    return [options] {
        require_one_process("report");
        return report_command(*options);
    };
}

const tools::RegisteredCommand kReportCommand(
    {.name = "report",
     .doc = "Writes a page about a run, for a browser",
     .place = 10,
     .declare = declare_report,
     .purpose = tools::Purpose::look,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnn-run report runs/first",
                   "curves, results, layers, settings and machine, in runs/first/report.html"}}});

}  // namespace
}  // namespace dtnn
