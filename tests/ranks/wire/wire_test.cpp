/// Trainings with gradient compression.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "plan/audit/audit.hpp"
#include "plan/rules/communication.hpp"
#include "plan/rules/compression.hpp"
#include "tests/ranks/local_steps/local_training.hpp"

namespace dtnn::wire_test {
namespace {

std::string job(const std::string& parallel, int epochs = 16, const std::string& more = "") {
    return fmt::format(
        "kind: job\n"
        "model: {{input: {{shape: [1, 28, 28]}}, layers: [conv2d: {{filters: 6, kernel: 5, stride: "
        "2}}, batch_norm, relu, max_pool2d: {{kernel: 2}}, flatten, dense: {{units: 33}}, relu, "
        "dense: "
        "{{units: "
        "10}}, softmax]}}\n"
        "dataset: {{type: digits, train_samples: 2410, test_samples: 300}}\n"
        "training: {{optimizer: {{sgd: {{learning_rate: 0.02, momentum: 0.9}}}}, metrics: "
        "[categorical_accuracy], batch_size: 10, epochs: {}, checkpoint: {{every_epochs: 1}}{}}}\n"
        "parallel: {{data: auto, bucket_size: 8KiB, {}}}\n",
        epochs, more, parallel);
}

double accuracy(const Trained& trained) {
    const runtime::MetricValue* value = trained.test.find("categorical_accuracy");
    REQUIRE(value != nullptr);
    return value->number();
}

const std::vector<std::string>& forms() {
    static const std::vector<std::string> all = {"wire: bf16", "wire: fp16",
                                                 "wire: top_k, density: 0.05"};
    return all;
}

bool is_residual(const plan::Parameter& parameter) {
    return parameter.kind == plan::ParameterKind::residual;
}

std::vector<double> weights_of(const plan::Plan& plan, const Trained& trained) {
    std::vector<double> all;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
        if (!plan.parameters[i].by_rank)
            all.insert(all.end(), trained.parameters[i].begin(), trained.parameters[i].end());
    return all;
}

}  // namespace

TEST_CASE("trainings come nearly as far, with the same bits twice and on all ranks") {
    const Trained full = train_on(3, compiled(job("wire: full")));
    REQUIRE(full.error == "");
    const double most = accuracy(full);
    MESSAGE("full: " << most);
    CHECK(most > 0.9);
    for (const std::string& form : forms()) {
        CAPTURE(form);
        const plan::Plan plan = compiled(job(form));
        const Trained once = train_on(3, plan), again = train_on(3, plan);
        REQUIRE(once.error == "");
        MESSAGE(form << ": " << accuracy(once));
        CHECK(accuracy(once) > most - 0.03);
        CHECK(once.same_on_all);
        CHECK(once.parameters == again.parameters);
        // It is another computation.
        CHECK(weights_of(plan, once) != full.parameters.front());
        CHECK(once.losses != full.losses);
    }
}

TEST_CASE("of one rank nothing travels, and nothing is rounded") {
    const plan::Plan plain = compiled(job("wire: full", 1));
    const std::vector<double> wanted = weights_of(plain, train_on(1, plain));
    for (const std::string& form : forms()) {
        const plan::Plan plan = compiled(job(form, 1));
        CHECK(weights_of(plan, train_on(1, plan)) == wanted);
    }
}

TEST_CASE("all of the numbers selected are the whole exchange") {
    const plan::Plan plain = compiled(job("wire: full", 2));
    const plan::Plan all = compiled(job("wire: top_k, density: 1", 2));
    for (const int ranks : {2, 4})
        CHECK(weights_of(all, train_on(ranks, all)) == weights_of(plain, train_on(ranks, plain)));
}

TEST_CASE("a training goes on from what all ranks owe, to the same bits") {
    for (const std::string& form : forms()) {
        CAPTURE(form);
        const plan::Plan plan = compiled(job(form, 3));
        const Trained whole = train_on(3, plan);
        REQUIRE(whole.error == "");
        REQUIRE(whole.kept.size() >= 2);
        const Trained resumed = train_on(3, plan, &whole.kept[1]);
        CHECK(resumed.error == "");
        CHECK(resumed.parameters == whole.parameters);
        if (form.find("top_k") == std::string::npos) continue;
        // The debts count: without them the training goes another way.
        Kept lost = whole.kept[1];
        lost.state.own_states.assign(lost.state.own_states.size(), std::byte{0});
        CHECK(train_on(3, plan, &lost).parameters != whole.parameters);
    }
}

TEST_CASE("on another number of ranks all that is owed stays owed, once") {
    const plan::Plan plan = compiled(job("wire: top_k, density: 0.01", 1));
    const Trained three = train_on(3, plan);
    REQUIRE(three.error == "");
    const Kept& kept = three.kept.back();
    REQUIRE(kept.state.epoch == 1);
    bool owed = false;
    for (const int ranks : {1, 2, 3, 5}) {
        // The training is at its end: nothing is exchanged any more.
        const Trained other = train_on(ranks, plan, &kept);
        CHECK(other.error == "");
        std::size_t place = 0, size = 0;
        for (const plan::Parameter& parameter : plan.parameters)
            if (parameter.by_rank) size += std::size_t(parameter.dims[0]) * 4;
        REQUIRE(kept.state.own_states.size() == 2 * size);
        for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
            if (!plan.parameters[i].by_rank) continue;
            REQUIRE(is_residual(plan.parameters[i]));
            const auto number = [](const std::vector<std::byte>& bytes, std::size_t at) {
                float value = 0;
                std::memcpy(&value, bytes.data() + at, sizeof value);
                return value;
            };
            for (std::size_t k = 0; k < std::size_t(plan.parameters[i].dims[0]); ++k) {
                const std::size_t at = place + k * 4;
                const float all = number(kept.parameters[i], k * 4) +
                                  number(kept.state.own_states, at) +
                                  number(kept.state.own_states, size + at);
                const float first = ranks == 3 ? number(kept.parameters[i], k * 4) : all;
                REQUIRE(float(other.parameters[i][k]) == first);
                owed = owed || all != 0;
            }
            place += std::size_t(plan.parameters[i].dims[0]) * 4;
        }
    }
    CHECK(owed);
}

