#include <memory>

#include "compiler/driver/target.hpp"
#include "plan/devices.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/runtime_library.hpp"
#include "tools/dtnnc/standard_input.hpp"

namespace dtnn::tools {

namespace {

struct TuneArguments {
    TuneKernelsCommand kernels;
    int repeats = 0;
};

int tune(const TuneArguments& given) {
    TuneKernelsCommand kernels = given.kernels;
    if (is_plan(kernels.source)) {
        if (!plan::traits_of(load_plan(kernels.source).target.device).tunes_kernels) {
            refuse_spec_options(kernels.common, kernels.source);
            if (kernels.output.empty() && is_standard_input(kernels.source))
                throw UsageError("-o: the tuned plan of standard input needs a name");
            TuneEnginesCommand engines{kernels.source, kernels.output};
            if (given.repeats > 0) engines.repeats = given.repeats;
            return runtime_library().tune_engines(engines);
        }
    } else if (!plan::traits_of(kernels.compile.options.device).tunes_kernels) {
        throw UsageError("--target: engines of a device are chosen in a plan\nhelp: compile " +
                         kernels.source + " and tune the plan");
    }
    if (given.repeats > 0) kernels.calls = given.repeats;
    return runtime_library().tune_kernels(kernels);
}

std::function<int()> declare_tune(OptionList& list) {
    auto given = std::make_shared<TuneArguments>();
    TuneKernelsCommand& command = given->kernels;
    compiler::CompileOptions& options = command.compile.options;
    list.argument("SPEC|PLAN", command.source, "A job, a model or a plan");
    declare_common(list, command.common, {Format::text});
    list.text("-o,--output", command.output,
              "File of the tuned plan; default of a plan for a device PLAN with `.tuned.json` at "
              "its end, of a spec none: later compilations use the times",
              {.value = "FILE"});
    list.text("--tuning", command.compile.tuning,
              "File that times go to; default $DTNN_TUNING, else tuning.json of the cache folder",
              {.value = "FILE"});
    list.flag("--again", command.again, "Measures what the file has, too");
    list.number("--repeats", given->repeats,
                "Runs of every kernel or engine that are measured; default 11 and 20",
                {.lowest = 1});
    list.text("--isa", options.isa, "Instruction set, as of `dtnnc compile`",
              {.value = "ISA", .offers = compiler::isa_names()});
    list.number("--threads", options.threads, "Threads, as of `dtnnc compile`",
                {.lowest = 1, .highest = 4096});
    return [given] { return tune(*given); };
}

const RegisteredCommand kTuneCommand(
    {.name = "tune",
     .doc = "Measures which kernels are fastest on this machine, for later compilations; of a plan "
            "for a device its libraries' engines",
     .place = 115,
     .declare = declare_tune,
     .purpose = Purpose::measure,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::over_budget},
               {ExitCode::mismatch}},
     .examples = {{"dtnnc tune job.yaml", "later compilations choose kernels by the times"},
                  {"dtnnc tune job.yaml --tuning times.json -o tuned.json",
                   "times in a file of their own, and a plan by them"}}});

}  // namespace

}  // namespace dtnn::tools
