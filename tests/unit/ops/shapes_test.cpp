/// One table of shape cases: operator, operand types and attributes in, result types out, or the
/// text of the refusal. The last test walks the registry, so an operator without a case fails.

#include <doctest/doctest.h>

#include <set>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/emit.hpp"
#include "tests/graphs/parser.hpp"

namespace shapes_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

struct Case {
    const char* op;
    const char* inputs;      ///< types separated by "; "
    const char* attributes;  ///< in the text form, without braces
    const char* expected;    ///< result types separated by "; ", or "! " and the refusal
};

const Case kCases[] = {
#include "shape_cases.def"
};

std::vector<Type> types_of(const std::string& text) {
    std::vector<Type> types;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find("; ", at), text.size());
        types.push_back(parse_type(text.substr(at, end - at)));
        at = end + 2;
    }
    return types;
}

Attributes attributes_of(const std::string& text) {
    const Graph graph = parse_graph("graph @g(%x: f32[]) { %y = f(%x) {" + text + "} : f32[] }");
    return graph.nodes[0].attributes;
}

std::string result_of(const Case& c, Attributes& attributes) {
    std::vector<Type> results;
    if (const auto error = infer(op(c.op), types_of(c.inputs), attributes, results))
        return "! " + error->text;
    std::string text;
    for (const Type& type : results)
        text += (text.empty() ? "" : "; ") + print(type);
    return text;
}

}  // namespace

TEST_CASE("every shape case gives what the table says") {
    for (const Case& c : kCases) {
        CAPTURE(c.op);
        CAPTURE(c.inputs);
        Attributes attributes = attributes_of(c.attributes);
        const std::string result = result_of(c, attributes);
        CHECK(result == c.expected);
        if (result.starts_with("! ")) continue;
        // A rule accepts its own resolved attributes and leaves them as they are.
        Attributes again = attributes;
        CHECK(result_of(c, again) == c.expected);
        CHECK(print(again) == print(attributes));
    }
}

TEST_CASE("every operator has a shape case that succeeds") {
    std::set<std::string> covered;
    for (const Case& c : kCases)
        if (c.expected[0] != '!') covered.insert(c.op);
    for (const OpDef* def : all_ops()) {
        CAPTURE(def->name);
        CHECK(covered.contains(def->name));
    }
}

TEST_CASE("attributes are resolved to the form of docs/operators.md") {
    const auto resolved = [](const char* name, const char* inputs, const char* text) {
        Attributes attributes = attributes_of(text);
        std::vector<Type> results;
        REQUIRE_FALSE(infer(op(name), types_of(inputs), attributes, results));
        return print(attributes);
    };
    CHECK(resolved("conv2d", "f32[1,3,7,8]; f32[8,3,3,3]",
                   "filters=8, kernel=[3,3], stride=[2,2], padding=same, bias=false, "
                   "weights_initializer=he_normal, bias_initializer=zeros") ==
          "{bias=false, dilation=[1,1], groups=1, padding=[1,1,0,1], stride=[2,2]}");
    CHECK(resolved("conv2d", "f32[1,3,7,8]; f32[8,3,3,3]", "dilation=[2,2], padding=same") ==
          "{bias=false, dilation=[2,2], groups=1, padding=[2,2,2,2], stride=[1,1]}");
    CHECK(resolved("max_pool2d", "f32[1,3,7,8]", "kernel=[2,3]") ==
          "{dilation=[1,1], kernel=[2,3], padding=[0,0,0,0], stride=[2,3]}");
    CHECK(resolved("avg_pool2d", "f32[1,3,7,8]", "kernel=[2,2], padding=same") ==
          "{kernel=[2,2], padding=[0,1,0,0], stride=[2,2]}");
    CHECK(resolved("avg_pool2d", "f32[1,3,7,8]", "kernel=[2,2], count_include_pad=true") ==
          "{count_include_pad=true, kernel=[2,2], padding=[0,0,0,0], stride=[2,2]}");
    CHECK(resolved("avg_pool2d", "f32[1,3,7,8]", "kernel=[2,2], count_include_pad=false") ==
          "{kernel=[2,2], padding=[0,0,0,0], stride=[2,2]}");
    CHECK(resolved("dense", "f32[4,8]; f32[8,3]; f32[3]", "bias=true, units=3") == "{bias=true}");
}

TEST_CASE("a shape error points at the attribute and helps") {
    Attributes attributes = attributes_of("bias=false");
    std::vector<Type> results;
    auto error = infer(op("conv2d"), types_of("f32[1,3,3,3]; f32[8,3,5,5]"), attributes, results);
    REQUIRE(error);
    CHECK(error->field == "kernel");
    CHECK(error->help != "");
    error = infer(op("dense"), types_of("f32[1,3,3,3]; f32[27,10]"), attributes, results);
    REQUIRE(error);
    CHECK(error->help == "put `flatten` before it");
}

}  // namespace shapes_test
