// Whole plans of data parallelism: exchanges, their order and their memory.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/driver/compile_job.hpp"
#include "compiler/lower/emit_plan.hpp"
#include "compiler/passes/pass.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/communication.hpp"
#include "plan/rules/exchange_model.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/summary/summary.hpp"
#include "tests/unit/lower/simulation.hpp"

namespace parallel_programs_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

struct Wish {
    std::vector<std::string> settings;
    bool parallel = true;
    int ranks = 3;
    plan::ReductionMode reduction = plan::ReductionMode::overlapped;
    double latency = 0;
    std::int64_t bucket_bytes = 0;
    std::vector<std::string> disabled = {};
    std::int64_t steps_per_epoch = 0;
};

/// Residual blocks with batch norm: 1.1 MB of gradients.
plan::Plan compiled(const Wish& wish) {
    Diagnostics diagnostics;
    const LoadOptions load{{"specs"}, wish.settings};
    JobSpec job = load_job("specs/jobs/cifar10_resnet20.yaml", load, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    if (wish.steps_per_epoch > 0) job.training.training.steps_per_epoch = wish.steps_per_epoch;
    job.ranks = wish.ranks;
    job.parallel.parallel.data = wish.parallel;
    job.parallel.parallel.reduction = wish.reduction;
    job.parallel.parallel.bucket_bytes = wish.bucket_bytes;
    job.machine.machine.network_latency = wish.latency;
    const CompileOptions options{.isa = "avx2", .threads = 1, .disabled_passes = wish.disabled};
    const auto plan = compile_job(job, options, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

const plan::Program& program(const plan::Plan& plan, const char* name) {
    const plan::Program* found = plan::find_program(plan, name);
    REQUIRE_MESSAGE(found != nullptr, name);
    return *found;
}

const plan::Tensor& tensor(const plan::Program& program, int id) {
    return program.tensors[std::size_t(id)];
}

std::int64_t bytes_of(const plan::Tensor& tensor) {
    return element_count(tensor.dims) * size_of(tensor.dtype);
}

int last_backward(const plan::Program& program) {
    int last = -1;
    for (std::size_t s = 0; s < program.steps.size(); ++s)
        if (program.steps[s].phase == plan::StepPhase::backward) last = int(s);
    return last;
}

/// The step that writes the tensor.
int writer_of(const plan::Program& program, int tensor) {
    for (std::size_t s = 0; s < program.steps.size(); ++s)
        for (const int destination : program.steps[s].destinations)
            if (destination == tensor) return int(s);
    return -1;
}

}  // namespace

TEST_CASE("every gradient is exchanged once, in stretches without holes") {
    for (const auto reduction : {plan::ReductionMode::overlapped, plan::ReductionMode::blocking}) {
        for (const bool in_place : {true, false}) {
            CAPTURE(reduction);
            Wish wish;
            wish.reduction = reduction;
            if (!in_place) wish.disabled = {"in_place"};
            const plan::Plan plan = compiled(wish);
            for (const char* name : {"train", "train_tail"}) {
                CAPTURE(name);
                const plan::Program& train = program(plan, name);
                CHECK(train.collectives.size() > 3);
                std::set<int> exchanged;
                for (const plan::Collective& collective : train.collectives) {
                    const plan::Step& start = train.steps[std::size_t(collective.start)];
                    const plan::Step& wait = train.steps[std::size_t(collective.wait)];
                    CHECK(start.sources.size() == collective.parameters.size());
                    std::int64_t end = collective.offset;
                    for (std::size_t i = 0; i < start.sources.size(); ++i) {
                        const plan::Tensor& gradient = tensor(train, start.sources[i]);
                        CHECK(gradient.buffer == collective.buffer);
                        // One after the other, each at the next multiple of the alignment.
                        CHECK(gradient.offset == (end + 63) / 64 * 64);
                        end = gradient.offset + bytes_of(gradient);
                        CHECK(tensor(train, start.destinations[i]).offset == gradient.offset);
                        CHECK(tensor(train, wait.destinations[i]).offset == gradient.offset);
                        CHECK(exchanged.insert(collective.parameters[i]).second);
                        const plan::Parameter& parameter =
                            plan.parameters[std::size_t(collective.parameters[i])];
                        CHECK(parameter.trainable);
                        CHECK(tensor(train, wait.destinations[i]).name ==
                              parameter.name + ".reduced");
                        CHECK(gradient.dims == parameter.physical_dims);
                        CHECK(gradient.order == parameter.order);
                    }
                    CHECK(end == collective.offset + collective.bytes);
                    CHECK((start.sources.size() == 1 ||
                           collective.bytes <= plan.parallel.bucket_bytes +
                                                   64 * std::int64_t(start.sources.size())));
                    const plan::Buffer& buffer = plan.buffers[std::size_t(collective.buffer)];
                    CHECK(buffer.bytes == collective.bytes);
                    CHECK(collective.seconds == plan::all_reduce_seconds({}, 3, collective.bytes));
                    CHECK(start.kernel == "communicator");
                    CHECK(start.phase == plan::StepPhase::communication);
                }
                CHECK(std::int64_t(exchanged.size()) ==
                      std::count_if(plan.parameters.begin(), plan.parameters.end(),
                                    [](const plan::Parameter& p) { return p.trainable; }));
                CHECK(plan::find_input(train, plan::InputRole::batch_weight) != nullptr);
            }
            for (const plan::Program& other : plan.programs)
                if (other.phase != plan::ProgramPhase::training) CHECK(other.collectives.empty());
        }
    }
}

TEST_CASE("an overlapped exchange starts when its last gradient is there") {
    const plan::Plan plan = compiled({});
    const plan::Program& train = program(plan, "train");
    const int backward = last_backward(train);
    int waits_before = -1;
    for (const plan::Collective& collective : train.collectives) {
        int ready = -1;
        for (const int source : train.steps[std::size_t(collective.start)].sources)
            ready = std::max(ready, writer_of(train, source));
        CHECK(collective.start == ready + 1);
        CHECK(collective.wait > backward);
        CHECK(collective.wait > waits_before);
        waits_before = collective.wait;
        // The step that reads it comes next: the wait is as late as it can be.
        const plan::Step& next = train.steps[std::size_t(collective.wait) + 1];
        CHECK(next.phase == plan::StepPhase::update);
    }
    // All but the last, small one have steps of backward beside them.
    for (std::size_t i = 0; i + 1 < train.collectives.size(); ++i)
        CHECK(train.collectives[i].start < backward);
    CHECK(train.collectives.back().bytes < plan.parallel.bucket_bytes / 3);
    // The deepest layers' gradients go first.
    int layer = plan.layers.back().index;
    for (const plan::Collective& collective : train.collectives) {
        int deepest = 0;
        for (const int parameter : collective.parameters)
            deepest = std::max(deepest, plan.parameters[std::size_t(parameter)].layer);
        CHECK(deepest <= layer);
        layer = deepest;
    }
}

TEST_CASE("a blocking exchange comes behind backward and is waited for at once") {
    Wish wish;
    wish.reduction = plan::ReductionMode::blocking;
    const plan::Plan plan = compiled(wish);
    const plan::Program& train = program(plan, "train");
    for (const plan::Collective& collective : train.collectives) {
        CHECK(collective.start > last_backward(train));
        CHECK(collective.wait == collective.start + 1);
    }
}

TEST_CASE("nothing but foreseen times and steps depends on the number of ranks") {
    Wish wish;
    wish.ranks = 1;
    plan::Plan one = compiled(wish);
    for (const int ranks : {2, 7, 1000}) {
        wish.ranks = ranks;
        plan::Plan many = compiled(wish);
        CHECK(many.training.steps_per_epoch == plan::steps_per_epoch(one, ranks));
        CHECK(many.target.ranks == ranks);
        many.target.ranks = 1;
        many.training.steps_per_epoch = one.training.steps_per_epoch;
        for (plan::Program& program : many.programs) {
            for (plan::Collective& collective : program.collectives) {
                CHECK(collective.seconds > 0);
                collective.seconds = 0;
            }
        }
        CHECK(plan::to_json(many) == plan::to_json(one));
    }
}

TEST_CASE("a plan for one rank has none of it") {
    Wish wish;
    wish.parallel = false;
    wish.ranks = 1;
    const plan::Plan plan = compiled(wish);
    CHECK(plan.parallel.bucket_bytes == 0);
    for (const plan::Program& program : plan.programs) {
        CHECK(program.collectives.empty());
        CHECK(plan::find_input(program, plan::InputRole::batch_weight) == nullptr);
        for (const plan::Step& step : program.steps)
            CHECK_FALSE(plan::is_collective(step.op));
    }
}

TEST_CASE("the gradient is weighted once, where backward begins") {
    const auto count = [](const plan::Program& program, const char* op) {
        return std::count_if(program.steps.begin(), program.steps.end(),
                             [&](const plan::Step& step) { return step.op == op; });
    };
    const plan::Plan plain = compiled({});
    CHECK(count(program(plain, "train"), "weigh_gradient") == 1);
    CHECK(count(program(plain, "evaluate"), "weigh_gradient") == 0);
    Wish wish;
    wish.settings = {"training.accumulation=4"};
    const plan::Plan sums = compiled(wish);
    CHECK(count(program(sums, "train"), "weigh_gradient") == 1);
    CHECK(count(program(sums, "accumulate"), "weigh_gradient") == 1);
    CHECK(program(sums, "accumulate").collectives.empty());
    CHECK(program(sums, "train").collectives.size() == program(plain, "train").collectives.size());
    // The totals are exchanged.
    for (const plan::Collective& collective : program(sums, "train").collectives)
        for (const int source : program(sums, "train").steps[std::size_t(collective.start)].sources)
            CHECK(tensor(program(sums, "train"), source).name.ends_with(".gradient.total"));
}

TEST_CASE("norms are those of the gradients of all ranks") {
    Wish wish;
    wish.settings = {"training.clip={norm: 1.0}"};
    const plan::Plan plan = compiled(wish);
    const plan::Program& train = program(plan, "train");
    std::set<int> reduced;
    for (const plan::Collective& collective : train.collectives)
        for (const int result : train.steps[std::size_t(collective.wait)].destinations)
            reduced.insert(result);
    std::size_t squares = 0;
    for (const plan::Step& step : train.steps) {
        if (step.op != "gradient_square_sum") continue;
        CHECK(reduced.contains(step.sources[0]));
        ++squares;
    }
    CHECK(squares == reduced.size());
}

TEST_CASE("the tail has a program where a rank may come to it") {
    // 781 batches of 64 and a tail of 16.
    Wish wish;
    wish.steps_per_epoch = 100;
    const plan::Plan plan = compiled(wish);
    CHECK_FALSE(plan.training.whole_epochs);
    CHECK(plan.training.steps_per_epoch == 100);
    CHECK(plan::find_program(plan, "train_tail") != nullptr);
    CHECK(plan::steps_per_epoch(plan, 1) == 100);
    CHECK(plan::steps_per_epoch(plan, 100) == 8);
    wish.parallel = false;
    wish.ranks = 1;
    CHECK(plan::find_program(compiled(wish), "train_tail") == nullptr);
}

TEST_CASE("slower networks make fewer, larger exchanges") {
    Wish wish;
    const plan::Plan usual = compiled(wish);
    wish.settings = {"training.dtype=f64"};
    wish.latency = 1e-6;
    const plan::Plan fast = compiled(wish);
    wish.latency = 1e-2;
    const plan::Plan slow = compiled(wish);
    CHECK(fast.parallel.bucket_bytes == plan::kLeastBucketBytes);
    CHECK(slow.parallel.bucket_bytes > fast.parallel.bucket_bytes);
    CHECK(program(slow, "train").collectives.size() < program(fast, "train").collectives.size());
    CHECK(program(slow, "train").collectives.size() >= 4);  // a quarter of all at most
}

TEST_CASE("the size of buckets can be given") {
    Wish wish;
    wish.bucket_bytes = 1 << 30;
    CHECK(compiled(wish).parallel.bucket_bytes == 1 << 30);
    CHECK(program(compiled(wish), "train").collectives.size() == 1);
    wish.bucket_bytes = 1;  // every gradient alone
    const plan::Plan plan = compiled(wish);
    CHECK(std::int64_t(program(plan, "train").collectives.size()) ==
          std::count_if(plan.parameters.begin(), plan.parameters.end(),
                        [](const plan::Parameter& p) { return p.trainable; }));
}

TEST_CASE("a parallel plan reads back, is shown and compared") {
    const plan::Plan plan = compiled({});
    const std::string text = plan::to_json(plan);
    const plan::ReadResult read = plan::read_plan(text);
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(plan::to_json(*read.plan) == text);
    CHECK(plan::audit(*read.plan).empty());
    CHECK(plan::diff(plan, *read.plan).empty());

    const plan::Communication all = plan::communication_of(plan);
    CHECK(all.global_batch == 3 * plan.training.batch_size);
    CHECK(all.exchanges.size() == program(plan, "train").collectives.size());
    CHECK(all.wire_bytes == (all.bytes * 4 + 1) / 3);
    const std::string table = plan::summary_text(plan, 120);
    CHECK(table.find(fmt::format("{} for an update", all.exchanges.size())) != std::string::npos);
    CHECK(plan::summary_json(plan).find("\"parallel\": {\"ranks\": 3") != std::string::npos);

    Wish wish;
    wish.ranks = 6;
    const std::string difference = plan::diff_text(plan::diff(plan, compiled(wish)), "a", "b");
    CHECK(difference.find("global batch") != std::string::npos);
    CHECK(difference.find("sent by a rank in an update") != std::string::npos);
}

}  // namespace parallel_programs_test
