#include "compiler/ops/recurrent/recurrent.hpp"

#include <fmt/format.h>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char *kUnits = "units", *kReversed = "reversed";
constexpr const char *kWeightsBegin = "weights_initializer",
                     *kHiddenBegins = "hidden_weights_initializer";

std::int64_t units_of(const Attributes& attributes) {
    return std::get<std::int64_t>(attributes.at(kUnits));
}

void layer_shape(ShapeContext& c, std::int64_t parts) {
    const Type& src = c.input(0);
    if (src.dims[1] < 2) {
        c.fail(fmt::format("{} goes from step to step, and its input is {}", c.op().name,
                           sample_text(src)),
               "it takes sequences of two steps or more");
        return;
    }
    const std::int64_t units = c.input(2).dims.empty() ? 0 : c.input(2).dims[0];
    if (!expect_dims(c, "weights", {src.dims[2], parts * units}) ||
        !expect_dims(c, "hidden_weights", {units, parts * units}) ||
        !expect_dims(c, "bias", {parts * units}))
        return;
    fallback(c, kReversed);
    for (const char* name :
         {kUnits, kWeightsBegin, kHiddenBegins, "bias_initializer", "hidden_bias_initializer"})
        c.attributes().erase(name);
    c.result({src.dtype, {src.dims[0], src.dims[1], units}, {}, src.axes});
}

/// Of a sequence the steps from `begin` to `end`.
ValueId steps_of(GradientContext& g, ValueId value, std::int64_t begin, std::int64_t end) {
    Attributes attributes{{"begin", begin}, {"end", end}};
    write_axis(attributes, 1);
    return g.emit("slice", {value}, std::move(attributes), "steps")[0];
}

/// What it begins with, where that is given: its last operands.
bool expect_states(ShapeContext& c, std::size_t count, const Dims& dims) {
    if (!c.flag(kCarried)) return true;
    const std::size_t operands = c.inputs().size();
    for (std::size_t i = operands - count; i < operands; ++i)
        if (!expect_dims(c, c.op().name.c_str(), i, "a state", dims)) return false;
    return true;
}

/// It goes from step to step, so those behind a sample's own change nothing; backwards it begins at
/// the last of these: it goes forwards through their order round.
void recurrent_of_lengths(LengthsContext& c) {
    if (!flag(c.node().attributes, kReversed)) return each_step(c);
    ValueList inputs{masked(c, c.input(0), StepMask::reversed)};
    for (std::size_t i = 1; i < c.node().inputs.size(); ++i)
        inputs.push_back(c.input(i));
    Attributes forwards = c.node().attributes;
    forwards[kReversed] = false;
    const ValueId dst = c.emit(c.node().op, std::move(inputs), std::move(forwards), "forwards")[0];
    c.set(masked(c, dst, StepMask::reversed), true);
}

ParameterRule bias_rule(const char* role, std::int64_t parts) {
    return {role, true,
            [parts](const Type& input, const Attributes& attributes) {
                return is_sequence(input) ? Dims{parts * units_of(attributes)} : Dims{};
            },
            [field = std::string(role) + "_initializer"](const Dims& dims,
                                                         const Attributes& attributes) {
                return initializer(attributes, field.c_str(), "zeros", 1, dims[0]);
            }};
}

}  // namespace

OpBuilder recurrent_layer(const char* name, std::int64_t parts, bool hidden_bias) {
    OpBuilder builder(name);
    builder.family(Family::sequence)
        .kernel_class(KernelClass::products)
        .layer(fmt::format("- {}: {{units: 64}}", name))
        .of_sequences()
        .has_state()
        .field(integer_field(kUnits, {}, "numbers of the state, and of each step that comes out", 1,
                             kLargestExtent))
        .field(boolean_field(kReversed, false, "whether it goes from the last step to the first"))
        .field(initializer_field(kWeightsBegin, "glorot_uniform", "first weights of the input"))
        .field(initializer_field(kHiddenBegins, "orthogonal", "first weights of the state"))
        .field(initializer_field("bias_initializer", "zeros", "first biases"))
        .parameter(
            {"weights", true,
             [parts](const Type& input, const Attributes& attributes) {
                 return is_sequence(input) ? Dims{input.dims[2], parts * units_of(attributes)}
                                           : Dims{};
             },
             [](const Dims& dims, const Attributes& attributes) {
                 return initializer(attributes, kWeightsBegin, "glorot_uniform", dims[0], dims[1]);
             }})
        .parameter({"hidden_weights", true,
                    [parts](const Type& input, const Attributes& attributes) {
                        const std::int64_t units = units_of(attributes);
                        return is_sequence(input) ? Dims{units, parts * units} : Dims{};
                    },
                    [](const Dims& dims, const Attributes& attributes) {
                        return initializer(attributes, kHiddenBegins, "orthogonal", dims[0],
                                           dims[1]);
                    }})
        .parameter(bias_rule("bias", parts));
    if (hidden_bias)
        builder
            .field(initializer_field("hidden_bias_initializer", "zeros",
                                     "first biases of what the state gives to a new one"))
            .parameter(bias_rule("hidden_bias", 1));
    builder.shape([parts](ShapeContext& c) { layer_shape(c, parts); })
        .with_lengths(recurrent_of_lengths)
        .general_form([steps = std::string(name) + "_steps"](const Graph&, const Node& node) {
            std::vector<Node> nodes = becomes(node, "dense", {{"bias", true}});
            nodes[0].inputs = {node.inputs[0], node.inputs[1], node.inputs[3]};
            nodes.push_back(becomes(node, steps, pick(node.attributes, {kReversed}))[0]);
            nodes[1].inputs = {node.inputs[0], node.inputs[2]};
            if (node.inputs.size() > 4) nodes[1].inputs.push_back(node.inputs[4]);
            return nodes;
        })
        .no_gradient(
            "abstract: canonicalize makes it dense and the steps of its cell before "
            "differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            const std::int64_t rows = saturating_product({in[0].dims[0], in[0].dims[1]});
            return saturating_sum({saturating_product({2, rows, in[1].elements()}),
                                   saturating_product({2, rows, in[2].elements()})});
        });
    return builder;
}

