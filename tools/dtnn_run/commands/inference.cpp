/// The options of the commands that use trained weights: evaluate, predict, generate, serve.

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

/// How the next token is chosen.
void declare_sampling(OptionList& list, GenerateOptions& options) {
    list.real(
        "--temperature", options.sampling.temperature,
        "Divides the logarithms of probabilities: below 1 likely tokens are likelier, 0 takes "
        "the likeliest alone",
        0, 1000);
    list.number("--top-k", options.sampling.top_k,
                "Draws from so many of the likeliest tokens; default from all", {.lowest = 1});
    list.real("--top-p", options.sampling.top_p,
              "Draws from the fewest of the likeliest tokens that are at least this probable "
              "together",
              0.0001, 1);
    list.number("--seed", options.seed,
                "Of what is drawn: the same seed, the same text for the prompt of the same place",
                {.lowest = 0, .shows_default = true});
}

std::function<int()> declare_generate(OptionList& list) {
    auto options = std::make_shared<Options>();
    GenerateOptions& wish = options->generate;
    list.argument("PLAN", options->plan,
                  "An execution plan, with --weights, or the folder of a run, which has both", true,
                  "PLAN|RUN");
    declare_color(list, *options);
    declare_format(list, *options);
    declare_weights(list, *options);
    list.list("--prompt", wish.prompts,
              "The beginning of a text; of several a text each; without, each line of standard "
              "input is one");
    list.number("--length", wish.length, "The most new tokens of a text",
                {.lowest = 1, .shows_default = true});
    declare_sampling(list, wish);
    list.list("--stop", wish.stops, "Ends a text where this appears, which is not printed");
    list.text("--vocabulary", wish.vocabulary.path,
              "What tokens are, of a dataset of type tokens: tokenizer.json of Hugging Face, or "
              "ranks of tiktoken; default numbers",
              {.value = "FILE"});
    list.text("--pattern", wish.vocabulary.pattern,
              "What ranks take text apart by, where their number does not say it",
              {.choices = {"gpt2", "cl100k", "o200k"}, .value = "NAME"});
    list.needs("--pattern", "--vocabulary");
    return [options] {
        require_one_process("generate");
        return generate_command(*options);
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

const tools::RegisteredCommand kGenerateCommand(
    {.name = "generate",
     .doc = "Goes on with texts, token by token, by a network that predicts the next one",
     .place = 25,
     .declare = declare_generate,
     .purpose = tools::Purpose::use,
     .exits = {{ExitCode::failed},
               {ExitCode::mismatch},
               {ExitCode::diverged},
               {ExitCode::interrupted, "a signal ended it behind a token"}},
     .examples = {{"dtnn-run generate runs/words --prompt 'the old cats' --length 20",
                   "prints the text as it comes"},
                  {"dtnn-run generate runs/words --prompt 'a dog' --prompt 'the birds' "
                   "--temperature 0 --stop ' .' --format json",
                   "of two prompts the likeliest sentence each, a line of JSON each"},
                  {"echo 'the cat' | dtnn-run generate runs/words --top-p 0.9",
                   "a text for each line of standard input"}},
     .details = "The job of the plan has `generation`, and its model looks back only. Where a text "
                "becomes longer than the steps of the plan's dataset, what is before the last half "
                "of them is forgotten."});

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
