/// The options of the commands on files of weights.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

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

void declare_output(OptionList& list, Options& options) {
    list.text("-o,--output", options.output, "The file: .safetensors, or .npz for NumPy",
              {.required = true, .value = "FILE"});
}

std::function<int()> declare_export(OptionList& list) {
    auto options = std::make_shared<Options>();
    declare_file(list, *options);
    declare_output(list, *options);
    list.text("--plan", options->plan,
              "The plan of the weights, for --map and --layout; a run's folder has it",
              {.value = "PLAN"});
    declare_export_options(list, options->weight_options);
    return [options] {
        require_one_process("weights");
        return weights_export_command(*options);
    };
}

std::function<int()> declare_import(OptionList& list) {
    auto options = std::make_shared<Options>();
    declare_file(list, *options);
    declare_output(list, *options);
    list.text("--plan", options->plan, "The plan whose names and axes they get",
              {.required = true, .value = "PLAN"});
    declare_weight_options(list, options->weight_options);
    return [options] {
        require_one_process("weights");
        return weights_import_command(*options);
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
     .doc = "Writes the same tensors in another format, or as other programs have them",
     .place = 30,
     .declare = declare_export,
     .purpose = tools::Purpose::use,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnn-run weights export runs/first -o weights.npz", "for NumPy"},
                  {"dtnn-run weights export runs/first --layout torch -o torch.safetensors",
                   "axes and words of PyTorch"}}});

const tools::RegisteredCommand kImportCommand(
    {.name = "weights import",
     .doc = "Writes weights of other programs, such as PyTorch's, as weights of a plan",
     .place = 31,
     .declare = declare_import,
     .purpose = tools::Purpose::use,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnn-run weights import theirs.safetensors --plan plan.json -o own.safetensors",
                   "PyTorch's, or torchvision's of the same model"}}});

}  // namespace
}  // namespace dtnn
