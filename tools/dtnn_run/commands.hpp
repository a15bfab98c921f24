#pragma once
/// The words of dtnn-run.

#include <cstdint>
#include <string>

namespace dtnn {

struct Options {
    std::string plan;             ///< report: the run's folder
    std::string output;           ///< train: empty is a dated folder under runs/
    std::string weights;          ///< evaluate, and where train begins
    std::string resume;           ///< the folder of a run that goes on
    std::string format = "text";  ///< text, json
    std::string progress = "auto";
    std::string color = "auto";
    std::int64_t steps = 50;  ///< bench
    std::int64_t histograms_every = 0;
    bool tensorboard = false;
    std::string trace;  ///< the file of a trace; empty: none
    bool force = false;
    bool check_numbers = false;
    bool per_step = false;
    bool synthetic_data = false;
};

/// Each returns the exit code or throws RunError.
int train_command(const Options& options);
int evaluate_command(const Options& options);
int bench_command(const Options& options);
int report_command(const Options& options);

}  // namespace dtnn
