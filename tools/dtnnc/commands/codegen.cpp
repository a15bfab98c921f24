#include <memory>

#include "tools/command_line/command.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

namespace {

std::function<int()> declare_codegen(OptionList& list) {
    auto command = std::make_shared<CodegenCommand>();
    list.argument("PLAN", command->plan, "An execution plan");
    list.one_of("--emit", command->assembly,
                "llvm, the intermediate language; asm, what the processor runs",
                {{"llvm", false}, {"asm", true}});
    list.text("--step", command->step, "Of this step alone, by its name in the plan",
              {.value = "NAME"});
    return [command] { return runtime_library().codegen(*command); };
}

const RegisteredCommand kCodegenCommand(
    {.name = "codegen",
     .doc = "Prints the code that is generated for a plan's elementwise expressions",
     .place = 117,
     .declare = declare_codegen,
     .purpose = Purpose::look,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnnc codegen plan.json --emit asm",
                   "what the processor runs for the plan's elementwise steps"}},
     .details = "Plans for GPUs have none: their kernels interpret expressions."});

}  // namespace

}  // namespace dtnn::tools
