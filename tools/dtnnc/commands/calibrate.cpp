#include "tools/dtnnc/calibrate/calibrate.hpp"

#include <memory>

#include "tools/dtnnc/command.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

namespace {

std::function<int()> declare_calibrate(OptionList& list) {
    auto command = std::make_shared<CalibrateCommand>();
    list.text("-o,--output", command->output, "File of the machine's spec, - for standard output",
              {.shows_default = true});
    list.text("--name", command->name, "The machine's name; default the host's");
    list.real("--seconds", command->seconds, "About as long kernels are measured", 1.0, 600.0);
    list.text("--target", command->target,
              "Also measures a device of this machine: cuda; default the cpu alone");
    list.flag("--ranks", command->ranks,
              "Also measures reductions between the ranks that mpiexec or srun started");
    return [command] {
        if (command->target != "cpu" && command->target != "cuda")
            throw UsageError("--target " + command->target + ": it is cpu or cuda");
        return calibrate(*command);
    };
}

const RegisteredCommand kCalibrateCommand(
    {.name = "calibrate",
     .doc = "Measures this machine and writes its spec, for forecasts and plans",
     .place = 110,
     .declare = declare_calibrate});

}  // namespace

}  // namespace dtnn::tools
