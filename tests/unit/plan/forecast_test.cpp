// Forecasts of plans made by hand, whose times can be computed on paper.

#include "plan/forecast/forecast.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "plan/forecast/rates.hpp"
#include "plan/rules/exchange_model.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::plan::forecast_test {
namespace {

constexpr std::int64_t kBatch = 8;

int add_tensor(Program& program, Dims dims) {
    Tensor tensor;
    tensor.name = fmt::format("tensor_{}", program.tensors.size());
    tensor.buffer = 0;
    tensor.dims = std::move(dims);
    program.tensors.push_back(std::move(tensor));
    return int(program.tensors.size()) - 1;
}

Step make_step(KernelClass kernel_class, const std::string& op, std::int64_t flops,
               std::int64_t bytes) {
    Step step;
    step.kernel_class = kernel_class;
    step.name = op;
    step.op = op;
    step.flops = flops;
    step.bytes = bytes;
    return step;
}

/// Four matrix products of 1 Gflop, a second each on `machine()`. Exchange i begins behind product
/// begins[i] and is waited for behind product ends[i].
Plan hand_made(const std::vector<int>& begins, const std::vector<int>& ends,
               std::int64_t bytes_each) {
    Plan plan;
    plan.name = "hand_made";
    plan.model = "hand_made";
    plan.training.batch_size = kBatch;
    plan.training.epochs = 3;
    plan.dataset.input().dims = {1, 2, 2};
    plan.dataset.train_samples = 10 * kBatch;
    plan.dataset.target().classes = 2;
    plan.parallel.data = true;
    plan.memory.arena = 1000;
    plan.memory.staging = 200;
    plan.memory.samples = 30;
    plan.buffers.emplace_back();
    Program program;
    program.name = "train";
    program.batch = kBatch;
    const int batch = add_tensor(program, {kBatch, 4});
    for (int product = 0; product < 4; ++product) {
        Step step = make_step(KernelClass::products, "dense", 1'000'000'000, 0);
        step.sources = {batch};
        step.destinations = {batch};
        program.steps.push_back(step);
        for (std::size_t i = 0; i < begins.size(); ++i) {
            if (begins[i] != product) continue;
            Collective one;
            one.name = fmt::format("gradients_{}", i + 1);
            one.buffer = 0;
            one.bytes = bytes_each;
            one.start = int(program.steps.size());
            program.collectives.push_back(one);
            program.steps.push_back(make_step(KernelClass::memory, "all_reduce_start", 0, 0));
        }
        for (std::size_t i = 0; i < ends.size(); ++i) {
            if (ends[i] != product) continue;
            program.collectives[i].wait = int(program.steps.size());
            program.steps.push_back(make_step(KernelClass::memory, "all_reduce_wait", 0, 0));
        }
    }
    plan.programs.push_back(program);
    return plan;
}

/// 1 Gflop/s a core, and a network on which an all-reduce over two nodes of 1e9 bytes takes 1 s.
Machine machine() {
    Machine machine;
    machine.name = "made_up";
    machine.nodes = 64;
    machine.cores = 1;
    machine.product_rate = 1e9;
    machine.memory_bandwidth = 1e15;
    machine.network_latency = 1e-12;
    machine.network_bandwidth = 1e9;
    return machine;
}

Forecast on(const Plan& plan, int ranks, Scaling scaling = Scaling::weak) {
    return forecast(plan, machine(), {.ranks = ranks, .scaling = scaling});
}

constexpr double kNear = 1e-6;

}  // namespace

TEST_CASE("an exchange that ends before it is waited for is hidden") {
    const Plan plan = hand_made({0}, {3}, 1'000'000'000);
    const Forecast two = on(plan, 2);
    CHECK(two.compute == doctest::Approx(4).epsilon(kNear));
    CHECK(two.exposed == doctest::Approx(0).epsilon(kNear));
    CHECK(two.communication == doctest::Approx(1).epsilon(kNear));
    CHECK(two.efficiency == doctest::Approx(1).epsilon(kNear));
}

TEST_CASE("an exchange that is waited for at once is not hidden at all") {
    const Plan plan = hand_made({0, 1, 2, 3}, {0, 1, 2, 3}, 1'000'000'000);
    const Forecast two = on(plan, 2);
    CHECK(two.compute == doctest::Approx(4).epsilon(kNear));
    CHECK(two.exposed == doctest::Approx(4).epsilon(kNear));
    CHECK(two.efficiency == doctest::Approx(0.5).epsilon(kNear));
}

TEST_CASE(
    "of overlapped exchanges the last is exposed, behind those that still occupy the network") {
    // Each takes 1.5 s: they run from 1, 2.5, 4 and 5.5 to 7 s, computing ends at 4.
    const Plan plan = hand_made({0, 1, 2, 3}, {3, 3, 3, 3}, 1'500'000'000);
    const Forecast two = on(plan, 2);
    CHECK(two.communication == doctest::Approx(6).epsilon(kNear));
    CHECK(two.exposed == doctest::Approx(3).epsilon(kNear));
    CHECK(two.step() == doctest::Approx(7).epsilon(kNear));
    // With less bytes only the last one, which begins when computing ends.
    CHECK(on(hand_made({0, 1, 2, 3}, {3, 3, 3, 3}, 500'000'000), 2).exposed ==
          doctest::Approx(0.5).epsilon(kNear));
}

TEST_CASE("what the cores of a node move for themselves is never hidden") {
    Machine node = machine();
    node.cores = 2;
    node.local_latency = 1e-12;
    node.local_bandwidth = 1e9;
    const Plan plan = hand_made({0}, {3}, 1'000'000'000);
    const Forecast two = forecast(plan, node, {.ranks = 2});
    CHECK(two.nodes == 1);
    CHECK(two.exposed == doctest::Approx(1).epsilon(kNear));
    // Two nodes of two ranks: a local second, and half the bytes over the network, hidden.
    const Forecast four = forecast(plan, node, {.ranks = 4});
    CHECK(four.nodes == 2);
    CHECK(four.exposed == doctest::Approx(1).epsilon(kNear));
    CHECK(four.communication == doctest::Approx(1.5).epsilon(kNear));
}

TEST_CASE("one rank exchanges nothing") {
    const Forecast one = on(hand_made({0, 3}, {0, 3}, 1'000'000'000), 1);
    CHECK(one.exposed == 0);
    CHECK(one.communication == 0);
    CHECK(one.wire_bytes == 0);
    CHECK(one.efficiency == doctest::Approx(1));
    CHECK(one.step() == doctest::Approx(4).epsilon(kNear));
}

TEST_CASE("more ranks exchange longer, and are never more efficient than one") {
    const Plan plan = hand_made({0, 1, 2, 3}, {3, 3, 3, 3}, 1'000'000'000);
    double before = 0;
    for (const int ranks : {1, 2, 3, 4, 7, 8, 64, 1000}) {
        const Forecast now = on(plan, ranks);
        CAPTURE(ranks);
        CHECK(now.communication >= before);
        CHECK(now.efficiency <= 1 + kNear);
        CHECK(now.samples_per_second == doctest::Approx(ranks * kBatch / now.step()));
        before = now.communication;
    }
}

TEST_CASE("memory is the plan's, and bytes on the wire are those of the exchanges") {
    const Plan plan = hand_made({0, 1}, {3, 3}, 1000);
    for (const int ranks : {1, 2, 64}) {
        CHECK(on(plan, ranks).memory == 1230);
        CHECK_FALSE(on(plan, ranks).memory_is_bound);
    }
    CHECK(on(plan, 2).wire_bytes == doctest::Approx(2 * 1000));
    CHECK(on(plan, 4).wire_bytes == doctest::Approx(2 * 2 * 0.75 * 1000));
}

TEST_CASE("weak scaling needs fewer steps, strong scaling smaller batches") {
    const Plan plan = hand_made({}, {}, 0);
    const Forecast weak = on(plan, 2);
    CHECK(weak.batch == kBatch);
    CHECK(weak.steps_per_epoch == 5);
    CHECK(weak.job_seconds == doctest::Approx(3 * 5 * 4).epsilon(kNear));
    const Forecast strong = on(plan, 2, Scaling::strong);
    CHECK(strong.batch == kBatch / 2);
    CHECK(strong.global_batch == kBatch);
    CHECK(strong.steps_per_epoch == 10);
    CHECK(strong.memory_is_bound);
    CHECK(strong.compute == doctest::Approx(2).epsilon(kNear));
    CHECK(strong.efficiency == doctest::Approx(1).epsilon(kNear));
    CHECK(on(plan, int(kBatch) + 1, Scaling::strong).refused.find("at most 8") !=
          std::string::npos);
}

TEST_CASE("weights do not shrink with the batch") {
    Plan plan = hand_made({}, {}, 0);
    Program& program = plan.programs[0];
    const int weights = add_tensor(program, {1000});
    Step update = make_step(KernelClass::updates, "sgd_update", 10, 8000);
    update.sources = {weights};
    update.destinations = {weights};
    program.steps = {update};
    Machine slow = machine();
    slow.memory_bandwidth = 1000;
    CHECK(forecast(plan, slow, {.ranks = 1}).compute == doctest::Approx(8));
    CHECK(forecast(plan, slow, {.ranks = 4, .scaling = Scaling::strong}).compute ==
          doctest::Approx(8));
}

TEST_CASE("a step may miss by what the calibration has missed by") {
    const Plan plan = hand_made({0}, {0}, 1'000'000);
    Machine node = machine();
    CHECK(forecast(plan, node, {.ranks = 2}).error == 0);
    node.compute_error = 0.1;
    node.exchange_error = 0.5;
    const Forecast row = forecast(plan, node, {.ranks = 2});
    CHECK(row.exposed > 0);
    CHECK(row.error ==
          doctest::Approx(0.1 * (row.compute + row.input) + 0.5 * row.exposed).epsilon(kNear));
}

TEST_CASE("threads, the node's memory and data workers") {
    Plan plan = hand_made({}, {}, 0);
    Machine node = machine();
    node.cores = 4;
    node.thread_efficiency = 0.5;
    CHECK(forecast(plan, node, {.ranks = 1, .threads = 3}).compute == doctest::Approx(2));
    // Ten samples a second of 3072 pixels are 7680 of four pixels; a batch of 8 takes 1/960 s.
    node.decode_rate = 10;
    CHECK(forecast(plan, node, {.ranks = 1}).input == doctest::Approx(0).epsilon(kNear));
    node.decode_rate = 0.001;  // 10.4 s for a batch that computes for 4 s
    CHECK(forecast(plan, node, {.ranks = 1}).step() ==
          doctest::Approx(8 * 4.0 / 3072 / 0.001).epsilon(1e-3));

    Step& step = plan.programs[0].steps[0];
    step = make_step(KernelClass::sums, "elementwise", 0, 1'000'000);
    plan.programs[0].steps.resize(1);
    node.decode_rate = 0;
    node.memory_bandwidth = 1e6;
    node.node_memory_bandwidth = 2e6;
    CHECK(forecast(plan, node, {.ranks = 1}).compute == doctest::Approx(1));
    CHECK(forecast(plan, node, {.ranks = 4}).compute == doctest::Approx(2));
}

TEST_CASE("a plan for one rank, and machines that say too little") {
    Plan plan = hand_made({}, {}, 0);
    plan.parallel.data = false;
    CHECK(on(plan, 1).refused.empty());
    CHECK(on(plan, 2).refused.find("parallel: {data: auto}") != std::string::npos);
    CHECK(on(plan, 0).refused.find("at least one") != std::string::npos);
    CHECK_FALSE(missing_rates(machine(), {}));
    Machine nothing;
    REQUIRE(missing_rates(nothing, {}));
    CHECK(missing_rates(nothing, {})->find("memory_bandwidth") != std::string::npos);
    CHECK(missing_rates(nothing, {})->find("dtnnc calibrate") != std::string::npos);
}

TEST_CASE("every class of kernels has its own rate, and falls back to the general ones") {
    Program program;
    program.batch = 4;
    add_tensor(program, {4, 32, 8, 8});
    const auto step_of = [](KernelClass kernel_class) {
        return make_step(kernel_class, "step", 1000, 0);
    };
    const Step wide = step_of(KernelClass::convolutions);
    Machine one = machine();
    one.convolution_rate = 500;
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, wide, 1) == doctest::Approx(2));
    CHECK(RankRates(one, 1, 1, DType::f64).step_seconds(program, wide, 1) == doctest::Approx(4));
    const Step pointwise = step_of(KernelClass::pointwise_convolutions);
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, pointwise, 1) ==
          doctest::Approx(2));
    one.kernels = {{"pointwise_convolutions", 100.0}};
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, pointwise, 1) ==
          doctest::Approx(10));
    one.step_overhead = 3;
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, pointwise, 1) ==
          doctest::Approx(13));
    // A machine that says nothing of caches has the rates of memory for what stays in them.
    one.kernels = {{"updates", 50.0}};
    const Step update = make_step(KernelClass::updates, "adam_update", 0, 100);
    const Step product = step_of(KernelClass::products);
    CHECK(class_of(program, update) == KernelClass::cached_updates);
    CHECK(class_of(program, product) == KernelClass::cached_products);
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, update, 1) == doctest::Approx(5));
    one.kernels.emplace("cached_updates", 100.0);
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, update, 1) == doctest::Approx(4));
    add_tensor(program, {kCachedBytes / 4 + 1});
    CHECK(class_of(program, update) == KernelClass::updates);
    CHECK(class_of(program, product) == KernelClass::products);
    CHECK(RankRates(one, 1, 1, DType::f32).step_seconds(program, update, 1) == doctest::Approx(5));
}

