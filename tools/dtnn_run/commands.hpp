#pragma once
/// The commands of dtnn-run; commands/ has their options.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/report/prediction_file.hpp"
#include "tools/command_line/output_format.hpp"
#include "tools/dtnn_run/generate_options.hpp"
#include "tools/dtnn_run/serve/serve_options.hpp"
#include "tools/dtnn_run/weight_options.hpp"

namespace dtnn {

/// The forms of predictions by name, which files may end in but for masks in folders.
using ChosenPredictions = std::optional<runtime::PredictionFormat>;
inline const std::vector<std::pair<const char*, ChosenPredictions>> kPredictionFormats = {
    {"csv", runtime::PredictionFormat::csv},
    {"jsonl", runtime::PredictionFormat::jsonl},
    {"npz", runtime::PredictionFormat::npz},
    {"png", runtime::PredictionFormat::png}};

struct Options {
    /// "train --check-numbers": the word, and those of its options that all ranks must have alike.
    std::string command;
    std::string plan;     ///< sweep: its folder; weights: whose names and axes
    std::string output;   ///< train: empty is a dated folder under runs/
    std::string weights;  ///< evaluate, predict, weights, and where train begins
    WeightOptions weight_options;
    std::vector<std::string> input;  ///< predict: files, or a split
    std::string split = "test";      ///< evaluate
    /// Nothing: as the output's name says.
    ChosenPredictions prediction_format;
    double threshold = 0.5;          ///< predict: of any number of labels
    bool average = false;            ///< weights: the moving averages of a run
    std::string resume;              ///< the folder of a run that goes on
    std::string epochs;              ///< with `resume`: "+2" more than are done, or "4" in all
    bool keep_global_batch = false;  ///< with `resume`: another global batch is refused
    tools::Format format = tools::Format::text;  ///< or json
    std::string progress = "auto";
    double progress_seconds = 30;  ///< between two lines, where there is no bar
    std::string color = "auto";
    std::int64_t steps = 50;        ///< bench
    std::string program = "train";  ///< bench: or evaluate, predict
    std::int64_t histograms_every = 0;
    bool tensorboard = false;
    std::string log_samples;  ///< the file of the samples of every step; empty: none
    std::string trace;        ///< train, bench: the file of a trace; empty: none
    std::string roofline;     ///< bench: the file of the drawing; empty: none
    bool force = false;
    bool check_numbers = false;
    bool per_step = false;
    bool synthetic_data = false;
    bool resident = false;
    bool dry_run = false;
    int ranks = 0;                                      ///< train, bench; 0: not given
    int max_restarts = 0;                               ///< train
    std::vector<std::string> runs;                      ///< report, predict: folders of runs
    tools::Format report_format = tools::Format::html;  ///< report: or text, csv, json
    bool table_only = false;                            ///< sweep: trains nothing
    GenerateOptions generate;
    serve::ServeOptions serve;
};

/// Each returns the exit code or throws RunError.
int train_command(const Options& options);
int evaluate_command(const Options& options);
int predict_command(const Options& options);
int generate_command(const Options& options);
int serve_command(const Options& options);
int weights_list_command(const Options& options);
int weights_export_command(const Options& options);
int weights_import_command(const Options& options);
int bench_command(const Options& options);
/// Tells what every rank of `ranks` would do, without doing it; see runtime/train/dry_run.hpp.
int dry_run_command(const Options& options);
int report_command(const Options& options);
/// Trains a sweep's plans one after the other; see sweep_command.cpp.
int sweep_command(const Options& options);

}  // namespace dtnn
