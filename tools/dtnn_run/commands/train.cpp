/// The options of `dtnn-run train`, whose word may be left out.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/more_epochs.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

void declare_reports(OptionList& list, Options& options) {
    declare_progress(list, options);
    list.flag("--tensorboard", options.tensorboard,
              "Also writes event files for TensorBoard, to the run's tensorboard/");
    list.number("--histograms", options.histograms_every,
                "Histograms of all parameters every so many epochs; implies --tensorboard",
                {.lowest = 1, .highest = 1'000'000});
    list.text("--trace", options.trace,
              "Writes the times of the steps to this file, for Perfetto and Chrome, and a table by "
              "operator to the run's operator_times.txt",
              {.value = "FILE"});
    list.text("--log-samples", options.log_samples,
              "Writes a line of JSON with the samples of every step to this file; of several ranks "
              "to one for each: FILE.0, FILE.1 ...",
              {.value = "FILE"});
    list.flag("--check-numbers", options.check_numbers,
              "Looks at every result of every step for what is no number; slow");
    list.excludes("--check-numbers", "--trace");
}

std::function<int()> declare_train(OptionList& list) {
    auto options = std::make_shared<Options>();
    declare_plan(list, *options, false);
    declare_format(list, *options);
    list.text("-o,--output", options->output, "The run's folder; default a dated one under runs/",
              {.value = "FOLDER"});
    list.text("--resume", options->resume,
              "Goes on with the run in this folder, from its newest checkpoint, as if never "
              "stopped; PLAN may be left out",
              {.value = "RUN"});
    list.excludes("--output", "--resume");
    list.text("--weights", options->weights, "Begins with the weights of this file",
              {.value = "FILE"});
    list.excludes("--weights", "--resume");
    declare_weight_options(list, options->weight_options, true);
    list.flag("--keep-global-batch", options->keep_global_batch,
              "Goes on only if global batches are of as many samples as before; another number of "
              "ranks needs a PLAN for it then");
    list.needs("--keep-global-batch", "--resume");
    list.text("--epochs", options->epochs,
              "Goes on with a run that has finished: +N epochs more, or N in all; another "
              "training, which takes weights and the optimizer's state over",
              {.value = "+N"});
    list.needs("--epochs", "--resume");
    list.flag("--force", options->force, "Replaces the run that the folder holds");
    list.excludes("--force", "--resume");
    declare_reports(list, *options);
    declare_ranks(list, *options,
                  "Processes that share the training, started by mpiexec; of a dry run those that "
                  "it walks through, the plan's when not given");
    list.number("--max-restarts", options->max_restarts,
                "Starts again from the last checkpoint, so many times at most, when a rank was "
                "killed or lost or the run failed (1); not after 2, 5, 6, 70, 75",
                {.lowest = 0, .highest = 1'000'000});
    list.flag("--dry-run", options->dry_run,
              "Runs every rank's schedule of an epoch without its arithmetic: exchanges, samples, "
              "weights");
    list.excludes("--dry-run", "--resume");
    return [options, &list] {
        if (!options->epochs.empty()) require_epochs(options->epochs);
        options->command = shared_words("train", list);
        if (options->dry_run) return dry_run_command(*options);
        start_job_if_asked("train", list, *options);
        return train_command(*options);
    };
}

const tools::RegisteredCommand kTrainCommand(
    {.name = "train",
     .doc = "Trains as a plan says, then evaluates on the test split",
     .place = 10,
     .declare = declare_train,
     .purpose = tools::Purpose::run,
     .exits =
         {{ExitCode::failed}, {ExitCode::mismatch}, {ExitCode::diverged}, {ExitCode::interrupted}},
     .examples = {{"dtnn-run plan.json --output runs/first",
                   "trains; history, checkpoints and weights go to the folder"},
                  {"dtnn-run --resume runs/first", "goes on after a kill, to the same bits"},
                  {"dtnn-run --resume runs/first --epochs +5",
                   "goes on with a run that has finished, for five epochs more"},
                  {"dtnn-run --ranks 2 --max-restarts 3 ranks.json",
                   "two processes, started again when one of them dies"},
                  {"dtnn-run --dry-run --ranks 512 ranks.json",
                   "what 512 processes would do, checked on this one"}},
     .details =
         "The word `train` may be left out. SIGTERM, SIGHUP, SIGUSR1 and Ctrl-C stop a run after a "
         "checkpoint, with exit code 75; all of them but SIGUSR1 again end it at once."});

}  // namespace
}  // namespace dtnn