OpBuilder recurrent_steps(const char* name, std::int64_t parts, std::int64_t kept) {
    OpBuilder builder(name);
    builder.family(Family::sequence)
        .kernel_class(KernelClass::products)
        .attribute(kReversed, false)
        .of_sequences()
        .shape([parts, kept](ShapeContext& c) {
            const Type& src = c.input(0);
            const std::int64_t units = src.dims[2] / parts;
            if (!expect_dims(c, "src", {src.dims[0], src.dims[1], parts * units}) ||
                !expect_dims(c, "weights", {units, parts * units}) ||
                !expect_states(c, c.op().carries.size(), {src.dims[0], 1, units}))
                return;
            Type dst = src;
            dst.dims[2] = units;
            c.result(dst);
            if (kept == 0 || !c.flag("statistics")) return;
            Type gates = src;
            gates.dims[2] = kept * units;
            c.result(gates);
            // What an LSTM remembers lies beside what its gates are.
            if (kept == parts) c.result(dst);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return saturating_product({2, in[0].dims[0], in[0].dims[1], in[1].elements()});
        });
    if (kept > 0) builder.kept_for_backward("statistics");
    return builder;
}

OpBuilder recurrent_steps_backward(const char* name, std::int64_t parts, std::int64_t first_parts) {
    OpBuilder builder(name);
    builder.family(Family::sequence)
        .kernel_class(KernelClass::products)
        .attribute(kReversed, false)
        .shape([parts, first_parts](ShapeContext& c) {
            Type diff = c.input(0);
            if (!expect_states(c, 1, {diff.dims[0], 1, diff.dims[2] / first_parts})) return;
            diff.dims[2] = diff.dims[2] / first_parts * parts;
            c.result(diff);
            if (first_parts > parts) c.result(diff);  // of the state's product, too
        })
        .no_gradient(kNoSecondDerivative)
        .flops([parts, first_parts](const std::vector<Type>& in, const std::vector<Type>&,
                                    const Attributes&) {
            const std::int64_t units = in[0].dims[2] / first_parts;
            return saturating_product({2, in[0].dims[0], in[0].dims[1], parts, units, units});
        });
    return builder;
}

ValueList with_state(GradientContext& g, ValueList operands, const char* state) {
    if (!flag(g.node().attributes, kCarried)) return operands;
    const auto& states = op(g.node().op).carries;
    const std::size_t first = g.node().inputs.size() - states.size();
    for (std::size_t i = 0; i < states.size(); ++i)
        if (std::string_view(states[i].operand) == state) operands.push_back(g.input(first + i));
    return operands;
}

void set_weights_gradient(GradientContext& g, ValueId diff) {
    if (!g.wants(1)) return;
    const std::int64_t steps = g.graph().type(g.input(0)).dims[1];
    const bool reversed = flag(g.node().attributes, kReversed);
    // What a step was given of the one before it.
    ValueId before = steps_of(g, g.output(0), reversed ? 1 : 0, reversed ? steps : steps - 1);
    ValueId after = diff;
    if (flag(g.node().attributes, kCarried)) {
        const ValueId state = with_state(g, {}, "state")[0];
        Attributes along;
        write_axis(along, 1);
        before = g.emit("concat", reversed ? ValueList{before, state} : ValueList{state, before},
                        std::move(along), "states")[0];
    } else {
        after = steps_of(g, diff, reversed ? 0 : 1, reversed ? steps - 1 : steps);
    }
    g.set(1, g.emit("dense_backward_weights", {before, after},
                    {{"bias", false}, {"weights_shape", g.graph().type(g.input(1)).dims}},
                    "diff_weights")[0]);
}

}  // namespace dtnn::compiler
