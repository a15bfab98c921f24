/// dtnn-run: trains, evaluates, predicts or measures what an execution plan says.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/comm/open.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/train/agreement.hpp"
#include "tools/dtnn_run/allocation_count.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/dry_run_command.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/launch.hpp"
#include "tools/dtnn_run/start_job.hpp"

namespace {

using dtnn::Options;
using dtnn::runtime::Exit;
using dtnn::runtime::RunError;

const char* const kExitCodes =
    "Exit codes: 0 done; 1 the run failed; 2 usage; 5 plan, machine or weights do not match;\n"
    "6 the loss is not a number; 70 internal error; 75 stopped by a signal after a checkpoint,\n"
    "--resume goes on. SIGTERM, SIGHUP, SIGUSR1 and Ctrl-C stop a run so; all but SIGUSR1 again\n"
    "end it at once.";

void add_plan(CLI::App& command, Options& options) {
    command.add_option("PLAN", options.plan, "an execution plan, written by dtnnc compile");
    command.add_option("--color", options.color, "colours on stderr")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
}

void add_ranks(CLI::App& command, Options& options, const char* text) {
    command.add_option("--ranks", options.ranks, text)->check(CLI::Range(1, 1'000'000));
}

void add_format(CLI::App& command, Options& options) {
    command.add_option("--format", options.format, "of what is printed on standard output")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
}

void add_predict(CLI::App& command, Options& options) {
    add_plan(command, options);
    command.get_option("PLAN")->required();
    command.add_option("--weights", options.weights, "a run's weights.safetensors, or an .npz")
        ->required();
    command
        .add_option("--input", options.input,
                    "images (JPEG, PNG), folders of images, arrays (.npy, .npz); or one split of "
                    "the plan's dataset: train, validation, test")
        ->required()
        ->expected(1, -1);
    command.add_option("-o,--output", options.output,
                       "the file of predictions; standard output when not given, or -");
    command
        .add_option("--format", options.prediction_format,
                    "of the predictions; by the file's name when not given, csv on standard output")
        ->check(CLI::IsMember({"csv", "jsonl", "npz"}));
    command
        .add_option("--threshold", options.threshold,
                    "where a sample has any number of labels: those this probable are given")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    dtnn::add_weight_options(command, options.weight_options);
}

void add_weights_file(CLI::App& command, Options& options) {
    command.add_option("FILE", options.weights, "a .safetensors or .npz file, or a run's folder")
        ->required();
    command.add_flag("--average", options.average, "of a run's folder the moving averages");
}

/// "train" is the word that may be left out.
std::vector<std::string> with_word(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) return words;
    const std::string& first = words.front();
    for (const char* known : {"train", "evaluate", "predict", "weights", "bench", "report",
                              "--help", "-h", "--version", "--help-all"}) {
        if (first == known) return words;
    }
    words.insert(words.begin(), "train");
    return words;
}

/// The words that have been read, without some of the options, as another process takes them.
std::vector<std::string> words_without(const CLI::App& command,
                                       const std::vector<std::string>& left_out) {
    std::vector<std::string> words = {command.get_name()}, last;
    for (const CLI::Option* option : command.get_options()) {
        const auto is_it = [&](const std::string& name) { return option->check_name(name); };
        if (option->count() == 0 || std::any_of(left_out.begin(), left_out.end(), is_it)) continue;
        const bool flag = option->get_expected_min() == 0;
        for (const std::string& value : option->results()) {
            if (!option->nonpositional())
                last.push_back(value);
            else
                words.push_back(flag ? option->get_name()
                                     : fmt::format("{}={}", option->get_name(), value));
        }
    }
    if (!last.empty()) words.emplace_back("--");
    words.insert(words.end(), last.begin(), last.end());
    return words;
}

/// The word, and those options on which depends what ranks do together; of files only whether they
/// are given: ranks may find them at different places. What rank 0 alone writes and shows is its
/// own.
std::string shared_words(const CLI::App& command) {
    std::string words = command.get_name();
    for (const char* name : {"--resume", "--weights"}) {
        const CLI::Option* option = command.get_option_no_throw(name);
        if (option != nullptr && option->count() > 0) words += std::string(" ") + name;
    }
    for (const char* name :
         {"--split", "--steps", "--per-step", "--synthetic-data", "--check-numbers"}) {
        const CLI::Option* option = command.get_option_no_throw(name);
        if (option == nullptr || option->count() == 0) continue;
        words += std::string(" ") + name;
        if (option->get_expected_min() > 0) words += "=" + option->results().front();
    }
    return words;
}

