/// The options of `dtnn-run bench`.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

std::function<int()> declare_bench(OptionList& list) {
    auto options = std::make_shared<Options>();
    declare_plan(list, *options);
    declare_format(list, *options);
    declare_ranks(list, *options, "Processes that step together, started by mpiexec");
    list.number("--steps", options->steps, "Measured steps, after a few to warm up",
                {.lowest = 1, .highest = 100'000'000, .shows_default = true});
    list.text("--program", options->program,
              "What is measured; evaluate and predict run on one batch that is read once",
              {.choices = {"train", "evaluate", "predict"}});
    list.flag("--per-step", options->per_step,
              "Also times each step of the program, beside what the machine can do at best");
    list.text("--roofline", options->roofline,
              "Draws each step's speed under the machine's roofs to this file, as SVG",
              {.value = "FILE"});
    list.text("--trace", options->trace,
              "Writes the times of some more steps to this file, for Perfetto and Chrome",
              {.value = "FILE"});
    list.flag(
        "--resident", options->resident,
        "Measured steps are over one batch, which the device has already: no reading of data");
    list.flag("--synthetic-data", options->synthetic_data,
              "Made-up samples instead of the dataset");
    return [options, &list] {
        options->command = shared_words("bench", list);
        start_job_if_asked("bench", list, *options);
        return bench_command(*options);
    };
}

const tools::RegisteredCommand kBenchCommand(
    {.name = "bench",
     .doc = "Measures steps of training, or of inference",
     .place = 20,
     .declare = declare_bench,
     .purpose = tools::Purpose::measure,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}, {ExitCode::interrupted}},
     .examples = {
         {"dtnn-run bench plan.json", "time of a step, samples a second, memory"},
         {"dtnn-run bench plan.json --program predict --per-step",
          "inference, step by step beside the machine's roofs"},
         {"dtnn-run bench plan.json --steps 20 --roofline roofs.svg", "the same, drawn"}}});

}  // namespace
}  // namespace dtnn
