/// The options of the commands that use trained weights: evaluate, predict and serve.

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

/// Where it listens, and who is let in.
void declare_listening(OptionList& list, serve::ServeOptions& options) {
    list.text("--address", options.address,
              "The IP address to listen at; others than this machine's own need --token-file",
              {.shows_default = true, .value = "ADDRESS"});
    list.number("--port", options.port, "The TCP port; 0: any that is free",
                {.lowest = 0, .highest = 65'535, .shows_default = true});
    list.text("--socket", options.socket, "Listens at a Unix socket of this path instead",
              {.value = "PATH"});
    list.excludes("--socket", "--address");
    list.excludes("--socket", "--port");
    list.text("--token-file", options.token_file,
              "Asks all clients for the token in the first line of this file (`Authorization: "
              "Bearer TOKEN`)",
              {.value = "FILE"});
    list.number("--max-connections", options.max_connections, "Clients at the same time",
                {.lowest = 1, .highest = 100'000, .shows_default = true});
    list.number("--max-body", options.max_body_mib,
                "MiB of a request; default what a batch takes as JSON, and 1",
                {.lowest = 1, .highest = 16'384});
    list.number("--client-seconds", options.client_seconds,
                "The most seconds that a client takes for a request's header, for its body, and to "
                "take the answer",
                {.lowest = 1, .highest = 86'400, .shows_default = true});
    list.number("--http-threads", options.http_threads,
                "Threads that read requests and write answers, beside those that compute; default "
                "as many as these, at most 4",
                {.lowest = 1, .highest = 256});
}

std::function<int()> declare_serve(OptionList& list) {
    auto options = std::make_shared<Options>();
    list.argument("PLAN", options->plan,
                  "An execution plan, with --weights, or the folder of a run, which has both", true,
                  "PLAN|RUN");
    declare_color(list, *options);
    declare_weights(list, *options);
    list.text("--name", options->serve.name, "What clients call the model; default as the plan",
              {.value = "NAME"});
    declare_listening(list, options->serve);
    list.real("--batch-wait-ms", options->serve.batch_wait_ms,
              "The most milliseconds that a request waits for others to be computed with it (1)", 0,
              10'000);
    list.number("--max-batch", options->serve.max_batch,
                "Samples that are computed together; default, and at most, the plan's batch",
                {.lowest = 1, .highest = 1'000'000});
    return [options] {
        require_one_process("serve");
        return serve_command(*options);
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

const tools::RegisteredCommand kServeCommand(
    {.name = "serve",
     .doc = "Answers requests for predictions over HTTP, until a signal ends it",
     .place = 30,
     .declare = declare_serve,
     .purpose = tools::Purpose::use,
     .exits = {{ExitCode::done, "a signal ended it, and what had begun was answered"},
               {ExitCode::failed},
               {ExitCode::mismatch}},
     .examples = {{"dtnn-run serve runs/first --port 8080", "at http://127.0.0.1:8080/v2"},
                  {"dtnn-run serve plan.json --weights runs/first/weights.safetensors --socket "
                   "digits.sock",
                   "for programs of this machine that open the socket"}},
     .details = "The paths are those of the Open Inference Protocol (KServe's v2), with binary "
                "tensors, and /metrics for Prometheus. Requests that come together are computed "
                "together. SIGTERM and Ctrl-C end it once what has begun is answered."});

}  // namespace
}  // namespace dtnn
