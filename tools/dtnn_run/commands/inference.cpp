/// The options of the commands that use trained weights: evaluate and predict.

#include <memory>

#include "tools/dtnn_run/commands/usual_options.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

namespace dtnn {
namespace {

using tools::ExitCode;
using tools::OptionList;

void declare_weights(OptionList& list, Options& options) {
    list.text("--weights", options.weights,
              "A run's weights.safetensors, or an .npz; default those of the run",
              {.value = "FILE"});
    declare_weight_options(list, options.weight_options);
}

std::function<int()> declare_evaluate(OptionList& list) {
    auto options = std::make_shared<Options>();
    list.argument("PLAN", options->plan,
                  "An execution plan, with --weights, or the folder of a run, which has both", true,
                  "PLAN|RUN");
    declare_color(list, *options);
    declare_format(list, *options);
    list.text("--split", options->split, "Samples of the plan's dataset",
              {.choices = {"train", "validation", "test"}});
    declare_weights(list, *options);
    declare_progress(list, *options);
    return [options, &list] {
        options->command = shared_words("evaluate", list);
        return evaluate_command(*options);
    };
}

std::function<int()> declare_predict(OptionList& list) {
    auto options = std::make_shared<Options>();
    list.arguments("PLAN", options->runs,
                   "An execution plan, with --weights, or the folder of a run; of several runs the "
                   "mean of what they predict",
                   true, "PLAN|RUN");
    declare_color(list, *options);
    declare_weights(list, *options);
    list.several("--input", options->input,
                 "Images (JPEG, PNG), folders of images, arrays (.npy, .npz), tables (.csv); or "
                 "one split of the plan's dataset: train, validation, test",
                 {.required = true, .value = "FILE", .offers = {"train", "validation", "test"}});
    list.text("-o,--output", options->output,
              "The file of predictions, or the folder of masks; default -, standard output",
              {.value = "FILE"});
    list.one_of("--format", options->prediction_format,
                "Form of the predictions; default by the file's name, csv on standard output; png: "
                "masks, of a class for every pixel",
                kPredictionFormats);
    list.real("--threshold", options->threshold,
              "Where a sample has any number of labels: those this probable are given", 0, 1);
    declare_progress(list, *options);
    return [options] {
        require_one_process("predict");
        return predict_command(*options);
    };
}

const tools::RegisteredCommand kEvaluateCommand(
    {.name = "evaluate",
     .doc = "Prints loss and metrics of weights on a split of the dataset",
     .place = 10,
     .declare = declare_evaluate,
     .purpose = tools::Purpose::use,
     .exits =
         {{ExitCode::failed}, {ExitCode::mismatch}, {ExitCode::diverged}, {ExitCode::interrupted}},
     .examples = {{"dtnn-run evaluate runs/first", "on the test split"},
                  {"dtnn-run evaluate plan.json --weights runs/first/weights.safetensors --split "
                   "validation --format json",
                   "for a script"}}});

const tools::RegisteredCommand kPredictCommand(
    {.name = "predict",
     .doc = "Writes what a network says about files, or about a split of the dataset",
     .place = 20,
     .declare = declare_predict,
     .purpose = tools::Purpose::use,
     .exits =
         {{ExitCode::failed}, {ExitCode::mismatch}, {ExitCode::diverged}, {ExitCode::interrupted}},
     .examples = {{"dtnn-run predict plan.json --weights runs/first/weights.safetensors --input "
                   "test -o answers.csv",
                   "classes and probabilities of the test samples"},
                  {"dtnn-run predict runs/first --input pictures --format jsonl",
                   "of a folder of pictures, a line of JSON each"},
                  {"dtnn-run predict runs/first runs/second --input test -o mean.csv",
                   "the mean of two networks' probabilities"}}});

}  // namespace
}  // namespace dtnn
