// How ranks share a training and what machine a job is for: jobs, --ranks, and the checks of both.

#include <doctest/doctest.h>

#include "compiler/frontend/specs.hpp"

namespace parallel_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

constexpr const char* kModel =
    "kind: job\n"
    "model: {input: {shape: [1, 8, 8]}, layers: [flatten, dense: {units: 3}, softmax]}\n"
    "dataset: {type: synthetic, shape: [1, 8, 8], classes: 3, train_samples: 1000, "
    "test_samples: 10}\n";

JobSpec load(const std::string& rest, int ranks, Diagnostics& diagnostics,
             std::vector<std::string> settings = {}) {
    LoadOptions options;
    options.texts["job.yaml"] = kModel + rest;
    options.settings = std::move(settings);
    options.ranks = ranks;
    return load_job("job.yaml", options, diagnostics);
}

JobSpec sound(const std::string& rest, int ranks = 0, std::vector<std::string> settings = {}) {
    Diagnostics diagnostics;
    JobSpec job = load(rest, ranks, diagnostics, std::move(settings));
    const std::string text = diagnostics.render(false);
    CAPTURE(text);
    REQUIRE_FALSE(diagnostics.has_errors());
    return job;
}

std::string said(const std::string& rest, int ranks = 0) {
    Diagnostics diagnostics;
    load(rest, ranks, diagnostics);
    return diagnostics.render(false);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job says how many ranks share it, or the command line does") {
    struct Case {
        const char* data;
        int option;
        int ranks;
        bool shared, any;
    };
    const std::vector<Case> cases = {
        {"", 0, 1, false, true},
        {"", 1, 1, false, true},
        {"", 4, 4, true, false},
        {"parallel: {data: none}\n", 0, 1, false, true},
        {"parallel: {}\n", 4, 4, true, false},
        {"parallel: {data: none}\n", 1, 1, false, true},
        {"parallel: {data: 1}\n", 0, 1, false, true},
        {"parallel: {data: 4}\n", 0, 4, true, false},
        {"parallel: {data: 4}\n", 4, 4, true, false},
        {"parallel: {data: auto}\n", 0, 1, true, true},
        {"parallel: {data: auto}\n", 8, 8, true, true},
    };
    for (const Case& one : cases) {
        CAPTURE(one.data);
        CAPTURE(one.option);
        const JobSpec job = sound(std::string("training: {}\n") + one.data, one.option);
        CHECK_EQ(job.ranks, one.ranks);
        CHECK_EQ(job.parallel.parallel.data, one.shared);
        CHECK_EQ(job.parallel.parallel.any_ranks, one.any);
    }
}

TEST_CASE("a contradiction names the job's own number and what to write") {
    for (const auto& [data, option] : {std::pair{"4", 2}, {"none", 2}, {"4", 1}}) {
        const std::string text =
            said(std::string("training: {}\nparallel: {data: ") + data + "}\n", option);
        CAPTURE(text);
        CHECK(has(text, "job.yaml:5:18: error: `data` of parallel is "));
        CHECK(has(text, " and --ranks is "));
        CHECK(has(text, "[ranks-mismatch]"));
        CHECK(has(text, "help: leave --ranks out, or write `data: auto`"));
    }
}

TEST_CASE("a global batch is shared by the ranks") {
    const std::string global = "training: {global_batch_size: 96}\n";
    CHECK_EQ(sound(global).training.training.batch_size, 96);
    CHECK_EQ(sound(global, 4).training.training.batch_size, 24);
    CHECK_EQ(sound(global + "parallel: {data: 3}\n").training.training.batch_size, 32);
    CHECK_EQ(sound(global + "parallel: {data: auto}\n", 8).training.training.batch_size, 12);
    const std::string uneven = said(global, 5);
    CHECK(has(uneven, "`global_batch_size` 96 cannot be shared evenly by 5 ranks"));
    CHECK(has(uneven, "help: the nearest that can are 95 and 100"));
    // It is what the resolved document says, and the rank's batch is not.
    const JobSpec job = sound(global, 4);
    CHECK(has(job.resolved_text, "global_batch_size: 96\n"));
    CHECK_FALSE(has(job.resolved_text, " batch_size:"));
    // One replaces the other where it is merged over it.
    CHECK_EQ(sound(global, 4, {"training.batch_size=10"}).training.training.batch_size, 10);
    CHECK_EQ(sound("training: {batch_size: 7}\n", 4, {"training.global_batch_size=40"})
                 .training.training.batch_size,
             10);
}

