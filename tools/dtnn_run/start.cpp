#include "tools/dtnn_run/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "base/utf8.hpp"
#include "kernels/architecture.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/surroundings.hpp"
#include "runtime/comm/contract.hpp"
#include "runtime/comm/open.hpp"
#include "runtime/comm/pinning.hpp"
#include "runtime/comm/start_checks.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/train/private_data.hpp"
#include "tools/dtnn_run/job_notes.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

Start::Start(const std::string& plan, int rank, int ranks) : loaded(load_plan(plan, ranks)) {
    const ThreadChoice choice = choose_threads(loaded.plan.target.threads, wanted_threads);
    threads = choice.threads;
    if (!choice.warning.empty() && rank == 0) warn(choice.warning);
}

int with_ranks(const Options& options, const std::function<int(Communicator&)>& work) {
    const std::unique_ptr<Communicator> communicator = make_communicator();
    if (communicator->rank() == 0) leave_note("begun", "");
    try {
        return work(*communicator);
    } catch (const SharedRunError& error) {
        if (communicator->ranks() == 1) throw;
        const std::string text = error.render(choose_color(options.color));
        leave_note("error", error.what());
        if (communicator->rank() == 0) std::fwrite(text.data(), 1, text.size(), stderr);
        return int(error.exit());
    }
}

namespace {

/// An error that all throw alike is told once.
void agree_on(Communicator& communicator, const std::vector<Fact>& facts) {
    try {
        check_contract(communicator, facts);
    } catch (const RunError& error) {
        if (error.exit() != Exit::mismatch) throw;
        throw SharedRunError(error);
    }
}

/// Holds what the ranks have got against what the plan asks for: rank 0 warns of what costs speed;
/// what cannot work all ranks find alike.
void check_surroundings(Communicator& communicator, Start& start) {
    const Surroundings mine = find_surroundings();
    std::vector<Surroundings> all = {mine};
    std::vector<int> running = {start.threads};
    if (communicator.ranks() > 1) {
        all.clear();
        running.clear();
        for (const auto& bytes : communicator.all_gather(bytes_of(mine), "the surroundings"))
            all.push_back(surroundings_of(bytes));
        const auto threads =
            communicator.all_gather(std::as_bytes(std::span(&start.threads, 1)), "the threads");
        for (const std::vector<std::byte>& bytes : threads) {
            int other = 0;
            std::memcpy(&other, bytes.data(), std::min(sizeof other, bytes.size()));
            running.push_back(other);
        }
    }
    for (const Finding& finding : check_start(needs_of(start.loaded.plan, running), all)) {
        if (finding.refused)
            throw SharedRunError(RunError(Exit::mismatch, finding.fact, finding.remedy));
        if (communicator.rank() == 0) warn(fmt::format("{}; {}", finding.fact, finding.remedy));
    }
    if (!start.loaded.plan.target.pin_threads) return;
    Pinning pinning =
        choose_processors(find_topology(), all, running, std::size_t(communicator.rank()));
    start.processors = std::move(pinning.processors);
    if (!pinning.problem.empty() && communicator.rank() == 0)
        warn(fmt::format("`pin_threads` is not obeyed: {}; the system places the threads",
                         pinning.problem));
}

}  // namespace

Start start_together(Communicator& communicator, const Options& options,
                     const std::function<std::string()>& path,
                     const std::function<LoadedPlan(LoadedPlan)>& change) {
    std::optional<Start> start;
    together(communicator, "the plan", [&] {
        start.emplace(path(), communicator.rank(), communicator.ranks());
        if (change) start->loaded = change(std::move(start->loaded));
    });
    const plan::Plan& plan = start->loaded.plan;
    if (communicator.ranks() == 1) {
        check_surroundings(communicator, *start);
        return std::move(*start);
    }
    agree_on(communicator, {{"the command", fmt::format("`{}`", options.command)},
                            {"plan checksum", start->loaded.checksum},
                            {"version of dtnn-run", DTNN_VERSION},
                            {"architecture of the processor", kernels::architecture::kName},
                            {"number of ranks", std::to_string(communicator.ranks())},
                            {"batch size", std::to_string(plan.training.batch_size)},
                            {"seed", std::to_string(plan.training.seed)}});
    communicator.set_time_limit(plan.parallel.timeout_seconds);
    check_surroundings(communicator, *start);
    return std::move(*start);
}

void pin_threads(const Start& start, Session& session) {
    if (start.processors.empty() || session.executor().team().pin(start.processors)) return;
    warn(fmt::format("rank {}: the system refuses to keep threads on processors {}", session.rank(),
                     fmt::join(start.processors, ", ")));
}

std::unique_ptr<SampleSource> open_together(
    Communicator& communicator, const std::function<std::unique_ptr<SampleSource>()>& open) {
    std::unique_ptr<SampleSource> source;
    together(communicator, "the dataset", [&] {
        source = open();
        if (communicator.rank() == 0) tell_notes(*source);
    });
    if (communicator.ranks() > 1)
        agree_on(communicator, {{"hash of the dataset", dataset_hash(*source)}});
    return source;
}

std::string dataset_hash(const SampleSource& source) {
    return content_text(source.content_hash());
}

namespace {

/// Rank 0 looks into the dataset's folders, and tells the others what it has found.
std::vector<std::byte> files_of_first(Communicator& communicator, const plan::Dataset& dataset) {
    std::vector<std::byte> files;
    if (communicator.ranks() == 1) return files;
    together(communicator, "the dataset's folders", [&] {
        if (communicator.rank() == 0) files = list_files(dataset);
    });
    std::int64_t size = std::int64_t(files.size());
    communicator.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0,
                           "how many files there are");
    files.resize(std::size_t(size));
    if (size > 0) communicator.broadcast(files, 0, "the dataset's files");
    return files;
}

}  // namespace

OpenData open_data(Communicator& communicator, plan::Plan& plan) {
    OpenData data;
    if (!plan.parallel.private_data) {
        const std::vector<std::byte> files = files_of_first(communicator, plan.dataset);
        data.source = open_together(communicator, [&] {
            return open_source(plan.dataset, Counts::exact, plan.target.dtype, files);
        });
        data.hash = dataset_hash(*data.source);
        return data;
    }
    together(communicator, "the datasets", [&] {
        data.source = open_private_data(plan, communicator.rank());
        if (communicator.rank() == 0) tell_notes(*data.source);
    });
    data.samples = share_sample_counts(plan, communicator);
    const std::uint64_t mine = data.source->content_hash();
    Checksum all;
    for (const std::vector<std::byte>& one :
         communicator.all_gather(std::as_bytes(std::span(&mine, 1)), "the hashes of the datasets"))
        all.add(one);
    data.hash = all.text();
    return data;
}

std::unique_ptr<SampleSource> open_dataset(const plan::Plan& plan) {
    std::unique_ptr<SampleSource> source =
        open_source(plan.dataset, Counts::exact, plan.target.dtype);
    tell_notes(*source);
    return source;
}

void tell_notes(const SampleSource& source) {
    for (const std::string& note : source.notes())
        std::fprintf(stderr, "dtnn-run: %s\n", shown_lines(note).c_str());
}

void tell_written(const std::string& path) {
    std::fprintf(stderr, "wrote %s\n", shown_lines(path).c_str());
}

void warn(const std::string& text) {
    const std::string who = started_name();
    std::fprintf(stderr, "dtnn-run: %s%swarning: %s\n", who.c_str(), who.empty() ? "" : ": ",
                 shown_lines(text).c_str());
}

}  // namespace dtnn
