#include <fmt/format.h>

#include <memory>

#include "plan/devices.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

namespace {

std::function<int()> declare_calibrate(OptionList& list) {
    auto command = std::make_shared<CalibrateCommand>();
    list.text("-o,--output", command->output, "File of the machine's spec, - for standard output",
              {.shows_default = true, .value = "FILE"});
    list.text("--name", command->name, "The machine's name; default the host's", {.value = "NAME"});
    list.real("--seconds", command->seconds, "About as long kernels are measured", 1.0, 600.0);
    list.text("--target", command->target, "Also measures a device of this machine",
              {.shows_default = true, .value = "DEVICE", .offers = plan::device_names()});
    list.flag("--ranks", command->ranks,
              "Also measures reductions between the ranks that mpiexec or srun started");
    return [command] {
        if (plan::find_device(command->target) == nullptr)
            throw UsageError(fmt::format("--target {}: it is {}", command->target,
                                         fmt::join(plan::device_names(), " or ")));
        return runtime_library().calibrate(*command);
    };
}

const RegisteredCommand kCalibrateCommand(
    {.name = "calibrate",
     .doc = "Measures this machine and writes its spec, for forecasts and plans",
     .place = 110,
     .declare = declare_calibrate,
     .purpose = Purpose::measure,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnnc calibrate -o machine.yaml", "about a minute, on an idle machine"},
                  {"mpiexec -n 2 dtnnc calibrate --ranks -o machine.yaml",
                   "with what travels between ranks"}}});

}  // namespace

}  // namespace dtnn::tools
