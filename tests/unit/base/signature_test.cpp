#include "base/tensor/signature.hpp"

#include <doctest/doctest.h>

#include <string>

namespace signature_test {

using namespace dtnn;

namespace {

std::string names(const OperandList& operands) {
    std::string text;
    for (const Operand& operand : operands)
        text += (text.empty() ? "" : " ") + operand.name;
    return text;
}

}  // namespace

TEST_CASE("an operand is there where its attribute says so") {
    const Signature* sgd = find_signature("sgd_update");
    REQUIRE(sgd != nullptr);
    CHECK(names(present(sgd->sources, {{"momentum", 0.0}})) == "weights diff learning_rate");
    const Attributes all{{"momentum", 0.9}, {"scaled", true}};
    CHECK(names(present(sgd->sources, all)) == "weights diff learning_rate velocity scale");
    CHECK(names(present(sgd->destinations, all)) == "weights velocity");
    CHECK(place_of(sgd->sources, "scale", all) == 4);
    CHECK(place_of(sgd->sources, "scale", {{"momentum", std::int64_t{0}}, {"scaled", true}}) == 3);
    CHECK_FALSE(place_of(sgd->sources, "scale", {{"momentum", 0.9}}));
    CHECK_FALSE(place_of(sgd->sources, "gamma", all));
}

TEST_CASE("an operand may be there unless an attribute is a text") {
    const Signature* nadam = find_signature("nadam_update");
    REQUIRE(nadam != nullptr);
    CHECK(place_of(nadam->sources, "momentum_product", {}) == 6);
    CHECK(place_of(nadam->sources, "momentum_product", {{"variant", std::string("dozat")}}) == 6);
    CHECK_FALSE(place_of(nadam->sources, "momentum_product", {{"variant", std::string("pydtnn")}}));
    CHECK(nadam->sources[3].kind == Operand::Kind::count);
    CHECK(nadam->sources[6].kind == Operand::Kind::number);
}

TEST_CASE("an operator without a line states its operands itself") {
    CHECK(find_signature("conv2d") == nullptr);
}

}  // namespace signature_test
