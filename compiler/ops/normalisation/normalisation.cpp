#include "compiler/ops/normalisation/normalisation.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

ParameterRule affine_rule(std::string_view role, const char* kind, ParameterDims dims) {
    return {std::string(role), true,
            [dims](const Type& input, const Attributes& attributes) {
                return flag(attributes, "affine") ? dims(input, attributes) : Dims{};
            },
            [kind](const Dims&, const Attributes&) {
                plan::Initializer result;
                result.kind = kind;
                return result;
            }};
}

}  // namespace

Field epsilon_field() {
    Field field = real_field("epsilon", 1e-5, "added to the variance, against division by zero");
    field.minimum = 0;
    field.maximum = 1;
    field.exclusive_minimum = true;
    return field;
}

Field affine_field() {
    return boolean_field("affine", true,
                         "whether the result is scaled and shifted by learned "
                         "numbers, gamma and beta");
}

ParameterRule gamma_rule(ParameterDims dims) {
    return affine_rule("gamma", "ones", dims);
}

ParameterRule beta_rule(ParameterDims dims) {
    return affine_rule("beta", "zeros", dims);
}

bool expect_normalisation(ShapeContext& c, const char* op) {
    fallback(c, "epsilon");
    fallback(c, "affine");
    return expect_channels(c, op) && expect_operands(c, op, c.flag("affine") ? 3 : 1);
}

bool expect_normalisation_backward(ShapeContext& c, const char* op, const Dims& statistics) {
    if (!expect_channels(c, op)) return false;
    if (!expect_operands(c, op, c.flag("affine") ? 5 : 4)) return false;
    return expect_dims(c, op, 1, "diff_dst", c.input(0).dims) &&
           expect_dims(c, op, 2, "mean", statistics) &&
           expect_dims(c, op, 3, "inverse_deviation", statistics);
}

void normalisation_results(ShapeContext& c, const Dims& statistics) {
    result_like(c);
    if (!c.flag("statistics")) return;
    for (int i = 0; i < 2; ++i)
        c.result(Type{c.input(0).dtype, statistics, {}});
}

void normalisation_backward_results(ShapeContext& c) {
    result_like(c);
    if (!c.flag("affine")) return;
    for (int i = 0; i < 2; ++i)
        result_like(c, 4);
}

void emit_normalisation_backward(GradientContext& g, const char* backward,
                                 std::initializer_list<const char*> attributes) {
    const Attributes& of_node = g.node().attributes;
    const bool affine = flag(of_node, "affine");
    DTNN_CHECK(flag(of_node, "statistics"), "`{}` was not specialised before differentiation",
               g.node().op);
    if (!g.wants(0) && !(affine && (g.wants(1) || g.wants(2)))) return;
    ValueList inputs{g.input(0), g.diff(0), g.output(1), g.output(2)};
    if (affine) inputs.push_back(g.input(1));
    const auto diffs = g.emit(backward, inputs, pick(of_node, attributes), "diff_src");
    for (std::size_t i = 0; i < diffs.size(); ++i)
        g.set(i, diffs[i]);
}

Dims layer_norm_parameter_dims(const Type& input, const Attributes& attributes) {
    if (input.dims.size() < 2) return {1};
    if (text_or(attributes, "axis", "features") == "channels") return {input.dims[1]};
    return Dims(input.dims.begin() + 1, input.dims.end());
}

Dims layer_norm_statistics(const Type& input, const Attributes& attributes) {
    if (input.dims.empty()) return {1};
    const bool pixels =
        text_or(attributes, "axis", "features") == "channels" && input.dims.size() == 4;
    return {pixels ? input.dims[0] * input.dims[2] * input.dims[3] : input.dims[0]};
}

bool expect_layer_norm_parameter(ShapeContext& c, const char* op, std::size_t i) {
    const Dims wanted = layer_norm_parameter_dims(c.input(0), c.attributes());
    Dims image = wanted;
    image.insert(image.begin(), 1);
    if (wanted.size() == 3 && c.input(i).dims == image) return true;
    return expect_dims(c, op, i, fmt::format("operand {}", i).c_str(), wanted);
}

bool expect_groups(ShapeContext& c) {
    const std::int64_t groups = c.integer("groups"), channels = c.input(0).dims[1];
    if (groups >= 1 && channels % groups == 0) return true;
    std::string divisors;
    for (std::int64_t d = 2; d < channels && d <= 64; ++d)
        if (channels % d == 0) divisors += fmt::format("{}{}", divisors.empty() ? "" : ", ", d);
    c.fail(
        fmt::format("{} groups do not divide the {} channels of the input: {} mod {} = {}", groups,
                    channels, channels, groups, groups < 1 ? channels : channels % groups),
        divisors.empty() ? fmt::format("write 1 or {} groups", channels)
                         : fmt::format("{} can be divided by {}", channels, divisors),
        "groups");
    return false;
}

Dims group_norm_statistics(ShapeContext& c) {
    return {c.input(0).dims[0], c.integer("groups")};
}

}  // namespace dtnn::compiler
