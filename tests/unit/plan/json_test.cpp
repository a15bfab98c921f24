#include "plan/json/json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/formats.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/summary/summary.hpp"
#include "tests/unit/plan/sample_plan.hpp"

namespace json_test {

using namespace dtnn::plan;

namespace {

// The text with its first line's checksum made right again: what a hostile author would write.
std::string signed_again(std::string text) {
    std::size_t body = text.find('\n') + 1;
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(text.data() + body, text.size() - body));
    std::string digits;
    for (unsigned char byte : digest.digest)
        digits += fmt::format("{:02x}", byte);
    text.replace(text.find("xxh3:") + 5, 32, digits);
    return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    text.replace(at, from.size(), to);
    return signed_again(text);
}

std::string version_text(int number) {
    return fmt::format("\"version\": {}", number);
}

std::string error_of(const std::string& text) {
    ReadResult result = read_plan(text);
    CHECK_FALSE(result.plan.has_value());
    return result.error;
}

}  // namespace

TEST_CASE("a plan reads back as it was written") {
    Plan plan = sample_plan();
    std::string text = to_json(plan);
    CHECK(text == to_json(plan));
    const std::string begin = fmt::format("{{\"format\": \"dtnn-plan\", {}, \"checksum\": \"xxh3:",
                                          version_text(dtnn::formats::kPlan.number));
    CHECK(text.starts_with(begin));
    CHECK(text.find("\",\n") == begin.size() + 32);
    ReadResult result = read_plan(text);
    REQUIRE_MESSAGE(result.plan.has_value(), result.error);
    // All fields are written, so equal texts mean equal plans.
    CHECK(to_json(*result.plan) == text);
    CHECK(result.plan->training.seed == plan.training.seed);
    CHECK(result.plan->training.optimizer_attributes == plan.training.optimizer_attributes);
    CHECK(result.plan->programs[0].steps[2].attributes == plan.programs[0].steps[2].attributes);
    CHECK(result.plan->values[1].place == plan.values[1].place);
    CHECK(result.plan->values[2].place == Place{});
    CHECK(result.plan->resolved_spec == plan.resolved_spec);
    CHECK(checksum_of(text).size() == 32);
    CHECK(looks_like_plan(text));
}

TEST_CASE("what only plans for many ranks have reads back") {
    Plan plan = sample_plan();
    plan.parallel.optimizer = OptimizerState::sharded;
    plan.parallel.compression = Compression::top_k;
    plan.parallel.density = 0.25;
    plan.parallel.local_steps = 8;
    plan.parallel.private_data = true;
    plan.shards = {{"gradients_1", {0}, 16, {1}}};
    plan.parameters[1].by_rank = true;
    plan.parameters[1].offset = 64;
    plan.programs[0].tensors[1].by_rank = true;
    const std::string text = to_json(plan);
    const ReadResult result = read_plan(text);
    REQUIRE_MESSAGE(result.plan.has_value(), result.error);
    CHECK(to_json(*result.plan) == text);
    CHECK(result.plan->parallel == plan.parallel);
    CHECK(result.plan->shards == plan.shards);
    CHECK(result.plan->parameters[1].by_rank);
    CHECK(result.plan->parameters[1].offset == 64);
    CHECK_FALSE(result.plan->parameters[0].by_rank);
    CHECK(result.plan->programs[0].tensors[1].by_rank);
    CHECK_FALSE(result.plan->programs[0].tensors[0].by_rank);
}

TEST_CASE("reals read back to the bit") {
    for (double value :
         {0.1, 1.0, -0.0, 1e300, 5e-324, 1.0 / 3.0, 123456789.0, 1e16, 2.5e-8,
          std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::quiet_NaN()}) {
        Plan plan = sample_plan();
        plan.dataset.attributes["noise"] = value;
        ReadResult result = read_plan(to_json(plan));
        REQUIRE_MESSAGE(result.plan.has_value(), result.error);
        const auto* read = std::get_if<double>(&result.plan->dataset.attributes["noise"]);
        REQUIRE(read);
        CHECK((std::isnan(value) ? std::isnan(*read)
                                 : *read == value && std::signbit(*read) == std::signbit(value)));
    }
}

