#include "runtime/checkpoint/name_map.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/kept_parameters.hpp"
#include "runtime/checkpoint/name_pattern.hpp"
#include "runtime/checkpoint/parameter_names.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace dtnn::runtime::name_map_test {
namespace {

NamePattern pattern(const std::string& text) {
    std::string fault;
    auto parsed = NamePattern::parse(text, fault);
    REQUIRE_MESSAGE(parsed, text, ": ", fault);
    return *parsed;
}

std::string fault_of(const std::string& text) {
    std::string fault;
    CHECK_FALSE(NamePattern::parse(text, fault));
    return fault;
}

/// The texts of a pattern's stars, joined by |; "no" where the text does not match.
std::string stars(const std::string& of, const std::string& text) {
    const auto found = pattern(of).match(text);
    if (!found) return "no";
    std::string joined;
    for (const std::string& star : found->stars)
        joined += star + "|";
    return joined;
}

/// The name that an entry makes of a name.
std::string made(const std::string& from, const std::string& to, const std::string& name) {
    const auto found = pattern(from).match(name);
    if (!found) return "no match";
    return pattern(to).fill(*found).value_or("no text");
}

plan::Plan two_layers() {
    plan::Plan plan;
    plan.model = "two";
    for (const char* name : {"conv_1/conv2d_1.weights", "conv_1/conv2d_1.bias", "norm.gamma",
                             "norm.beta", "norm.running_mean", "norm.running_variance"}) {
        plan::Parameter& parameter = plan.parameters.emplace_back();
        parameter.name = name;
        parameter.role = parameter.name.substr(parameter.name.find('.') + 1);
    }
    plan::Parameter& state = plan.parameters.emplace_back();
    state.name = "norm.gamma.velocity";
    state.role = "gamma.velocity";
    state.optimizer_state = true;
    return plan;
}

}  // namespace

TEST_CASE("stars stand for the shortest texts from the left") {
    CHECK(stars("abc", "abc").empty());
    CHECK(stars("abc", "abcd") == "no");
    CHECK(stars("*", "") == "|");
    CHECK(stars("a*c", "abbc") == "bb|");
    CHECK(stars("ab*bc", "abc") == "no");
    CHECK(stars("*.*", "a.b.c") == "a|b.c|");
    CHECK(stars("layer*.bn.*", "layer2/x.bn.gamma") == "2/x|gamma|");
    CHECK(stars("**a", "xa") == "|x|");
    CHECK(stars("*a*b", "ba") == "no");
}

TEST_CASE("numbers are whole runs of digits, with something added, in a range") {
    CHECK(made("layer{s}.{b}.*", "stage_{s}/block_{b+1}.*", "layer2.10.bias") ==
          "stage_2/block_11.bias");
    CHECK(made("f{n:7-10}", "b_{n-6}", "f7") == "b_1");
    CHECK(made("f{n:7-10}", "b_{n-6}", "f10") == "b_4");
    CHECK(made("f{n:7-10}", "b_{n-6}", "f6") == "no match");
    CHECK(made("f{n:7-10}", "b_{n-6}", "f11") == "no match");
    CHECK(made("f{n+1}", "b{n}", "f1") == "b0");
    CHECK(made("f{n+1}", "b{n}", "f0") == "no match");
    CHECK(made("f{n}", "b{n-1}", "f0") == "no text");
    CHECK(made("{a}.{b}", "{b}.{a}", "3.12") == "12.3");
    CHECK(made("{a}.{a}", "{a}", "3.3") == "3");
    CHECK(made("{a}.{a}", "{a}", "3.4") == "no match");
    CHECK(made("f{n}", "b{n}", "f07") == "no match");
    CHECK(made("f{n}", "b{n}", "f1234567890") == "no match");
    CHECK(made("f{n}", "b{n}", "f") == "no match");
    // A star before a number ends where the digits begin.
    CHECK(made("*{n}.*", "*-{n}-*", "conv12.x") == "conv-12-x");
}

TEST_CASE("what is no pattern is told") {
    CHECK(fault_of("a{b").find("without a }") != std::string::npos);
    CHECK(fault_of("{a}{b}").find("right behind") != std::string::npos);
    for (const char* bad :
         {"{}", "{1}", "{a+}", "{a*2}", "{a:3}", "{a:7-3}", "{a:-3}", "{a-b}", "{a+01}"})
        CHECK_MESSAGE(fault_of(bad).find("is no number") != std::string::npos, bad);
}