/// Ends with the code of the ranks, or of the one that may be started again.
[[noreturn]] void start_job_of(const CLI::App& command, const Options& options) {
    dtnn::JobRequest request;
    request.ranks = std::max(1, options.ranks);
    request.max_restarts = options.max_restarts;
    const std::vector<std::string> ours = {"--ranks", "--max-restarts"};
    request.words = words_without(command, ours);
    request.run = options.resume;
    request.words_again = [&, ours](const std::string& run, bool begun) {
        if (!options.resume.empty()) return request.words;
        std::vector<std::string> left_out = ours;
        left_out.insert(left_out.end(), {"--output", "--force"});
        std::vector<std::string> words;
        if (begun) {
            // The run's own plan: the file may be another one by now.
            left_out.insert(left_out.end(), {"PLAN", "--weights", "--map", "--layout", "--match",
                                             "--allow-missing", "--cast"});
        }
        words = words_without(command, left_out);
        if (begun) {
            words.insert(words.begin() + 1, "--resume=" + run);
        } else {
            // It has nothing yet that could be lost.
            words.insert(words.begin() + 1, {"--output=" + run, "--force"});
        }
        return words;
    };
    dtnn::start_job(request);
}

/// What ranks do not share, every rank would do, into the same file.
void require_one_process(const std::string& command) {
    const dtnn::runtime::StartedRanks started = dtnn::runtime::started_ranks();
    if (started.ranks == 1) return;
    throw dtnn::runtime::SharedRunError(RunError(
        Exit::usage,
        fmt::format("`{}` is the work of one process, and {} were started", command, started.ranks),
        "start it without mpiexec, and without srun or with `srun -n 1`"));
}

int run(int argc, char** argv, Options& options) {
    CLI::App app("Runs an execution plan: trains by default.", "dtnn-run");
    app.footer(kExitCodes);
    app.set_version_flag("--version", std::string("dtnn-run ") + DTNN_VERSION);
    app.require_subcommand(1);
    app.fallthrough(false);

    CLI::App& train = *app.add_subcommand("train", "train, then evaluate on the test split");
    add_plan(train, options);
    add_format(train, options);
    train.add_option("-o,--output", options.output,
                     "the run's folder; a dated one under runs/ when not given");
    CLI::Option* resume = train.add_option(
        "--resume", options.resume,
        "go on with the run in this folder, from its newest checkpoint, as if never stopped; PLAN "
        "may be left out");
    train.add_option("--weights", options.weights, "begin with the weights of this file")
        ->excludes(resume);
    dtnn::add_weight_options(train, options.weight_options);
    train
        .add_flag("--keep-global-batch", options.keep_global_batch,
                  "go on only if global batches are of as many samples as before; another number "
                  "of ranks "
                  "needs a PLAN for it then")
        ->needs(resume);
    train.add_flag("--force", options.force, "replace the run that the folder holds")
        ->excludes(resume);
    train.get_option("--output")->excludes(resume);
    train.add_option("--progress", options.progress, "what is shown on stderr")
        ->check(CLI::IsMember({"auto", "bar", "plain", "none"}))
        ->capture_default_str();

    train.add_flag("--tensorboard", options.tensorboard,
                   "also write event files for TensorBoard, to the run's tensorboard/");
    train
        .add_option("--histograms", options.histograms_every,
                    "histograms of all parameters every so many epochs; implies --tensorboard")
        ->check(CLI::Range(1, 1'000'000));
    train.add_option("--trace", options.trace,
                     "write the times of the steps to this file, for Perfetto and Chrome, and a "
                     "table by operator to the run's operator_times.txt");
    train.add_option("--log-samples", options.log_samples,
                     "write a line of JSON with the samples of every step to this file; of several "
                     "ranks to one for each: FILE.0, FILE.1 ...");
    train
        .add_flag("--check-numbers", options.check_numbers,
                  "look at every result of every step for what is no number; slow")
        ->excludes(train.get_option("--trace"));
    add_ranks(train, options,
              "processes that share the training, started by mpiexec; of a dry run "
              "those that it walks through, the plan's when not given");
    train
        .add_option("--max-restarts", options.max_restarts,
                    "start again from the last checkpoint, so many times at most, when a rank was "
                    "killed or lost or the run failed (1); not after 2, 5, 6, 70, 75")
        ->check(CLI::Range(0, 1'000'000));
    dtnn::add_dry_run(train, options);

    CLI::App& evaluate = *app.add_subcommand("evaluate", "loss and metrics on a split");
    add_plan(evaluate, options);
    evaluate.get_option("PLAN")->required();
    add_format(evaluate, options);
    evaluate.add_option("--weights", options.weights, "a run's weights.safetensors, or an .npz")
        ->required();
    evaluate.add_option("--split", options.split, "samples of the plan's dataset")
        ->check(CLI::IsMember({"train", "validation", "test"}))
        ->capture_default_str();
    dtnn::add_weight_options(evaluate, options.weight_options);

    CLI::App& predict = *app.add_subcommand("predict", "classes and probabilities of samples");
    add_predict(predict, options);

    CLI::App& weights = *app.add_subcommand("weights", "look into files of weights, convert them");
    weights.require_subcommand(1);
    CLI::App& list = *weights.add_subcommand("list", "names, types, shapes and metadata");
    add_weights_file(list, options);
    add_format(list, options);
    CLI::App& convert = *weights.add_subcommand("export", "the same tensors in another format");
    add_weights_file(convert, options);
    convert.add_option("-o,--output", options.output, "the file: .safetensors, or .npz for NumPy")
        ->required();

    CLI::App& bench = *app.add_subcommand("bench", "measure steps of training, or of inference");
    add_plan(bench, options);
    bench.get_option("PLAN")->required();
    add_format(bench, options);
    add_ranks(bench, options, "processes that step together, started by mpiexec");
    bench.add_option("--steps", options.steps, "measured steps, after a few to warm up")
        ->check(CLI::Range(1, 100'000'000))
        ->capture_default_str();
    bench
        .add_option("--program", options.program,
                    "what is measured; evaluate and predict run on one batch that is read once")
        ->check(CLI::IsMember({"train", "evaluate", "predict"}))
        ->capture_default_str();
    bench.add_flag("--per-step", options.per_step,
                   "also time each step of the program, beside what the machine can do at best");
    bench.add_option("--roofline", options.roofline,
                     "draw each step's speed under the machine's roofs to this file, as SVG");
    bench.add_option("--trace", options.trace,
                     "write the times of some more steps to this file, for Perfetto and Chrome");
    bench.add_flag("--synthetic-data", options.synthetic_data,
                   "made-up samples instead of the dataset");

    CLI::App& page = *app.add_subcommand("report", "write a page about a run, for a browser");
    page.add_option("RUN", options.plan, "the folder of a run")->required();
    page.add_option("-o,--output", options.output,
                    "the page's file, - for standard output; report.html in the run's folder when "
                    "not given");
    page.add_option("--color", options.color, "colours on stderr")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();

    const std::vector<std::string> words = with_word(argc, argv);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        std::ostringstream answer, complaint;
        const int code = app.exit(error, answer, complaint);
        dtnn::runtime::print_out(answer.str());
        std::fputs(dtnn::shown_lines(complaint.str()).c_str(), stderr);
        return int(code == 0 ? Exit::done : Exit::usage);
    }
    options.command = shared_words(*app.get_subcommands().front());
    if ((options.ranks > 1 || options.max_restarts > 0) && !options.dry_run)
        start_job_of(*app.get_subcommands().front(), options);
    if (train.parsed())
        return options.dry_run ? dtnn::dry_run_command(options) : dtnn::train_command(options);
    if (evaluate.parsed()) return dtnn::evaluate_command(options);
    if (!bench.parsed()) require_one_process(app.get_subcommands().front()->get_name());
    if (predict.parsed()) return dtnn::predict_command(options);
    if (list.parsed()) return dtnn::weights_list_command(options);
    if (convert.parsed()) return dtnn::weights_export_command(options);
    if (page.parsed()) return dtnn::report_command(options);
    return dtnn::bench_command(options);
}

