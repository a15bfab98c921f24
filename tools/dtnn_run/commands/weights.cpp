/// The options of the commands on files of weights.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/job_words.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

void declare_file(OptionList& list, Options& options) {
    list.argument("FILE", options.weights, "A .safetensors or .npz file, or a run's folder");
    list.flag("--average", options.average, "Of a run's folder the moving averages");
    declare_color(list, options);
}

std::function<int()> declare_list(OptionList& list) {
    auto options = std::make_shared<Options>();
    declare_file(list, *options);
    declare_format(list, *options);
    return [options] {
        require_one_process("weights");
        return weights_list_command(*options);
    };
}

std::function<int()> declare_export(OptionList& list) {
    auto options = std::make_shared<Options>();
    declare_file(list, *options);
    list.text("-o,--output", options->output, "The file: .safetensors, or .npz for NumPy",
              {.required = true, .value = "FILE"});
    return [options] {
        require_one_process("weights");
        return weights_export_command(*options);
    };
}

const tools::RegisteredCommand kListCommand(
    {.name = "weights list",
     .doc = "Prints names, types and shapes in a file of weights, and its metadata",
     .place = 30,
     .declare = declare_list,
     .purpose = tools::Purpose::look,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {
         {"dtnn-run weights list runs/first", "of a run's weights"},
         {"dtnn-run weights list runs/first/weights.safetensors --format json", "for a script"}}});

const tools::RegisteredCommand kExportCommand(
    {.name = "weights export",
     .doc = "Writes the same tensors in another format",
     .place = 30,
     .declare = declare_export,
     .purpose = tools::Purpose::use,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnn-run weights export runs/first -o weights.npz", "for NumPy"}}});

}  // namespace
}  // namespace dtnn
