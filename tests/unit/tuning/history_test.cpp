/// Times of kernels as a file, and what they say.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "compiler/tuning/kernel_choice.hpp"
#include "compiler/tuning/tuning_history.hpp"

namespace dtnn::compiler::history_test {
namespace {

kernels::Problem product(std::int64_t batch, std::int64_t inputs, std::int64_t units) {
    kernels::Problem problem;
    problem.op = "dense";
    problem.sources = {{DType::f32, {batch, inputs}, {}}, {DType::f32, {inputs, units}, {}}};
    problem.destinations = {{DType::f32, {batch, units}, {}}};
    problem.attributes["bias"] = false;
    problem.isa = kernels::Isa::avx2;
    return problem;
}

TuningEntry entry(const std::string& problem, std::vector<KernelTime> times) {
    return {problem, "a processor", "revision", true, std::move(times)};
}

const char* const kSound =
    R"({"format": "dtnn-tuning", "version": 1, "entries": [
{"problem": "p", "processor": "q", "kernels": "r", "idle": true, "times": [{"kernel": "direct", "median": 2.0, "low": 1.0, "high": 3.0, "calls": 4}]}
]}
)";

std::string edited(const std::string& from, const std::string& to) {
    std::string text = kSound;
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a history reads back as it was written") {
    TuningHistory history;
    history.add(entry("dense \"f32\"", {{"blis", 1e-3, 9e-4, 1.1e-3, 11}}));
    history.add(
        entry("conv2d", {{"direct", 2e-3, 2e-3, 2e-3, 1}, {"winograd_4x4", 1e-4, 1e-4, 1e-4, 3}}));
    const std::string text = history.to_json();
    const TuningReading reading = read_tuning(text);
    REQUIRE_MESSAGE(reading.history.has_value(), reading.mistake);
    CHECK(reading.history->to_json() == text);
    const TuningEntry* found = reading.history->find("conv2d", "a processor", "revision");
    REQUIRE(found != nullptr);
    CHECK(found->find("winograd_4x4")->calls == 3);
    CHECK(found->find("blis") == nullptr);
    // The history knows nothing of another processor or other kernels.
    CHECK(reading.history->find("conv2d", "another", "revision") == nullptr);
    CHECK(reading.history->find("conv2d", "a processor", "older") == nullptr);
    CHECK(read_tuning(kSound).history->to_json() == kSound);
}

TEST_CASE("what is measured again takes the place of what was") {
    TuningHistory history, again;
    history.add(entry("p", {{"direct", 1, 1, 1, 1}}));
    again.add(entry("p", {{"direct", 2, 2, 2, 1}}));
    again.add(entry("q", {{"direct", 3, 3, 3, 1}}));
    history.merge(again);
    CHECK(history.size() == 2);
    CHECK(history.find("p", "a processor", "revision")->times[0].median == 2);
}

