#include <memory>

#include "tools/dtnnc/calibrate/tune_plan.hpp"
#include "tools/dtnnc/command.hpp"

namespace dtnn::tools {

namespace {

std::function<int()> declare_tune(OptionList& list) {
    auto command = std::make_shared<TuneCommand>();
    list.argument("PLAN", command->plan, "A plan for cuda");
    list.text("-o,--output", command->output,
              "File of the tuned plan; default PLAN with `.tuned.json` at its end");
    list.number("--repeats", command->repeats, "Runs of every engine that are measured",
                {.lowest = 1});
    return [command] { return tune_plan(*command); };
}

const RegisteredCommand kTuneCommand(
    {.name = "tune",
     .doc = "Measures the engines of a plan's convolutions and products on this machine's device",
     .place = 115,
     .declare = declare_tune});

}  // namespace

}  // namespace dtnn::tools