TEST_CASE("several batches an update, and updates of no rank's whole batch") {
    for (const std::string& form : forms()) {
        CAPTURE(form);
        const Trained trained = train_on(4, compiled(job(form, 2, ", accumulation: 2")));
        CHECK(trained.error == "");
        CHECK(trained.same_on_all);
        CHECK(std::isfinite(trained.losses.back()));
    }
}

TEST_CASE("synchronised statistics travel as they are") {
    const plan::Plan plan = compiled(job("wire: bf16, batch_statistics: synchronised", 1));
    const plan::Program* train = plan::find_program(plan, "train");
    int rounded = 0, whole = 0;
    for (const plan::Collective& one : train->collectives)
        (one.compression == plan::Compression::full ? whole : rounded) += 1;
    CHECK(rounded > 0);
    CHECK(whole > 0);
    const Trained trained = train_on(2, plan);
    CHECK(trained.error == "");
    CHECK(trained.same_on_all);
}

TEST_CASE("the memory of an exchange is in the plan, and the audit looks at it") {
    for (const std::string& form : forms()) {
        CAPTURE(form);
        const plan::Plan plan = compiled(job(form, 1));
        const plan::Plan plain = compiled(job("wire: full", 1));
        CHECK(plan.memory.arena >= plain.memory.arena);
        const bool top_k = form.find("top_k") != std::string::npos;
        std::size_t program = 0;
        while (plan.programs[program].kind != plan::ProgramKind::train)
            ++program;
        const plan::Collective& one = plan.programs[program].collectives.front();
        const std::int64_t elements = one.bytes / 4;
        CHECK(plan.buffers[std::size_t(one.scratch)].bytes ==
              plan::compression_scratch_bytes(one.compression, elements, one.density));
        CHECK((one.residual >= 0) == top_k);
        if (top_k) CHECK(plan.buffers[std::size_t(one.residual)].bytes == elements * 4);

        const auto refused = [&](const std::string& words, auto change) {
            plan::Plan broken = plan;
            change(broken, broken.programs[program].collectives.front());
            const std::vector<std::string> findings = plan::audit(broken);
            return std::any_of(findings.begin(), findings.end(), [&](const std::string& finding) {
                return finding.find(words) != std::string::npos;
            });
        };
        const std::string wire = plan::name_of(plan.parallel.compression);
        CHECK(plan::audit(plan).empty());
        CHECK(refused("travels as full, not as " + wire, [](plan::Plan&, plan::Collective& c) {
            c.compression = plan::Compression::full;
        }));
        CHECK(refused("has no memory of its own",
                      [](plan::Plan&, plan::Collective& c) { c.scratch = -1; }));
        CHECK(refused("bytes of its own from its start to its end",
                      [](plan::Plan& p, plan::Collective& c) {
                          p.buffers[std::size_t(c.scratch)].bytes -= 4;
                      }));
        CHECK(refused("bytes of its own from its start to its end",
                      [](plan::Plan& p, plan::Collective& c) {
                          --p.buffers[std::size_t(c.scratch)].last_step;
                      }));
        CHECK(refused("travels as " + wire + ", not as full", [](plan::Plan& p, plan::Collective&) {
            p.parallel.compression = plan::Compression::full;
        }));
        if (!top_k) continue;
        CHECK(refused("sends a part of 0.5, not of 0.05",
                      [](plan::Plan&, plan::Collective& c) { c.density = 0.5; }));
        CHECK(refused("has no residual of",
                      [](plan::Plan&, plan::Collective& c) { c.residual = -1; }));
        CHECK(refused("has no residual of", [](plan::Plan& p, plan::Collective&) {
            for (plan::Parameter& parameter : p.parameters)
                if (is_residual(parameter)) parameter.by_rank = false;
        }));
    }
}

TEST_CASE("figures know the form") {
    plan::Plan full = compiled(job("wire: full", 1));
    plan::Plan half = compiled(job("wire: bf16", 1));
    full.target.ranks = half.target.ranks = 4;
    const plan::Communication a = plan::communication_of(full), b = plan::communication_of(half);
    CHECK(a.bytes == b.bytes);
    CHECK(b.wire_bytes * 2 == a.wire_bytes);
    CHECK(plan::parallel_words(half).find("bf16") != std::string::npos);
    CHECK(plan::parallel_words(half).find("changes the mathematics") != std::string::npos);
    CHECK(plan::parallel_words(full).find("changes the mathematics") == std::string::npos);
}

}  // namespace dtnn::wire_test