TEST_CASE("a history that was tampered with is refused with its entry and the reason") {
    const auto mistake = [](const std::string& text) {
        const TuningReading reading = read_tuning(text);
        CHECK_FALSE(reading.history.has_value());
        return reading.mistake;
    };
    CHECK(mistake("") != "");
    CHECK(mistake("[]") == "it is no history of tuning");
    CHECK(mistake("{}") == "it is no history of tuning");
    CHECK(mistake(edited("\"version\": 1", "\"version\": 2")) ==
          "history of tuning of format 2 is of another release; this program reads 1");
    CHECK(mistake(edited("\"version\": 1", "\"version\": 1, \"more\": 1")) ==
          "it has 4 members, not 3");
    CHECK(mistake(edited("2.0", "-2.0")) == "entry 0: `median` is no time in seconds");
    CHECK(mistake(edited("2.0", "0")) == "entry 0: `median` is no time in seconds");
    CHECK(mistake(edited("2.0", "1e300")) == "entry 0: `median` is no time in seconds");
    CHECK(mistake(edited("2.0", "\"2\"")) == "entry 0: `median` is no time in seconds");
    CHECK(mistake(edited("3.0", "1.5")) == "entry 0: `low`, `median` and `high` do not rise");
    CHECK(mistake(edited("\"calls\": 4", "\"calls\": 4.5")) ==
          "entry 0: `calls` is no whole number");
    CHECK(mistake(edited("\"calls\": 4", "\"calls\": 0")) != "");
    CHECK(mistake(edited("\"idle\": true", "\"idle\": 1")) ==
          "entry 0: `idle` is neither true nor false");
    CHECK(mistake(edited("\"kernel\": \"direct\"", "\"kernel\": 1")) ==
          "entry 0: `kernel` is no text");
    CHECK(mistake(edited("\"kernel\": \"direct\"", "\"name\": \"direct\"")) ==
          "entry 0: `kernel` is missing");
    CHECK(mistake(edited("[{\"kernel\"", "[], \"times\": [{\"kernel\"")) != "");
    CHECK(mistake(edited(R"({"problem": "p")",
                         fmt::format(R"({{"problem": "{}")", std::string(20'000, 'p')))) ==
          "entry 0: `problem` has more than 16384 bytes");
}

TEST_CASE("any damage to a history is refused, or leaves a sound one") {
    const std::string good = kSound;
    const std::string bytes = "\"{}[],:.-0123456789eE \\x\x80\xff";
    std::mt19937 random(7);
    int refused = 0;
    for (int trial = 0; trial < 20'000; ++trial) {
        std::string text = good;
        for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            const std::size_t length = random() % 8;
            if (random() % 3 == 0)
                text.erase(at, length);
            else if (random() % 2 == 0)
                text.insert(at, text.substr(random() % text.size(), length));
            else
                text[at] = bytes[random() % bytes.size()];
            if (text.empty()) text = " ";
        }
        const TuningReading reading = read_tuning(text);
        refused += reading.history ? 0 : 1;
        REQUIRE(reading.history.has_value() == reading.mistake.empty());
        if (!reading.history) continue;
        const std::string written = reading.history->to_json();
        const TuningReading again = read_tuning(written);
        REQUIRE_MESSAGE(again.history.has_value(), written << again.mistake);
        REQUIRE(again.history->to_json() == written);
    }
    CHECK(refused > 10'000);
    CHECK(refused < 20'000);
}

TEST_CASE("the nearest problem differs in numbers alone, and least") {
    const std::string wanted = problem_key(product(64, 512, 512));
    TuningHistory history;
    const auto add = [&](const kernels::Problem& problem, const char* kernel) {
        history.add(entry(problem_key(problem), {{kernel, 1, 1, 1, 1}}));
    };
    CHECK(history.nearest(wanted, "", "") == nullptr);
    add(product(64, 8192, 4096), "far");
    add(product(32, 512, 512), "near");
    kernels::Problem with_bias = product(64, 512, 512);
    with_bias.attributes["bias"] = true;
    add(with_bias, "other");
    kernels::Problem backward = product(64, 512, 512);
    backward.op = "dense_backward_data";
    add(backward, "backward");
    REQUIRE(history.nearest(wanted, "", "") != nullptr);
    CHECK(history.nearest(wanted, "", "")->times[0].kernel == "near");
    // This processor's entry wins over others of the same numbers.
    TuningEntry own = entry(problem_key(product(32, 512, 512)), {{"own", 1, 1, 1, 1}});
    own.processor = "mine";
    history.add(own);
    CHECK(history.nearest(wanted, "mine", "")->times[0].kernel == "own");
    CHECK(history.nearest(wanted, "a processor", "")->times[0].kernel == "near");
}

TEST_CASE("a problem's key holds all that its time depends on") {
    const kernels::Problem problem = product(64, 512, 512);
    const std::string key = problem_key(problem);
    CHECK(key ==
          "dense f32: f32[64,512] f32[512,512] -> f32[64,512] {\"bias\": false} on 1 threads "
          "of avx2");
    kernels::Problem other = problem;
    other.threads = 2;
    CHECK(problem_key(other) != key);
    other = problem;
    other.isa = kernels::Isa::avx512;
    CHECK(problem_key(other) != key);
    other = problem;
    other.sources[0].order = {1, 0};
    CHECK(problem_key(other) != key);
    other = problem;
    other.attributes["relu"] = true;
    CHECK(problem_key(other) != key);
}

TEST_CASE("a kernel is chosen where it gains more than noise") {
    const kernels::Problem problem = product(64, 512, 512);
    const kernels::KernelInfo* usual = usual_kernel(problem, "cpu");
    REQUIRE(usual != nullptr);
    CHECK(usual->name == "direct");  // `blis` is expected to be slower with weights in the caches
    const std::vector<const kernels::KernelInfo*> able = measurable_kernels(problem);
    REQUIRE(able.size() == 2);
    const auto chosen = [&](KernelTime blis, KernelTime direct) {
        blis.kernel = "blis";
        direct.kernel = "direct";
        return choose_measured(entry("p", {blis, direct}), able, usual)->name;
    };
    CHECK(chosen({"", 0.90, 0.88, 0.92, 11}, {"", 1, 0.99, 1.01, 11}) == "blis");
    CHECK(chosen({"", 0.97, 0.96, 0.98, 11}, {"", 1, 0.99, 1.01, 11}) == "direct");  // 3 %
    CHECK(chosen({"", 0.90, 0.80, 1.05, 11}, {"", 1, 0.99, 1.01, 11}) == "direct");  // overlap
    CHECK(chosen({"", 2, 2, 2, 1}, {"", 1, 0.99, 1.01, 11}) == "direct");
    // Kernels of other operators, or of none, say nothing; nor do times without the usual kernel's.
    CHECK(choose_measured(entry("p", {{"winograd_4x4", 1e-9, 1e-9, 1e-9, 9},
                                      {"nonsense", 1e-9, 1e-9, 1e-9, 9},
                                      {"direct", 1, 1, 1, 9}}),
                          able, usual) == usual);
    CHECK(choose_measured(entry("p", {{"blis", 1e-9, 1e-9, 1e-9, 9}}), able, usual) == usual);
}

}  // namespace dtnn::compiler::history_test
