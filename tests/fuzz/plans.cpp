/// A plan that someone has changed and given the right checksum: it is refused with a message, or
/// it is sound: it is audited, walked through without arithmetic, and run for a step by each of its
/// ranks, and texts are written by it where it can, within its memory and for a bounded time.
///
/// An input is a choice of a plan and of ranks, and edits (json_edits.hpp).

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "plan/rules/parallel.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/generate/generator.hpp"
#include "runtime/train/bench.hpp"
#include "runtime/train/dry_run.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/session.hpp"
#include "tests/fuzz/json_edits.hpp"
#include "tests/fuzz/sample_plans.hpp"
#include "tests/ranks/threads/in_process.hpp"

namespace {

using namespace dtnn::fuzz;
using namespace dtnn::runtime;

/// The most memory of a plan that is run: larger ones are as right, and take long here.
constexpr std::int64_t kMostMemory = std::int64_t{4} << 20;
constexpr std::int64_t kMostSamples = 4096;
constexpr int kMostRanks = 4;

bool is_small(const dtnn::plan::Plan& plan) {
    const auto& memory = plan.memory;
    return memory.arena <= kMostMemory && memory.staging <= kMostMemory &&
           memory.samples <= kMostMemory && plan.dataset.train_samples <= kMostSamples &&
           plan.dataset.validation_samples <= kMostSamples &&
           plan.dataset.test_samples <= kMostSamples && plan.target.threads <= 4 &&
           plan.target.data_workers <= 4 && plan.training.epochs <= kMostSamples;
}

/// A rank's part: a step of training and a pass of evaluation.
void run_rank(const dtnn::plan::Plan& plan, Communicator& communicator) {
    Session session(plan, 1, made_up_source(plan.dataset), communicator);
    BenchRequest request;
    request.steps = 1;
    request.warm_up = 0;
    bench(session, request);
    if (plan.dataset.test_samples > 0) session.evaluate(Split::test, session.sampler().test());
}

/// Two texts, from a prompt that is read in one go as far as that goes, beyond the context of what
/// is small.
void write_texts(const dtnn::plan::Plan& plan) {
    if (dtnn::plan::find_program(plan, dtnn::plan::ProgramKind::generate) == nullptr) return;
    Executor executor(plan, 1);
    initialize(executor);
    Generator generator(executor, {});
    std::vector<Prompt> prompts(std::size_t(std::min<std::int64_t>(2, generator.batch())));
    for (Prompt& prompt : prompts)
        prompt.tokens.assign(35, 0);
    generator.generate(prompts, 8, [](std::size_t, std::int32_t) { return true; });
}

void run(const dtnn::plan::Plan& plan, int ranks) {
    auto communicators = make_in_process(ranks);
    std::vector<std::exception_ptr> errors(communicators.size());
    const auto one = [&](std::size_t rank) {
        try {
            communicators[rank]->set_time_limit(5);
            run_rank(plan, *communicators[rank]);
        } catch (const RunError& error) {
            check_message(error);
            communicators[rank]->abort(int(error.exit()), error.what());
        } catch (...) {
            errors[rank] = std::current_exception();
            communicators[rank]->abort(1, "something else was thrown");
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t rank = 1; rank < communicators.size(); ++rank)
        threads.emplace_back(one, rank);
    one(0);
    for (std::thread& thread : threads)
        thread.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Choices choices(data, size);
    const SamplePlan& plan = sample_plans()[choices.below(sample_plans().size())];
    const int ranks = std::max(
        1, plan.ranks != 1 && choices.below(4) != 0 ? plan.ranks : int(choices.below(kMostRanks)));
    dtnn::Json content = plan.content;
    edit(content, choices);
    try {
        const LoadedPlan loaded = load_plan_text(plan_text(content), "edited.json", ranks);
        if (!is_small(loaded.plan)) return 0;
        const DryRun walked = dry_run(loaded.plan, ranks);
        (void)dry_run_text(walked, loaded.plan);
        (void)dry_run_json(walked, loaded.plan);
        if (!walked.findings.empty()) return 0;
        run(loaded.plan, ranks);
        if (ranks == 1) write_texts(loaded.plan);
    } catch (const RunError& error) {
        check_message(error);
    }
    return 0;
}
