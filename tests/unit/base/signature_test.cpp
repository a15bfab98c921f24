#include "base/tensor/signature.hpp"

#include <doctest/doctest.h>

#include <string>

namespace signature_test {

using namespace dtnn;

namespace {

/// The operands that are there.
std::string names(const OperandList& operands, const Attributes& attributes) {
    const PresentOperands present(operands, attributes);
    std::string text;
    for (const Operand* operand : present.list())
        text += (text.empty() ? "" : " ") + operand->name;
    return text;
}

/// The place of an operand where there are as many as the signature says.
std::optional<std::size_t> place_of(const OperandList& operands, const char* name,
                                    const Attributes& attributes) {
    const PresentOperands present(operands, attributes);
    return present.place_of(name, present.count());
}

const Signature& signature_of(const char* op) {
    const Signature* signature = find_signature(op);
    REQUIRE(signature != nullptr);
    return *signature;
}

}  // namespace

TEST_CASE("an operand is there where its attribute says so") {
    const Signature& sgd = signature_of("sgd_update");
    CHECK(names(sgd.sources, {{"momentum", 0.0}}) == "weights diff learning_rate");
    const Attributes all{{"momentum", 0.9}, {"scaled", true}};
    CHECK(names(sgd.sources, all) == "weights diff learning_rate velocity scale");
    CHECK(names(sgd.destinations, all) == "weights velocity");
    CHECK(place_of(sgd.sources, "scale", all) == 4);
    CHECK(place_of(sgd.sources, "scale", {{"momentum", std::int64_t{0}}, {"scaled", true}}) == 3);
    CHECK_FALSE(place_of(sgd.sources, "scale", {{"momentum", 0.9}}));
    CHECK_FALSE(place_of(sgd.sources, "gamma", all));
}

TEST_CASE("an operand may be there unless an attribute is a text") {
    const Signature& nadam = signature_of("nadam_update");
    CHECK(place_of(nadam.sources, "momentum_product", {}) == 6);
    CHECK(place_of(nadam.sources, "momentum_product", {{"variant", std::string("dozat")}}) == 6);
    CHECK_FALSE(place_of(nadam.sources, "momentum_product", {{"variant", std::string("pydtnn")}}));
    CHECK(nadam.sources[3].kind == Operand::Kind::count);
    CHECK(nadam.sources[6].kind == Operand::Kind::number);
}

TEST_CASE("an attribute may have the operand's name, and several conditions go together") {
    const Signature& conv = signature_of("conv2d");
    CHECK(names(conv.sources, {}) == "src weights");
    CHECK(place_of(conv.sources, "residual", {{"residual", true}}) == 2);
    CHECK(place_of(conv.sources, "residual", {{"residual", true}, {"bias", true}}) == 3);

    const Signature& gradient = signature_of("batch_norm_backward");
    const std::string always = "src diff_dst gamma mean inverse_deviation";
    CHECK(names(gradient.sources, {}) == always);
    CHECK(names(gradient.sources, {{"epilogue", std::string("none")}}) == always);
    for (const char* epilogue : {"relu", "expression"}) {
        const AttributeValue text = std::string(epilogue);
        CHECK(names(gradient.sources, {{"epilogue", text}}) == always + " beta");
        CHECK(names(gradient.sources, {{"epilogue", text}, {"mask", true}}) == always + " mask");
    }
}

TEST_CASE("an operand may be repeated, and others stand behind it") {
    const Signature& scale = signature_of("gradient_scale");
    const Attributes attributes{{"shared", true}, {"loss_scaled", true}};
    const PresentOperands both(scale.sources, attributes);
    CHECK_FALSE(both.fit(1));
    CHECK(both.fit(2));
    CHECK(both.fit(7));
    CHECK(both.place_of("square_sum", 7) == 0);
    CHECK(both.place_of("shares", 7) == 5);
    CHECK(both.place_of("loss_scale", 7) == 6);
    CHECK(both.place_of("shares", 2) == 0);
    CHECK_FALSE(both.place_of("square_sum", 0));
}

TEST_CASE("an operator without a line states its operands itself") {
    CHECK(find_signature("relu") == nullptr);
}

}  // namespace signature_test