TEST_CASE("no map and no pattern takes long") {
    const auto repeated = [](std::size_t count, const std::string& text) {
        std::string all;
        for (std::size_t i = 0; i < count; ++i)
            all += text;
        return all;
    };
    CHECK(pattern(repeated(NamePattern::kMostStars, "*a")).stars() == NamePattern::kMostStars);
    CHECK(fault_of(repeated(NamePattern::kMostStars + 1, "*a")).find("17 *") != std::string::npos);
    CHECK(fault_of(repeated(4001, "a")).find("4001 bytes") != std::string::npos);
    std::string entries = "{";
    for (int i = 0; i <= 20'000; ++i)
        entries += fmt::format(R"({}"{}": null)", i == 0 ? "" : ",", i);
    expect_error(Exit::mismatch, {"m.json", "20000 entries", "16 steps"},
                 [&] { NameMap::parse(entries + "}", "m.json"); });
    expect_error(Exit::mismatch, {"m.json", "16 steps"},
                 [&] { NameMap::parse("{\"names\": [{}" + repeated(16, ",{}") + "]}", "m.json"); });
    // Every pattern is tried at every place of every name.
    entries = "{";
    for (int i = 0; i < 10'000; ++i)
        entries += fmt::format(R"({}"{}{}b": null)", i == 0 ? "" : ",", repeated(15, "*a"), i);
    NameMap slow = NameMap::parse(entries + "}", "m.json");
    expect_error(Exit::mismatch, {"m.json", "take too long"}, [&] {
        for (int name = 0; name < 1000; ++name)
            slow.find(repeated(4000, "a"));
    });
}

TEST_CASE("a map gives the first entry that matches, and remembers which did") {
    NameMap map = NameMap::parse(R"({"a.*": "x.*.y", "a.b": "never", "n*": null})", "m.json");
    const auto found = map.find("a.b");
    REQUIRE(found);
    CHECK(found->name == "x.b.y");
    CHECK(map.find("n1")->dropped);
    CHECK(!map.find("b"));
    CHECK(map.unused() == std::vector<std::string>{"a.b"});
    expect_error(Exit::mismatch, {"m.json", "twice"},
                 [] { NameMap::parse(R"({"a": "b", "a": "c"})", "m.json"); });
    expect_error(Exit::mismatch, {"m.json", "more *"},
                 [] { NameMap::parse(R"({"a": "*"})", "m.json"); });
    expect_error(Exit::mismatch, {"m.json", "{n}", "`a*`"},
                 [] { NameMap::parse(R"({"a*": "b{n}"})", "m.json"); });
    expect_error(Exit::mismatch, {"m.json", "`a{`", "without a }"},
                 [] { NameMap::parse(R"({"a{": "b"})", "m.json"); });
    expect_error(Exit::mismatch, {"m.json", "no text"},
                 [] { NameMap::parse(R"({"a": {"a": null}})", "m.json"); });
    expect_error(Exit::mismatch, {"m.json", "no JSON"}, [] { NameMap::parse("{", "m.json"); });
    // A name inside of a value is no entry that comes twice.
    expect_error(Exit::mismatch, {"no text"},
                 [] { NameMap::parse(R"({"a": {"a": 1}, "b": "c"})", "m.json"); });
}

TEST_CASE("an entry whose right side would be below zero does not match") {
    NameMap map = NameMap::parse(R"({"f{n}": "b{n-1}", "f0": "stem"})", "m.json");
    CHECK(map.find("f1")->name == "b0");
    CHECK(map.find("f0")->name == "stem");
    CHECK(map.origin("stem") == "f0");
    CHECK(map.origin("b0") == "f1");
}

TEST_CASE("a family's map goes step by step, and back") {
    NameMap map = NameMap::parse(R"({
        "description": "a family", "models": {"ours": "theirs"}, "layout": "torch",
        "names": [
            {"aux.*": null, "f.1.{n}.*": "f.1.{n+1}.*"},
            {"f.{b:1-2}.*": "one/{b}/*", "f.{b:3-4}.*": "two/{b-2}/*"},
            {"*/0.*": "*/conv.*", "*/1.*": "*/norm.*"}
        ]})",
                                 "m.json");
    CHECK(map.layout() == "torch");
    CHECK(map.models().at("ours") == "theirs");
    CHECK(map.find("f.2.1.weight")->name == "one/2/norm.weight");
    CHECK(map.find("f.1.0.weight")->name == "one/1/norm.weight");
    CHECK(map.find("aux.0.weight")->dropped);
    CHECK(map.unused().empty());
    CHECK(map.origin("one/2/norm.weight") == "f.2.1.weight");
    CHECK(map.origin("two/1/conv.weight") == "f.3.0.weight");
    CHECK(map.origin("one/1/norm.weight") == "f.1.0.weight");
    CHECK_FALSE(map.origin("else"));
    // A name that two entries make alike is the first's; one that another entry takes away is
    // nobody's.
    NameMap twice = NameMap::parse(R"({"old.*": "x.*", "new.*": "x.*"})", "m.json");
    CHECK(twice.origin("x.bias") == "old.bias");
    NameMap hidden = NameMap::parse(R"({"a.b": "y", "a.*": "x.*"})", "m.json");
    CHECK_FALSE(hidden.origin("x.b"));
    CHECK(hidden.origin("x.c") == "a.c");
}

TEST_CASE("a family's map says what it is and nothing else") {
    const auto refused = [](const char* text, std::initializer_list<const char*> said) {
        expect_error(Exit::mismatch, said, [&] { NameMap::parse(text, "m.json"); });
    };
    refused(R"({"names": {}, "layers": 1})", {"m.json", "`layers`", "description"});
    refused(R"({"names": {}, "layout": "tensorflow"})", {"unknown layout `tensorflow`"});
    refused(R"({"names": {}, "models": {"a": 1}})", {"`a`", "no text"});
    refused(R"({"names": [1]})", {"names", "no JSON object"});
    refused(R"({"names": {}, "description": 1})", {"`description`"});
    // A tensor may be called so.
    NameMap flat = NameMap::parse(R"({"names": "x"})", "m.json");
    CHECK(flat.find("names")->name == "x");
}

TEST_CASE("parameters are found by what others call their roles") {
    const plan::Plan plan = two_layers();
    const ParameterNames names(plan);
    CHECK(names.find("conv_1/conv2d_1.weights") == 0);
    CHECK(names.find("conv_1/conv2d_1.weight") == 0);
    CHECK(names.find("conv_1/conv2d_1.kernel") == 0);
    CHECK(names.find("conv_1/conv2d_1.bias") == 1);
    CHECK(names.find("norm.weight") == 2);
    CHECK(names.find("norm.bias") == 3);
    CHECK(names.find("norm.running_mean") == 4);
    CHECK(names.find("norm.running_var") == 5);
    CHECK_FALSE(names.find("norm.kernel"));
    CHECK_FALSE(names.find("norm.my_bias"));
    CHECK_FALSE(names.find("bias"));
    CHECK_FALSE(names.find("norm.gamma.velocity"));
    std::vector<std::string> torch;
    for (const plan::Parameter& parameter : plan.parameters)
        torch.push_back(torch_name(parameter));
    CHECK(torch == std::vector<std::string>{"conv_1/conv2d_1.weight", "conv_1/conv2d_1.bias",
                                            "norm.weight", "norm.bias", "norm.running_mean",
                                            "norm.running_var", "norm.gamma.velocity"});
    for (std::size_t i = 0; i + 1 < plan.parameters.size(); ++i)
        CHECK(names.find(torch[i]) == i);
}

TEST_CASE("parameters that keep what they have are named by patterns that match") {
    const plan::Plan plan = two_layers();
    const KeptParameters kept(plan, {"norm.*", "*.bias"});
    CHECK(kept.matches("norm.gamma"));
    CHECK(kept.matches("conv_1/conv2d_1.bias"));
    CHECK_FALSE(kept.matches("conv_1/conv2d_1.weights"));
    CHECK_FALSE(KeptParameters(plan, {}).matches("norm.gamma"));
    expect_error(Exit::mismatch, {"head_9/*", "`two`", "norm.running_variance"},
                 [&] { KeptParameters(plan, {"head_9/*"}); });
    expect_error(Exit::mismatch, {"*.velocity"}, [&] { KeptParameters(plan, {"*.velocity"}); });
    expect_error(Exit::usage, {"no pattern", "{"}, [&] { KeptParameters(plan, {"a{"}); });
}

}  // namespace dtnn::runtime::name_map_test
