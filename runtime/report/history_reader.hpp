#pragma once
/// Reads a history.jsonl back, of which reports and tables are made. history_writer.hpp has the
/// forms of the lines.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"

namespace dtnn::runtime {

/// The kinds of lines.
enum class HistoryEvent {
    start,
    epoch,
    evaluate,
    stopped,
    restored,
    interrupted,
    resume,
    continued,
    failed,
};
constexpr auto names_of(HistoryEvent) {
    return std::to_array<const char*>({"start", "epoch", "evaluate", "stopped", "restored",
                                       "interrupted", "resume", "continued", "failed"});
}

/// Measures by name: numbers here, lists and matrices as JSON text in `others`.
struct Measures {
    std::map<std::string, double> numbers;
    std::map<std::string, std::string> others;
    bool empty() const { return numbers.empty() && others.empty(); }
};

struct EpochRecord {
    std::int64_t epoch = 0;
    std::int64_t step = 0;
    double learning_rate = 0;
    Measures train;
    Measures validation;  ///< empty: there was none
    double samples_per_second = 0;
    double seconds = 0;
    /// The curve of the training loss in the epoch; empty in histories of earlier versions.
    std::vector<double> steps, losses, rates;
};

/// A training that had ended, and was given more epochs.
struct ContinuedTraining {
    std::int64_t epoch = 0;  ///< how many it had done
    Measures test;           ///< of the weights at its end
};

/// The epoch whose weights those at the end are, and for which value of which metric.
struct KeptEpoch {
    std::int64_t epoch = 0;
    std::string metric;
    double value = 0;
};

enum class RunState {
    waiting,  ///< not begun
    running,  ///< a process writes it
    finished,
    interrupted,  ///< by a signal, behind a checkpoint
    failed,
    unfinished,  ///< killed
};
constexpr auto names_of(RunState) {
    return std::to_array<const char*>(
        {"waiting", "running", "finished", "interrupted", "failed", "unfinished"});
}

struct RunHistory {
    std::map<std::string, std::string> start;  ///< the last start event; nested names have dots
    std::vector<std::string> class_names;      ///< empty: the classes have none
    std::vector<std::string> names;            ///< the measures', in the order of the first epoch
    std::vector<EpochRecord> epochs;
    Measures test;  ///< of the weights at its end; empty: it has not ended
    std::int64_t test_samples = 0;
    int resumed = 0;  ///< how often
    std::vector<ContinuedTraining> continued;
    std::optional<KeptEpoch> kept;           ///< nothing: the weights are those of the last epoch
    RunState ending = RunState::unfinished;  ///< so where it is running, too
    std::string error;                       ///< why a failed run has failed
    bool cut_off = false;  ///< the last line is not whole, as a killed run may leave it
};

/// A line that is no event is a RunError with its number; a last line without its end is not.
RunHistory read_history(const std::string& path);
RunHistory parse_history(const std::string& text, const std::string& path);

/// How much of a history belongs to the training that ended at a checkpoint: what was told when the
/// checkpoint was written, `bytes` of it, and its end that follows (`stopped`, `restored`,
/// `evaluate`), which a run that was resumed tells again.
std::int64_t bytes_of_ended(const std::string& text, std::int64_t bytes);

/// A line for every epoch: epoch, step, learning_rate, train.NAME ..., validation.NAME ...,
/// samples_per_second, seconds. Lists and matrices have no column; a value that is missing, NaN or
/// infinite is an empty field. (RFC 4180 with bare line feeds.)
std::string history_csv(const RunHistory& history);

}  // namespace dtnn::runtime
