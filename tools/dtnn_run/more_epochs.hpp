#pragma once
/// `--epochs`: going on with a run that has finished. That is another training: by a plan of more
/// epochs, from the state at the end of the one before. The run keeps the plan of each training
/// that has ended, in ended/epoch_N.json.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/exec/load.hpp"
#include "runtime/train/training_state.hpp"
#include "tools/dtnn_run/commands.hpp"

namespace dtnn {

/// A training of the run that ended, and was gone on with.
struct EndedTraining {
    std::int64_t epoch = 0;  ///< how many it had done
    runtime::LoadedPlan loaded;
};

/// Those of the run `options.resume`, the earliest first: that which ends now, because more epochs
/// are asked for, with them.
std::vector<EndedTraining> ended_trainings(const Options& options);

/// Gives the ended plan what `opened` knows of the rank's data, where each rank has data of its
/// own. It is in no file.
void take_data(EndedTraining& ended, const plan::Plan& opened);

/// Keeps their plans in the run's folder, where they are not kept yet.
void keep_ended_plans(const std::string& run, const std::vector<EndedTraining>& ended);

/// A RunError (exit 2) for a text that is not `N` or `+N`.
void require_epochs(const std::string& text);

/// How many epochs the run is to have in all: the number itself, or, after a `+`, so many more than
/// the run has done. Empty where none are asked for.
std::string total_epochs(const Options& options);

/// The plan by which the run of `options.resume` goes on: `kept`, or, where more epochs are asked
/// for, the same with so many, for a run of so many ranks. A RunError where the run has not
/// finished (exit 5), or has done as many already (exit 2).
runtime::LoadedPlan plan_of_more_epochs(const Options& options, runtime::LoadedPlan kept,
                                        int ranks);

/// The identities (training_identity) of the ended trainings whose checkpoints `plan` goes on from:
/// those that differ from it in their epochs only.
std::vector<std::string> ended_identities(const std::vector<EndedTraining>& ended,
                                          const plan::Plan& plan);

/// A training that begins with a checkpoint's state.
struct AnotherTraining {
    bool begins = false;                ///< the state is the end of a training that had ended
    std::vector<std::string> spanning;  ///< types of the schedules that span all epochs
    std::vector<std::string> lines;     ///< for people: how the mathematics changes
};

/// Begins a training with the state in which others ended: the plan's schedules take it over
/// without what ended it. `identity` is that of the training that the checkpoint is of: a RunError
/// (exit 5) where that is another one, the state stands before its end, and schedules span all
/// epochs, so that it would go another way from there.
AnotherTraining begin_another_training(const std::vector<EndedTraining>& ended,
                                       const plan::Plan& plan, int ranks,
                                       const std::string& identity, runtime::TrainingState& state);

}  // namespace dtnn
