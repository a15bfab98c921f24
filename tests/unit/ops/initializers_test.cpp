#include "compiler/ops/initializers.hpp"

#include <doctest/doctest.h>

#include "plan/initializer.hpp"

namespace initializers_test {

using namespace dtnn;
using namespace dtnn::compiler;
namespace plan = dtnn::plan;

TEST_CASE("compiler and plan know the same initializers and numbers") {
    REQUIRE(initializer_names().size() == plan::initializer_kinds().size());
    for (const plan::InitializerKind& kind : plan::initializer_kinds()) {
        CAPTURE(kind.name);
        const FieldTable* table = initializer_table(kind.name);
        REQUIRE(table != nullptr);
        CHECK_FALSE(initializer_doc(kind.name).empty());
        REQUIRE(table->size() == kind.numbers.size());
        for (std::size_t i = 0; i < table->size(); ++i) {
            CHECK((*table)[i].name == kind.numbers[i]);
            CHECK_FALSE((*table)[i].doc.empty());
        }
    }
    CHECK(initializer_table("sparkles") == nullptr);
    CHECK(initializer_doc("sparkles").empty());
}

TEST_CASE("the canonical text of an initializer reads back") {
    CHECK(initializer_text("zeros", {}) == "zeros");
    CHECK(initializer_text("orthogonal", {{"gain", 1.0}}) == "orthogonal");
    CHECK(initializer_text("constant", {{"value", 0.1}}) == "constant: {value: 0.1}");
    const std::string text = initializer_text("normal", {{"mean", 0.0}, {"deviation", 0.01}});
    CHECK(text == "normal: {mean: 0, deviation: 0.01}");
    const plan::Initializer read = parse_initializer(text);
    CHECK(read.kind == "normal");
    CHECK(read.numbers == Attributes{{"mean", 0.0}, {"deviation", 0.01}});
    CHECK_FALSE(plan::mistake_of(read).has_value());

    const plan::Initializer bare = parse_initializer("uniform");
    CHECK(bare.numbers == Attributes{{"low", -0.05}, {"high", 0.05}});
    // Numbers keep every digit.
    const double third = 1.0 / 3, tiny = -1.25e-17;
    const auto exact =
        parse_initializer(initializer_text("uniform", {{"low", tiny}, {"high", third}}));
    CHECK(exact.numbers == Attributes{{"low", tiny}, {"high", third}});
}

}  // namespace initializers_test
