/// The options of `dtnn-run sweep`.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

std::function<int()> declare_sweep(OptionList& list) {
    auto options = std::make_shared<Options>();
    list.argument("FOLDER", options->plan,
                  "The folder that dtnnc compile SPEC --sweep has written");
    list.one_of("--format", options->format,
                "Form of the table on standard output; FOLDER/results.csv is written in any case",
                std::vector{tools::Format::text, tools::Format::csv, tools::Format::json});
    list.flag("--table", options->table_only,
              "Trains nothing; only writes and prints the table of the runs as they stand");
    list.text("--progress", options->progress,
              "What is shown on standard error; auto: a bar on a terminal, else lines",
              {.choices = {"auto", "bar", "plain", "none"}});
    declare_color(list, *options);
    list.flag("--tensorboard", options->tensorboard,
              "Also writes event files for TensorBoard, to the tensorboard/ of each run");
    declare_ranks(list, *options, "Processes that share each training, started by mpiexec");
    list.number("--max-restarts", options->max_restarts,
                "Starts a run again from its last checkpoint, so many times at most, when a rank "
                "was killed or lost or the run failed (1)",
                {.lowest = 0, .highest = 1'000'000});
    return [options] {
        require_one_process("sweep");
        return sweep_command(*options);
    };
}

const tools::RegisteredCommand kSweepCommand(
    {.name = "sweep",
     .doc = "Trains the plans of a sweep, goes on with what stopped, and writes a table",
     .place = 20,
     .declare = declare_sweep,
     .purpose = tools::Purpose::run,
     .exits = {{ExitCode::failed, "a run failed; the others were trained"},
               {ExitCode::mismatch},
               {ExitCode::interrupted}},
     .examples = {{"dtnn-run sweep sw", "trains what is not finished, a run after the other"},
                  {"dtnn-run sweep sw --table --format csv", "the runs as they stand"}},
     .details = "Each plan NAME.plan.json is trained in a process of its own, to FOLDER/runs/NAME. "
                "Several sweeps of one folder share the work."});

}  // namespace
}  // namespace dtnn