int report(const RunError& error, const Options& options) {
    const std::string who = dtnn::runtime::started_name();
    dtnn::leave_note("error", who.empty() ? error.what() : who + ": " + error.what());
    const std::string text = error.render(dtnn::runtime::choose_color(options.color), who);
    std::fwrite(text.data(), 1, text.size(), stderr);
    return int(error.exit());
}

/// One rank, or the only process.
int run_or_report(int argc, char** argv) {
    Options options;
    try {
        return run(argc, argv, options);
    } catch (const dtnn::runtime::SharedRunError& error) {
        // All ranks have found it; one says so.
        return dtnn::runtime::started_ranks().rank == 0 ? report(error, options)
                                                        : int(error.exit());
    } catch (const RunError& error) {
        return report(error, options);
    } catch (const std::bad_alloc&) {
        return report(RunError(Exit::failed, "there is not enough memory",
                               "run on a machine with more, or compile with a smaller "
                               "training.batch_size"),
                      options);
    } catch (const std::system_error& error) {
        return report(RunError(Exit::failed, error.what()), options);
    } catch (const std::exception& error) {
        const std::string who = dtnn::runtime::started_name();
        std::fprintf(stderr, "dtnn-run: %s%sinternal error: %s\nplease report this\n", who.c_str(),
                     who.empty() ? "" : ": ", dtnn::shown_lines(error.what()).c_str());
        return int(Exit::internal);
    }
}

}  // namespace

int main(int argc, char** argv) {
    dtnn::fill_standard_streams();
    if (const std::optional<int> code = dtnn::watch_rank()) return *code;
    dtnn::begin_allocation_count();
    dtnn::runtime::install_signal_handlers();
    const int code = run_or_report(argc, argv);
    // What has gone wrong is said; the other ranks may still wait for this one.
    if (code != int(Exit::done) && code != int(Exit::interrupted)) dtnn::runtime::end_job(code);
    return code;
}
