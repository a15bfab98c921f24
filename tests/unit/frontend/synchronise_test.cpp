// Ranks that move weights of their own: the record `synchronise`, and `${rank}` in paths.

#include <doctest/doctest.h>

#include "compiler/frontend/specs.hpp"

namespace synchronise_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

constexpr const char* kShared =
    "kind: job\n"
    "model: {input: {shape: [1, 28, 28]}, layers: [flatten, dense: {units: 10}, softmax]}\n"
    "dataset: {type: digits, train_samples: 1000, test_samples: 10}\n"
    "training: {batch_size: 50}\n";
constexpr const char* kPrivate =
    "kind: job\n"
    "model: {input: {shape: [1, 28, 28]}, layers: [flatten, dense: {units: 10}, softmax]}\n"
    "dataset: {type: mnist, path: \"nowhere/rank_${rank}\", train_samples: 1000, test_samples: "
    "10}\n"
    "training: {batch_size: 50}\n";

JobSpec load(const std::string& text, Diagnostics& diagnostics, int ranks = 0,
             std::vector<std::string> settings = {}) {
    LoadOptions options;
    options.texts["job.yaml"] = text;
    options.ranks = ranks;
    options.settings = std::move(settings);
    return load_job("job.yaml", options, diagnostics);
}

plan::Parallel sound(const std::string& text, int ranks = 0,
                     std::vector<std::string> settings = {}) {
    Diagnostics diagnostics;
    const JobSpec job = load(text, diagnostics, ranks, std::move(settings));
    const std::string said = diagnostics.render(false);
    CAPTURE(said);
    REQUIRE_FALSE(diagnostics.has_errors());
    // Resolved, it is the same again.
    LoadOptions options;
    options.texts["again.yaml"] = job.resolved_text;
    options.ranks = ranks;
    CHECK(load_job("again.yaml", options, diagnostics).parallel.parallel == job.parallel.parallel);
    return job.parallel.parallel;
}

std::string said(const std::string& text, int ranks = 0) {
    Diagnostics diagnostics;
    load(text, diagnostics, ranks);
    CHECK(diagnostics.has_errors());
    return diagnostics.render(false);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("synchronise reaches the plan, with its defaults, and can be set") {
    const plan::Parallel usual =
        sound(std::string(kShared) + "parallel: {data: auto, synchronise: {every: 8}}\n");
    CHECK(usual.local_steps == 8);
    CHECK(usual.average == dtnn::plan::WeightAverage::avg);
    CHECK(usual.participation == dtnn::plan::Participation::all);
    CHECK(usual.min_avail == 0);
    CHECK_FALSE(usual.private_data);
    const plan::Parallel set =
        sound(std::string(kShared) +
                  "parallel: {data: 4, synchronise: {every: 8, average: invwavg, "
                  "participation: avail2all, min_avail: 2}}\n",
              0, {"parallel.synchronise.every=3"});
    CHECK(set.local_steps == 3);
    CHECK(set.average == dtnn::plan::WeightAverage::invwavg);
    CHECK(set.participation == dtnn::plan::Participation::avail2all);
    CHECK(set.min_avail == 2);
    CHECK(sound(std::string(kShared) + "parallel: {data: auto}\n").local_steps == 0);
}

TEST_CASE("paths of ranks need not be there, and make data private") {
    CHECK(sound(std::string(kPrivate) + "parallel: {data: auto, synchronise: {every: 8}}\n")
              .private_data);
    CHECK(sound(std::string(kPrivate) + "parallel: {synchronise: {every: 8}}\n", 3).private_data);
    const std::string exchanged = said(std::string(kPrivate) + "parallel: {data: auto}\n");
    CHECK(has(exchanged,
              "job.yaml:3:30: error: `path` of dataset has `${rank}`, a file for each "
              "rank, and all ranks take their parts of one dataset's batches"));
    CHECK(has(exchanged, "[conflicting-fields]"));
    CHECK(has(exchanged, "help: such as `parallel: {data: auto, synchronise: {every: 8}}`"));
    CHECK(has(said(kPrivate), "the job is for one rank"));
    CHECK(has(said(std::string(kPrivate) + "parallel: {data: none, synchronise: {every: 8}}\n"),
              "help: such as `data: auto`"));
    Diagnostics diagnostics;
    load(std::string(kPrivate) + "parallel: {data: auto, synchronise: {every: 8}}\n", diagnostics,
         0, {"training.batch_size=1001"});
    CHECK(has(diagnostics.render(false),
              "at most 1000 training samples of its own, less than a "
              "batch of 1001"));
}

TEST_CASE("other expressions in paths stay mistakes") {
    const std::string text =
        "kind: job\nmodel: {input: {shape: [1, 28, 28]}, layers: [flatten, dense: {units: 10}, "
        "softmax]}\ndataset: {type: mnist, path: \"data/${ranks}\"}\ntraining: {}\n";
    CHECK(has(said(text), "`path` of dataset is an expression"));
}

TEST_CASE("what contradicts local steps is refused with its place") {
    const auto with = [](const char* rest) {
        return std::string(kShared) + "parallel: {data: 4, " + rest + "}\n";
    };
    CHECK(has(said(with("synchronise: {}")), "synchronise has no `every`"));
    CHECK(has(said(with("synchronise: {every: 0}")), "every"));
    CHECK(has(said(with("synchronise: {every: 2, average: mean}")), "`avg`, `wavg`"));
    CHECK(has(said(with("synchronise: {every: 2, min_avail: 2}")),
              "`min_avail` of synchronise is 2, and `participation` is all"));
    CHECK(has(said(with("synchronise: {every: 2, participation: avail2all, min_avail: 5}")),
              "there are 4 ranks"));
    for (const char* other : {"optimizer: sharded", "batch_statistics: synchronised"}) {
        CAPTURE(other);
        const std::string text =
            said(with((std::string(other) + ", synchronise: {every: 2}").c_str()));
        CAPTURE(text);
        CHECK(has(text, "[conflicting-fields]"));
        CHECK(has(text, "note: `synchronise` is given here"));
    }
}

}  // namespace synchronise_test
