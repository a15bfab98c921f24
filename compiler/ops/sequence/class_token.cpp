#include <fmt/format.h>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char *kInitializer = "weights_initializer", *kZeros = "zeros";

void class_token_shape(ShapeContext& c) {
    c.attributes().erase(kInitializer);
    Type dst = c.input(0);
    if (!expect_dims(c, "weights", {dst.dims[2]})) return;
    ++dst.dims[1];
    c.result(dst);
}

/// Of a sequence the steps from `begin` to `end`.
ValueId steps_of(GradientContext& g, ValueId value, std::int64_t begin, std::int64_t end,
                 const char* name) {
    Attributes attributes{{"begin", begin}, {"end", end}};
    write_axis(attributes, 1);
    return g.emit("slice", {value}, std::move(attributes), name)[0];
}

void class_token_gradient(GradientContext& g) {
    const std::int64_t steps = g.graph().type(g.input(0)).dims[1];
    if (g.wants(0)) g.set(0, steps_of(g, g.diff(0), 1, steps + 1, "diff_src"));
    if (!g.wants(1)) return;
    const ValueId first = steps_of(g, g.diff(0), 0, 1, "diff_token");
    g.set(1, g.emit("channel_sums", {first}, {}, "diff_weights")[0]);
}

}  // namespace

/// dst[:, 0] = weights, dst[:, 1 + t] = src[:, t]: kernels/arguments/position.hpp.
OpDef define_class_token() {
    return OpBuilder("class_token")
        .family(Family::sequence)
        .kernel_class(KernelClass::copies)
        .doc(
            "Puts a learned step in front of a sequence, that gathers what is said of the whole "
            "(Devlin and others, 2018; Dosovitskiy and others, 2020): `first_step` reads it at the "
            "end.")
        .layer("- class_token")
        .of_sequences()
        .field(initializer_field(kInitializer, kZeros, "first numbers of the step"))
        .parameter({"weights", true,
                    [](const Type& input, const Attributes&) {
                        return is_sequence(input) ? Dims{input.dims[2]} : Dims{};
                    },
                    [](const Dims& dims, const Attributes& attributes) {
                        return initializer(attributes, kInitializer, kZeros, 1, dims[0]);
                    }})
        .shape(class_token_shape)
        .with_lengths([](LengthsContext& c) {
            c.refuse(
                "it puts a step in front, so that samples have one more than their lengths say",
                "put an integer for the whole in front of the samples themselves: `first_step` "
                "reads it");
        })
        .gradient(class_token_gradient)
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