Machine machine_with_devices() {
    Machine node = machine();
    node.cores = 8;
    node.gpus.count = 2;
    node.gpus.f32_rate = 1e9;
    node.gpus.f64_rate = 5e8;
    node.gpus.tf32_rate = 4e9;
    node.gpus.bf16_rate = 8e9;
    node.gpus.memory_bandwidth = 1e9;
    node.gpus.host_bandwidth = 64;
    node.gpus.latency = 1e-9;
    node.gpus.bandwidth = 1e9;
    return node;
}

TEST_CASE("a device computes by the rate of what the plan computes with") {
    Plan plan = hand_made({}, {}, 0);
    plan.target.device = "cuda";
    const Machine node = machine_with_devices();
    CHECK(forecast(plan, node, {.ranks = 1}).compute == doctest::Approx(4));
    plan.target.compute = Compute::tf32;
    CHECK(forecast(plan, node, {.ranks = 1}).compute == doctest::Approx(1));
    plan.target.compute = Compute::fp16;
    CHECK(forecast(plan, node, {.ranks = 1}).compute == doctest::Approx(0.5));
    plan.target.compute = Compute::full;
    plan.target.dtype = DType::f64;
    CHECK(forecast(plan, node, {.ranks = 1}).compute == doctest::Approx(8));
    // A step takes the longer of arithmetic and memory, and at least its overhead.
    plan.target.dtype = DType::f32;
    for (Step& step : plan.programs[0].steps)
        step.bytes = 3'000'000'000;
    Machine slow = node;
    slow.gpus.step_overhead = 0.25;
    CHECK(forecast(plan, slow, {.ranks = 1}).compute == doctest::Approx(13));
}

