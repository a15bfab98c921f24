// Specs that are large, long or deep are read or refused in about the time that it takes to look at
// them. Nothing is timed here: what is quadratic takes minutes and ends at the time limit of the
// test.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"

namespace limits_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

const std::string kHead = "kind: model\ninput: {shape: [3, 8, 8]}\n";

std::string repeated(int times, const std::string& format) {
    std::string text;
    for (int i = 0; i < times; ++i)
        text += fmt::format(fmt::runtime(format), i);
    return text;
}

/// The text that `run` says, of bounded length. How long it takes is for
/// benchmarks/front_end_bench; what is quadratic is stopped by the test's time limit.
template <class Run>
Diagnostics said_by(Run run) {
    Diagnostics diagnostics;
    run(diagnostics);
    CHECK_LT(diagnostics.render(false, 20).size(), std::size_t{100'000});
    return diagnostics;
}

Diagnostics load(const std::map<std::string, std::string>& texts) {
    return said_by([&](Diagnostics& diagnostics) {
        LoadOptions options;
        options.texts = texts;
        load_job("spec.yaml", options, diagnostics);
    });
}
Diagnostics load(const std::string& text) {
    return load(std::map<std::string, std::string>{{"spec.yaml", text}});
}

}  // namespace

TEST_CASE("places on one very long line are right") {
    const int maps = 19'000;
    const std::string text = "[é, '', " + repeated(maps, "{{k{0}: [a, ü]}}, ") + "~, ]";
    std::optional<SourceNode> tree;
    said_by([&](Diagnostics& diagnostics) { tree = read_yaml("a.yaml", text, diagnostics); });
    REQUIRE(tree);
    REQUIRE_EQ(tree->items.size(), maps + 3);
    CHECK_EQ(tree->items[1].span.place.column, 5);
    CHECK_EQ(tree->items[1].span.width, 2);
    int column = 9;
    for (int i = 0; i < maps; ++i) {
        const SourceNode& map = tree->items[std::size_t(i) + 2];
        const auto digits = int(std::to_string(i).size());
        REQUIRE_EQ(map.span.place.column, column);
        REQUIRE_EQ(map.span.width, 11 + digits);
        REQUIRE_EQ(map.entries[0].value.items[1].span.place.column, column + digits + 8);
        column += 13 + digits;
    }
    CHECK_EQ(tree->items.back().span.place.column, column);
}

TEST_CASE("values that are left out of long lists, and quotes that are none, are read") {
    said_by([](Diagnostics& diagnostics) {
        read_yaml("a.yaml", "[" + std::string(99'000, ',') + "]", diagnostics);
        read_yaml("b.yaml", repeated(99'000, "-\n"), diagnostics);
        read_yaml("c.yaml", "[" + repeated(24'000, "{{a: b 'c \"d}}, ") + "]", diagnostics);
        CHECK_FALSE(diagnostics.has_errors());
    });
}

TEST_CASE("anchors inside anchors do not multiply what they hold") {
    const Diagnostics said = said_by([](Diagnostics& diagnostics) {
        read_yaml("a.yaml", repeated(50, "&a{} [") + repeated(90'000, "a, ") + std::string(50, ']'),
                  diagnostics);
    });
    REQUIRE_EQ(said.error_count(), 1);
    CHECK_EQ(int(said.all()[0].code), int(Code::too_many_aliases));
}

TEST_CASE("tens of thousands of names are merged, read and looked up") {
    const std::string many =
        "parameters:\n  p0: 1\n" + repeated(48'000, "  q{0}: \"${{p0 + {0}}}\"\n");
    const Diagnostics said = load({{"base.yaml", kHead + many + "layers: [relu, flatten]\n"},
                                   {"spec.yaml", "kind: model\nextends: ./base.yaml\n" + many}});
    // No layer reads the names that are made from p0.
    CHECK_EQ(said.error_count(), 48'000);
    for (const Diagnostic& one : said.all())
        REQUIRE_EQ(int(one.code), int(Code::unused_parameter));
}

TEST_CASE("thousands of mistakes are all found, the first with suggestions") {
    const std::string names = "parameters:\n" + repeated(10'000, "  pa{}: 1\n");
    for (const auto& one : std::vector<std::pair<std::string, int>>{
             {"layers:\n" + repeated(60'000, "- conv{}dd\n"), 60'000},
             {"layers:\n" + repeated(12'000, "- conv2d: {{filtres: {}, kernel: 3}}\n"), 12'000},
             {names + "layers:\n" + repeated(10'000, "- dropout: {{rate: \"${{qa{}}}\"}}\n"),
              10'000},
             {"layers:\n" + repeated(15'000, "- relu: {{from: relu_{}x}}\n"), 15'000},
             {repeated(40'000, "layrs{}: 1\n") + "layers: [relu]\n", 40'000},
             {"layers:\n" + repeated(12'000, "- dense: {{units: 3, bias_initializer: zeross{}}}\n"),
              12'000}}) {
        const std::string& text = one.first;
        const Diagnostics said = load(kHead + text);
        CAPTURE(text.substr(0, 200));
        CHECK_EQ(said.all().size(), one.second);
    }
    const Diagnostics said = load(kHead + "layers:\n" + repeated(1000, "- conv{}dd\n"));
    CHECK_EQ(said.all()[0].help.substr(0, 12), "did you mean");
}

TEST_CASE("what an expansion reads counts, not only how many layers it makes") {
    const std::string parameters = repeated(2000, "p{}: {{type: integer, default: 1}}, ");
    for (const std::string& text :
         {"blocks: {b: {parameters: {" + parameters + "}, layers: [relu]}}\n" +
              "layers: [repeat: {times: 10000, layers: [b]}]\n",
          "layers: [{relu: {name: a}}, {repeat: {times: 100000, layers: [add: {from: [" +
              repeated(5000, "a, ") + "]}]}}]\n",
          "layers: [repeat: {times: 200000, layers: [dropout: {rate: \"${0.5" +
              repeated(200, "+{0}-{0}").substr(0, 900) + "}\"}]}]\n"}) {
        const Diagnostics said = load(kHead + text);
        REQUIRE_EQ(said.all().size(), 1);
        CAPTURE(said.render(false, 1).substr(0, 300));
        CHECK_EQ(int(said.all()[0].code), int(Code::too_many_layers));
    }
}

TEST_CASE("a name of 300 characters is one, and longer paths are refused before they are made") {
    const std::string name(300, 'n');
    CHECK_FALSE(load(kHead + "layers: [{relu: {name: " + name + "}}]\n").has_errors());
    const std::string block = "blocks: {b: {layers: [relu]}}\n";
    for (const std::string& text :
         {"layers: [{relu: {name: n" + name + "}}]\n",
          block + "layers: [{b: {name: " + name + "}}]\n",
          "layers: [repeat: {times: 200000, name: n" + name + ", layers: [relu]}]\n"}) {
        const Diagnostics said = load(kHead + text);
        REQUIRE_EQ(said.all().size(), 1);
        CHECK_EQ(int(said.all()[0].code), int(Code::bad_name));
    }
}

TEST_CASE(
    "a mistake in a block that is used a hundred thousand times is said once, and compared once") {
    std::string blocks = "blocks:\n";
    for (char block = 'a'; block < 'f'; ++block)
        blocks += fmt::format("  {}: {{layers: [{}]}}\n", block,
                              repeated(10, fmt::format("{}, ", char(block + 1))));
    const Diagnostics said =
        load(kHead + blocks +
             "  f: {layers: [relrandom_stateu, conv2d: {fliters: 3, kernal: 2}]}\nlayers: [a]\n");
    CHECK_EQ(said.all().size(), 3);
}

TEST_CASE("a word as long as a file is told by its beginning") {
    const std::string word(1'000'000, 'k');
    for (const std::string& text : {"kind: " + word, "kind: job\nmodel: " + word,
                                    kHead + "layers: [" + word + "]", kHead + word + ": 1"}) {
        const Diagnostics said = load(text + "\n");
        REQUIRE(said.has_errors());
        for (const Diagnostic& one : said.all())
            CHECK_LT(one.text.size(), std::size_t{1000});
    }
}

}  // namespace limits_test