TEST_CASE("a path that is not UTF-8 leaves the plan JSON") {
    Plan plan = sample_plan();
    plan.values[0].place.file = "caf\xE9.yaml";
    CHECK(read_plan(to_json(plan)).plan.has_value());
}

TEST_CASE("every single changed byte is found") {
    std::string good = to_json(sample_plan());
    for (std::size_t i = 0; i < good.size(); ++i)
        for (int bit : {1, 0x20, 0x80}) {
            std::string bad = good;
            bad[i] = char(bad[i] ^ bit);
            ReadResult result = read_plan(bad);
            CHECK_MESSAGE(!result.plan.has_value(), "byte ", i);
            CHECK_FALSE(result.error.empty());
        }
}

TEST_CASE("a cut, lengthened or foreign file is refused") {
    std::string good = to_json(sample_plan());
    for (std::size_t length = 0; length < good.size(); length += length < 120 ? 1 : 37)
        CHECK_FALSE(read_plan(good.substr(0, length)).plan.has_value());
    CHECK(error_of(good + " ").find("checksum") != std::string::npos);
    CHECK(error_of("") == "the file is empty");
    CHECK(error_of("kind: job\n").find("no plan") != std::string::npos);
    CHECK(error_of("{}").find("no plan") != std::string::npos);
    CHECK(error_of(std::string(1000, '\0')).find("no plan") != std::string::npos);
    CHECK(error_of(replaced(good, version_text(dtnn::formats::kPlan.number), version_text(99)))
              .find("format 99") != std::string::npos);
}

TEST_CASE("a signed text that is no plan is refused with its place") {
    std::string good = to_json(sample_plan());
    auto refused = [&](const std::string& from, const std::string& to, const std::string& text) {
        std::string error = error_of(replaced(good, from, to));
        CHECK_MESSAGE(error.find(text) != std::string::npos, error);
    };
    refused("\"epochs\": 3", "\"epochs\": \"3\"", "training.epochs: string where an integer");
    refused("\"epochs\": 3", "\"epochs\": -3", "training.epochs: -3");
    refused("\"epochs\": 3", "\"epochs\": 99999999999999999999", "training.epochs");
    refused("\"epochs\": 3", "\"epochs\": 3.5", "training.epochs");
    refused("\"epochs\": 3", "\"epochs\": 1e400", "JSON");
    refused("\"epochs\": 3, ", "", "training: the field `epochs` is missing");
    refused("\"epochs\": 3", "\"epochs\": 3, \"epohcs\": 3", " fields where ");
    refused("\"batch_size\": 2", "\"batch_size\": 0", "training.batch_size");
    refused("\"batch_size\": 2", "\"batch_size\": 2147483649",
            "training.batch_size: 2147483649 is more than 2147483648");
    refused("\"data_workers\": 1", "\"data_workers\": 1025",
            "target.data_workers: 1025 is more than 1024");
    refused("\"sources\": [0, 3, 4]", "\"sources\": [0, 13, 4]",
            "programs[0].steps[0].sources[1]: 13");
    refused("\"destinations\": [6]", "\"destinations\": [-1]", "destinations[0]: -1");
    refused("\"workspace\": 10", "\"workspace\": 12", "programs[0].steps[2].workspace");
    refused("\"bytes\": 48", "\"bytes\": -48", "buffers[0].bytes");
    refused("\"bytes\": 48", "\"bytes\": 9000000000000000000", "buffers[0].bytes");
    refused("\"role\": \"state\"", "\"role\": \"stare\"", "none of parameter, state");
    refused("\"order\": [1, 0]", "\"order\": [1, 1]", "no permutation");
    refused("\"order\": [1, 0]", "\"order\": [2147483647, -5]", "no permutation");
    refused("\"dims\": [2, 4]", "\"dims\": [4294967296, 4294967296]",
            "programs[0].tensors[0].dims");
    refused("\"dims\": [2, 4]", "\"dims\": [0, 4]", "dims: 0");
    refused("\"order\": []", "\"order\": [1e3]", "number where an integer");
    refused("\"dtype\": \"f32\"", "\"dtype\": \"f16\"", "none of f32");
    refused("model.yaml:7:5", "model.yaml:x:5", "FILE:LINE:COLUMN");
    refused("model.yaml:7:5", "7", "FILE:LINE:COLUMN");
    refused("\"layers\": [", "\"layers\": 1, \"x\": [", "layers: number where a list");
    refused("\"index\": 1", "\"index\": 5", "numbered");
    refused("\"resolved_spec\": ", "\"resolved_spec\": [[[[[[[[[1]]]]]]]]], \"x\": ", "nested");
    refused("}\n", "", "JSON");
    refused("\"seed\": 18446744073709551615", "\"seed\": -1", "training.seed");
}

