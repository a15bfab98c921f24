#include <fmt/format.h>

#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {
namespace {

void rotary_embedding_shape(ShapeContext& c) {
    fallback(c, "base");
    if (c.has("pairs")) {
        c.attributes()["neighbours"] = c.text("pairs") == "neighbours";
        c.attributes().erase("pairs");
    }
    const std::int64_t features = c.input(0).dims[2], heads = c.integer("heads");
    if (features % (2 * heads) != 0) {
        c.fail(fmt::format("{} features are not {} heads of pairs of numbers: {} mod {} = {}",
                           features, heads, features, 2 * heads, features % (2 * heads)),
               fmt::format("write a number of `heads` that divides {}", features / 2), "heads");
        return;
    }
    result_like(c);
}

}  // namespace

/// Pairs of numbers of a head are turned by an angle that grows with the step:
/// kernels/arguments/position.hpp.
OpDef define_rotary_embedding() {
    return OpBuilder("rotary_embedding")
        .family(Family::sequence)
        .kernel_class(KernelClass::memory)
        .doc(
            "Turns pairs of numbers of every head by an angle that grows with the step, so that "
            "products of queries and keys depend on how far apart they are (Su and others, 2021).")
        .layer("- rotary_embedding: {heads: 4}")
        .of_sequences()
        .field(
            integer_field("heads", {}, "parts of the features that are turned alike", 1, 1 << 12))
        .field(base_field())
        .field(choice_field("pairs", "halves", {"halves", "neighbours"},
                            "which numbers of a head are a pair: one of each half (as Llama's), or "
                            "neighbours (as the paper's)"))
        .shape(rotary_embedding_shape)
        .attribute(kPlaced, false)
        .next_step(next_of_placed)
        .with_lengths(each_step)
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            Attributes attributes = g.node().attributes;
            attributes["inverse"] = !flag(attributes, "inverse");
            g.set(0, g.emit("rotary_embedding", {g.diff(0)}, std::move(attributes), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 3 * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
