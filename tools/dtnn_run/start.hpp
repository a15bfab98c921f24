#pragma once
/// The beginning of the commands of dtnn-run, which they share.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/environment.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/session.hpp"
#include "tools/dtnn_run/commands.hpp"

namespace dtnn {

/// A plan and how many threads it will have. The thread count is settled before anything is read: a
/// mistake there is a mistake of usage.
struct Start {
    std::optional<int> wanted_threads = runtime::threads_from_environment();
    runtime::LoadedPlan loaded;
    int threads = 1;
    std::vector<int>
        processors;  ///< that the threads stay on; empty: wherever the system puts them

    /// For one rank of so many; only rank 0 warns.
    explicit Start(const std::string& plan, int rank = 0, int ranks = 1);
};

/// Joins the other ranks, if this process was started as one of several, and does the work. What
/// all ranks have found alike is printed by rank 0; what one has, is thrown, and main ends the job.
int with_ranks(const Options& options, const std::function<int(runtime::Communicator&)>& work);

/// Reads the plan on every rank together; all agree on command, plan, version, batch and seed.
/// `path` may throw, and so may `change`, which gives the plan to run in place of the one that was
/// read.
Start start_together(runtime::Communicator& communicator, const Options& options,
                     const std::function<std::string()>& path,
                     const std::function<runtime::LoadedPlan(runtime::LoadedPlan)>& change = {});

/// Every rank's dataset, agreed on by its hash.
std::unique_ptr<runtime::SampleSource> open_together(
    runtime::Communicator& communicator,
    const std::function<std::unique_ptr<runtime::SampleSource>()>& open);

/// "xxh3:0123456789abcdef"
std::string dataset_hash(const runtime::SampleSource& source);

/// The data that a rank trains on: the dataset that all share, or one of its own.
struct OpenData {
    std::unique_ptr<runtime::SampleSource> source;
    std::string hash;                   ///< over all ranks' datasets, where each has its own
    std::vector<std::int64_t> samples;  ///< training samples by rank, where each has its own data
};
/// Together. Where each rank has data of its own, the plan becomes the rank's
/// (runtime/train/private_data.hpp).
OpenData open_data(runtime::Communicator& communicator, plan::Plan& plan);

/// The plan's dataset; its notes on stderr.
std::unique_ptr<runtime::SampleSource> open_dataset(const plan::Plan& plan);
/// "dtnn-run: TEXT" on stderr for each of the source's notes.
void tell_notes(const runtime::SampleSource& source);

/// Keeps the threads that compute on their processors, where the plan asks for it. What is created
/// before, the threads that prepare data, may run on all that the process may.
void pin_threads(const Start& start, runtime::Session& session);

/// "wrote PATH" on stderr: the note about a file that was asked for.
void tell_written(const std::string& path);

/// "dtnn-run: warning: TEXT" on stderr.
void warn(const std::string& text);

}  // namespace dtnn