TEST_CASE("measured times are amounts, and left away where there are none") {
    const std::string good = to_json(sample_plan());
    CHECK(good.find("{\"kernel\": \"blis\", \"reason\": \"K = 4 is below 8\"}") !=
          std::string::npos);
    CHECK(read_plan(good).plan->refusals[0].seconds == 1e-3);
    CHECK(read_plan(good).plan->refusals[0].kernels[1].seconds == 1.5e-3);
    CHECK(error_of(replaced(good, "\"seconds\": 0.0015", "\"seconds\": 0.0"))
              .find("`seconds` is 0") != std::string::npos);
    CHECK(error_of(replaced(good, "\"seconds\": 0.0015", "\"seconds\": -1.0")).find("no amount") !=
          std::string::npos);
    CHECK(error_of(replaced(good, "\"seconds\": 0.001}", "\"seconds\": {\"real\": \"nan\"}}"))
              .find("no amount") != std::string::npos);
}

TEST_CASE("a parallel plan reads back, and its exchanges are checked where they stand") {
    const std::string good = to_json(parallel_sample_plan());
    ReadResult result = read_plan(good);
    REQUIRE_MESSAGE(result.plan.has_value(), result.error);
    CHECK(to_json(*result.plan) == good);
    CHECK(result.plan->parallel == parallel_sample_plan().parallel);
    CHECK(result.plan->machine == parallel_sample_plan().machine);
    CHECK(result.plan->programs[0].collectives[0].seconds == 4.5e-5);
    auto refused = [&](const std::string& from, const std::string& to, const std::string& text) {
        std::string error = error_of(replaced(good, from, to));
        CHECK_MESSAGE(error.find(text) != std::string::npos, error);
    };
    const std::string place = "programs[0].collectives[0].";
    refused("\"start\": 3", "\"start\": 6", place + "start: 6");
    refused("\"wait\": 4", "\"wait\": -1", place + "wait: -1");
    refused("\"parameters\": [0], \"seconds\"", "\"parameters\": [3], \"seconds\"",
            place + "parameters[0]: 3");
    refused("\"buffer\": 9, \"offset\": 0, \"bytes\": 48, \"dtype\": \"f32\", \"start\"",
            "\"buffer\": 13, \"offset\": 0, \"bytes\": 48, \"dtype\": \"f32\", \"start\"",
            place + "buffer: 13");
    refused("\"offset\": 0, \"bytes\": 48, \"dtype\": \"f32\", \"start\"",
            "\"offset\": -64, \"bytes\": 48, \"dtype\": \"f32\", \"start\"", place + "offset: -64");
    refused("\"offset\": 0, \"bytes\": 48, \"dtype\": \"f32\", \"start\"",
            "\"offset\": 0, \"bytes\": 0, \"dtype\": \"f32\", \"start\"", place + "bytes: 0");
    refused("\"bytes\": 48, \"dtype\": \"f32\", \"start\"",
            "\"bytes\": 48, \"dtype\": \"i32\", \"start\"", place + "dtype");
    refused("\"seconds\": 4.5e-05", "\"seconds\": {\"real\": \"nan\"}", place + "seconds");
    refused("\"reduction\": \"overlapped\"", "\"reduction\": \"never\"",
            "parallel.reduction: none of overlapped, blocking");
    refused("\"wire\": \"full\"", "\"wire\": \"morse\"",
            "parallel.wire: none of full, bf16, fp16, top_k");
    refused("\"participation\": \"all\"", "\"participation\": \"some\"",
            "parallel.participation: none of all, avail2all");
    refused("\"kind\": \"all_reduce\"", "\"kind\": \"broadcast\"",
            place + "kind: none of all_reduce, reduce_scatter, all_gather");
    refused("\"kind\": \"train\"", "\"kind\": \"trian\"",
            "programs[0].kind: none of train, accumulate, evaluate, predict, synchronise");
    refused("\"phase\": \"backward\"", "\"phase\": \"backwards\"",
            "programs[0].steps[2].phase: none of forward, backward, update, metric, communication");
    refused("\"kind\": \"optimizer_state\"", "\"kind\": \"state\"",
            "parameters[2].kind: none of weight, moving_statistic, optimizer_state");
    refused("\"batch_statistics\": \"local\"", "\"batch_statistics\": \"\"",
            "parallel.batch_statistics");
    refused("\"learning_rate_scaling\": \"none\"", "\"learning_rate_scaling\": \"cubic\"",
            "parallel.learning_rate_scaling");
    refused("\"timeout_seconds\": 300.0", "\"timeout_seconds\": -1.0", "parallel.timeout_seconds");
    refused("\"bucket_bytes\": 262144", "\"bucket_bytes\": -1", "parallel.bucket_bytes");
    refused("\"network_latency\": 2e-05", "\"network_latency\": {\"real\": \"inf\"}",
            "machine.network_latency");
    refused("\"nodes\": 4", "\"nodes\": 0", "machine.nodes: 0");
    refused("\"ranks\": 2", "\"ranks\": 1048577", "target.ranks: 1048577 is more than 1048576");
    refused("\"ranks\": 2", "\"ranks\": 0", "target.ranks: 0");
}