TEST_CASE("exchanges and copies of devices go beside their computing") {
    Plan plan = hand_made({0}, {2}, 1'000'000'000);
    plan.target.device = "cuda";
    const Machine node = machine_with_devices();
    const Forecast two = forecast(plan, node, {.ranks = 2});
    CHECK(two.ranks_per_node == 2);
    // 1 s of exchange, hidden behind 2 s of products.
    CHECK(two.communication == doctest::Approx(1).epsilon(kNear));
    CHECK(two.exposed == 0);
    // A sample has 4 floats and a label: a batch of 8 takes as long as its bytes by 64 a second.
    const double copy = 8 * double(staged_sample(plan).bytes()) / 64;
    CHECK(two.input == doctest::Approx(std::max(0.0, copy - 4)));
    Machine quick = node;
    quick.gpus.host_bandwidth = 1e9;
    CHECK(forecast(plan, quick, {.ranks = 2}).input == 0);
}

TEST_CASE("devices that say too little, and more ranks than there are devices") {
    Plan plan = hand_made({}, {}, 0);
    plan.target.device = "cuda";
    CHECK_FALSE(missing_rates(machine_with_devices(), plan.target));
    REQUIRE(missing_rates(machine(), plan.target));
    CHECK(missing_rates(machine(), plan.target)->find("gpus") != std::string::npos);
    Machine node = machine_with_devices();
    node.gpus.bf16_rate = 0;
    plan.target.compute = Compute::bf16;
    REQUIRE(missing_rates(node, plan.target));
    CHECK(missing_rates(node, plan.target)->find("values in bf16") != std::string::npos);
    plan.target.compute = Compute::full;
    node.gpus.memory_bytes = 900;
    const auto has = [](const Forecast& row, const char* words) {
        return std::any_of(row.notes.begin(), row.notes.end(), [&](const std::string& note) {
            return note.find(words) != std::string::npos;
        });
    };
    const Forecast many = forecast(plan, node, {.ranks = 4, .ranks_per_node = 4});
    CHECK(has(many, "a node has 2 devices for 4 ranks"));
    CHECK(has(many, "of its device's memory"));
    node.gpus.memory_bytes = 1000;
    CHECK_FALSE(has(forecast(plan, node, {.ranks = 1}), "of its device's memory"));
    node.gpus.library_bytes = 1;
    CHECK(has(forecast(plan, node, {.ranks = 1}), "1 bytes of it for the libraries"));
}

TEST_CASE("averages of local steps are shared by the updates between them") {
    Plan plan = hand_made({}, {}, 0);
    Program average = hand_made({0}, {0}, 3'000'000'000).programs.front();
    average.name = "synchronise";
    average.kind = ProgramKind::synchronise;
    plan.programs.push_back(average);
    plan.parallel.local_steps = 6;
    const Forecast two = on(plan, 2);
    // A step bears a sixth of the average's four seconds of work and three of exchange.
    CHECK(two.compute == doctest::Approx(4 + 4. / 6).epsilon(kNear));
    CHECK(two.communication == doctest::Approx(0.5).epsilon(kNear));
    CHECK(two.exposed == doctest::Approx(0.5).epsilon(kNear));
    CHECK(two.wire_bytes == doctest::Approx(0.5e9).epsilon(kNear));
    CHECK(on(plan, 1).compute == doctest::Approx(4).epsilon(kNear));
    plan.parallel.private_data = true;  // of as many samples on every rank
    CHECK(on(plan, 2).steps_per_epoch == 10);
}

}  // namespace dtnn::plan::forecast_test