TEST_CASE("fields of parallel reach the plan and can be set") {
    const std::string rest =
        "training: {schedules: [warm_up: {epochs: 1}]}\n"
        "parallel: {data: auto, learning_rate_scaling: square_root, bucket_size: 4MiB, "
        "timeout: 12.5}\n";
    const JobSpec job = sound(rest, 0, {"parallel.reduction=blocking"});
    plan::Parallel expected;
    expected.data = true;
    expected.reduction = dtnn::plan::ReductionMode::blocking;
    expected.learning_rate_scaling = dtnn::plan::RateScaling::square_root;
    expected.bucket_bytes = 4 << 20;
    expected.timeout_seconds = 12.5;
    CHECK(job.parallel.parallel == expected);
    for (const plan::ResolvedValue& value : job.values) {
        if (value.path == "parallel.reduction") {
            CHECK_EQ(value.origin, plan::OriginKind::command_line);
            CHECK_EQ(value.value, "\"blocking\"");
        }
        if (value.path == "parallel.timeout") CHECK_EQ(value.origin, plan::OriginKind::file);
        if (value.path == "parallel.batch_statistics")
            CHECK_EQ(value.origin, plan::OriginKind::fallback);
    }
    CHECK_EQ(said(rest), "");
}

TEST_CASE("a scaled learning rate without a warm up is a warning, and only where it is scaled") {
    const std::string scaled =
        "training: {}\nparallel: {data: auto, learning_rate_scaling: linear}\n";
    CHECK(has(said(scaled), "job.yaml:5:47: warning: "));
    CHECK_EQ(said("training: {}\nparallel: {learning_rate_scaling: linear}\n"), "");
    CHECK_EQ(said("training: {}\nparallel: {data: auto}\n"), "");
}

TEST_CASE("a machine reaches the plan with every value in its unit") {
    const JobSpec job = sound(
        "training: {}\n"
        "machine: {name: m, nodes: 3, cores: 8, memory: 64GiB, isa: avx2, product_rate: "
        "100Gflop/s,\n"
        "  convolution_rate: 50 Gflop/s, memory_bandwidth: 10GB/s, node_memory_bandwidth: 1TB/s,\n"
        "  step_overhead: 2us, decode_rate: 1500samples/s, network: {latency: 1.5us, bandwidth: "
        "100Gbit/s},\n"
        "  local: {latency: 500ns, bandwidth: 5GiB/s}, compute_error: 0.125, exchange_error: 0.5,\n"
        "  thread_efficiency: 0.75,\n"
        "  slurm: {setup: \"module load mpich\\nulimit -l unlimited\", constraint: \"a&b\", qos: "
        "long}}\n");
    plan::Machine expected;
    expected.name = "m";
    expected.nodes = 3;
    expected.cores = 8;
    expected.memory_bytes = std::int64_t{64} << 30;
    expected.isa = "avx2";
    expected.product_rate = 100e9;
    expected.convolution_rate = 50e9;
    expected.memory_bandwidth = 10e9;
    expected.node_memory_bandwidth = 1e12;
    expected.step_overhead = 2e-6;
    expected.decode_rate = 1500;
    expected.network_latency = 1.5e-6;
    expected.network_bandwidth = 12.5e9;
    expected.local_latency = 5e-7;
    expected.local_bandwidth = 5.0 * (1 << 30);
    expected.compute_error = 0.125;
    expected.exchange_error = 0.5;
    expected.thread_efficiency = 0.75;
    expected.slurm = {{"setup", std::string("module load mpich\nulimit -l unlimited")},
                      {"constraint", std::string("a&b")},
                      {"qos", std::string("long")}};
    CHECK(job.machine.machine == expected);
    // Resolved, it is the same machine again.
    LoadOptions options;
    options.texts["again.yaml"] = job.resolved_text;
    Diagnostics diagnostics;
    const JobSpec again = load_job("again.yaml", options, diagnostics);
    CHECK_EQ(diagnostics.render(false), "");
    CHECK(again.machine.machine == expected);
    CHECK_EQ(again.resolved_text, job.resolved_text);
}

TEST_CASE("a plan is held against the machine of its job") {
    const JobSpec job = sound(
        "training: {}\nparallel: {data: 8}\n"
        "machine: {name: m, nodes: 4, cores: 8, memory: 1000B, isa: avx2}\n");
    CHECK_EQ(ranks_per_node(job.machine.machine, 8), 2);
    CHECK_EQ(ranks_per_node(job.machine.machine, 9), 3);
    plan::Plan plan;
    plan.target.isa = "avx2";
    plan.memory.arena = 300;
    plan.memory.staging = 150;
    plan.memory.samples = 50;
    const auto checked = [&] {
        Diagnostics diagnostics;
        check_machine(job, plan, diagnostics);
        return std::pair{diagnostics.exit_code(), diagnostics.render(false)};
    };
    CHECK_EQ(checked().first, 0);
    plan.memory.samples = 51;
    CHECK_EQ(checked().first, 4);
    CHECK(has(checked().second, "needs 501 bytes of memory per rank"));
    CHECK(has(checked().second, "has 500 bytes for each of its 2 ranks"));
    CHECK(has(checked().second, "at most 1 rank of this size fits on a node"));
    plan.memory.samples = 0;
    plan.target.isa = "avx512";
    CHECK_EQ(checked().first, 5);
    CHECK(has(checked().second, "the plan is for avx512, and the machine `m` has avx2"));
    plan.target.isa = "baseline";
    CHECK_EQ(checked().first, 0);
}

}  // namespace parallel_test
