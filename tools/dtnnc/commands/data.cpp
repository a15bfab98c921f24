#include <memory>

#include "tools/command_line/command.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {
namespace {

std::function<int()> declare_data(OptionList& list) {
    auto given = std::make_shared<DataCommand>();
    DataCommand& command = *given;
    list.argument("SPEC|PLAN|DATA", command.source,
                  "A job, a dataset or a plan; or data: a folder, a table, an archive");
    declare_common(list, command.common);
    list.number("--samples", command.samples,
                "Samples of each split to look at, drawn at random; 0 looks at all",
                {.lowest = 0, .shows_default = true});
    list.text("--contact-sheet", command.contact_sheet,
              "PNG file to draw: samples as evaluation sees them, then as the first epochs do",
              {.value = "FILE"});
    list.text("--write", command.write,
              "File of the dataset's spec that is written of data: type, counts, classes, shape, "
              "mean, deviation, hash",
              {.value = "FILE"});
    list.flag("!--no-step", command.step, "Does not measure the job's training step");
    return [given] { return runtime_library().data(*given); };
}

const RegisteredCommand kDataCommand(
    {.name = "data",
     .doc = "Looks at a dataset: counts, balance, pixels, and whether it comes fast enough",
     .place = 80,
     .declare = declare_data,
     .purpose = Purpose::look,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::over_budget},
               {ExitCode::mismatch}},
     .examples = {{"dtnnc data job.yaml", "and whether samples come as fast as the job needs them"},
                  {"dtnnc data job.yaml --no-step --contact-sheet sheet.png",
                   "what the network gets to see"},
                  {"dtnnc data flowers --write flowers.yaml",
                   "the spec of a folder of pictures, written for you"}}});

}  // namespace

}  // namespace dtnn::tools
