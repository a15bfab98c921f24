#pragma once
/// Several runs beside each other: what differs between their plans, how far each has come, and the
/// best that each has reached. comparison_table.hpp and comparison_page.hpp show it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/diff/diff.hpp"
#include "runtime/report/history_reader.hpp"

namespace dtnn::runtime {

/// A run that is to be compared.
struct RunPlace {
    std::string name;                   ///< no other's of the comparison
    std::string folder;                 ///< of the run; need not be there yet
    std::string plan;                   ///< the file of its plan, where the folder has none
    std::vector<std::string> settings;  ///< its values, one for each of RunPlaces::settings
};

struct RunPlaces {
    std::vector<std::string> settings;  ///< paths that a sweep has swept; empty: no sweep
    std::vector<RunPlace> runs;
};

/// The runs that the user means by `paths`, in this order: a run's folder; a sweep's folder, with
/// the runs of its plans; a folder of such folders, by name. A path that is none of them is a
/// RunError (exit 2).
RunPlaces find_runs(const std::vector<std::string>& paths);

struct BestValue {
    double value = 0;
    std::int64_t epoch = 0;
};

/// A measure that runs are compared by.
struct ComparedMeasure {
    std::string name;         ///< "loss", "categorical_accuracy"
    bool validation = false;  ///< on the validation split; else on the training samples
    bool higher = false;      ///< is better

    std::string title() const;  ///< "validation.loss"
    std::string words() const;  ///< "validation loss"
};

/// The measures that a run has told, in their order: those of which one value is better than
/// another.
std::vector<ComparedMeasure> measures_of(const plan::Plan& plan, const RunHistory& history);
/// The best of all epochs; nothing where the run has not measured it.
std::optional<BestValue> best_value(const RunHistory& history, const ComparedMeasure& measure);

struct ComparedRun {
    std::string name;
    std::string folder;
    RunState state = RunState::waiting;
    std::string error;                  ///< why a failed run has failed
    std::vector<std::string> settings;  ///< one for each of Comparison::settings
    RunHistory history;
    std::int64_t epochs = 0;  ///< planned
    std::int64_t trainable = 0;
    std::int64_t arena_bytes = 0;

    std::int64_t epochs_done() const;
    double seconds() const;  ///< of all epochs
    /// The best value; nothing where the run has not measured it.
    std::optional<BestValue> best(const ComparedMeasure& measure) const;
};

/// One chosen difference between the plans (plan/diff).
struct RunDifference {
    std::string what;  ///< "training.batch_size"; of layers with their names
    plan::Meaning meaning = plan::Meaning::performance;
    std::string reason;
    std::vector<std::string> values;  ///< of each run, in words; "-" where there is none
};

struct Comparison {
    std::vector<std::string> settings;  ///< what the runs differ in, as columns
    bool swept = false;                 ///< they are those of a sweep
    std::vector<ComparedRun> runs;
    std::vector<RunDifference> differences;
    std::vector<ComparedMeasure> measures;  ///< on validation where any run has that
    std::vector<std::string> tested;        ///< measures of the test split

    /// The indices of the runs that are best in the measure: several of them are a tie.
    std::vector<std::size_t> best_runs(const ComparedMeasure& measure) const;
};

/// The treatment of a run whose plan or history cannot be read.
enum class Unreadable {
    refused,  ///< a RunError that names the file
    failed,   ///< it is one that has failed, for that reason
};

/// Reads plans and histories, one after the other: no more than two plans are in memory at once.
Comparison compare_runs(const RunPlaces& places, Unreadable unreadable = Unreadable::refused);

}  // namespace dtnn::runtime