TEST_CASE("a text of a million opening brackets is refused") {
    std::string good = to_json(sample_plan());
    std::string text = good.substr(0, good.find('\n') + 1) + std::string(1000000, '[');
    CHECK(error_of(signed_again(text)).find("nested") != std::string::npos);
}

TEST_CASE("signed damage is refused, or gives a plan that can be audited, shown and compared") {
    std::mt19937 random(4);
    Plan sample = sample_plan();
    SUBCASE("for one rank") {}
    SUBCASE("for many") {
        sample = parallel_sample_plan();
    }
    std::string good = to_json(sample);
    std::size_t body = good.find('\n') + 1;
    const std::string digits = "0123456789-";
    int read = 0;
    for (int round = 0; round < 6000; ++round) {
        std::string bad = good;
        for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
            std::size_t at = body + random() % (bad.size() - body);
            switch (random() % 3) {
                case 0:  // numbers stay numbers, so that more than the parser is reached
                    while (at + 1 < bad.size() && !std::isdigit(bad[at]))
                        ++at;
                    bad[at] = digits[random() % digits.size()];
                    break;
                case 1:
                    bad[at] = char(random());
                    break;
                default:
                    bad.erase(at, random() % 20);
            }
        }
        ReadResult result = read_plan(signed_again(bad));
        if (!result.plan) {
            CHECK_FALSE(result.error.empty());
            continue;
        }
        ++read;
        audit(*result.plan);
        summary_text(*result.plan, 80);
        diff(sample, *result.plan);
    }
    CHECK(read > 100);
}

}  // namespace json_test
