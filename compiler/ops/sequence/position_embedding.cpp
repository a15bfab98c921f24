#include <fmt/format.h>

#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char *kLearned = "learned", *kForm = "form", *kPositions = "positions";
constexpr std::int64_t kMostPositions = 1 << 24;

bool learns(const Attributes& attributes) {
    return text_or(attributes, kForm, kLearned) == kLearned;
}

Dims position_table_dims(const Type& input, const Attributes& attributes) {
    if (!learns(attributes) || !is_sequence(input)) return {};
    const auto given = attributes.find(kPositions);
    const std::int64_t positions =
        given == attributes.end() ? input.dims[1] : std::get<std::int64_t>(given->second);
    return {positions, input.dims[2]};
}

void position_embedding_shape(ShapeContext& c) {
    fallback(c, "base");
    const Dims& src = c.input(0).dims;
    for (const char* name : {kForm, kPositions, "weights_initializer"})
        c.attributes().erase(name);
    if (const auto place = c.place_of("weights")) {
        const Dims& table = c.input(*place).dims;
        if (table.size() != 2 || table[1] != src[2]) {
            c.fail("position_embedding: its weights are no rows of as many features");
            return;
        }
        if (table[0] < src[1]) {
            c.fail(fmt::format("position_embedding has {} positions, and its input {} steps",
                               table[0], src[1]),
                   fmt::format("write `{}: {}` or more", kPositions, src[1]), kPositions);
            return;
        }
    }
    result_like(c);
}

}  // namespace

/// dst = src + weights[t], or + sines and cosines of t: kernels/arguments/position.hpp.
OpDef define_position_embedding() {
    Field positions = integer_field(kPositions, {},
                                    "rows that are learned, the longest sequence there will be; as "
                                    "many as the input has steps unless said",
                                    1, kMostPositions);
    positions.optional = true;
    return OpBuilder("position_embedding")
        .family(Family::sequence)
        .kernel_class(KernelClass::memory)
        .doc(
            "Adds to every step of a sequence numbers that tell its place: learned ones, or sines "
            "and cosines (Vaswani and others, 2017).")
        .layer("- position_embedding: {positions: 1024}")
        .of_sequences()
        .settle_operands([](ShapeContext& c) { fallback(c, kLearned, learns(c.attributes())); })
        .field(choice_field(kForm, kLearned, {kLearned, "sinusoidal"},
                            "where the numbers come from: they are learned, or sines and cosines "
                            "of different waves"))
        .field(std::move(positions))
        .field(base_field())
        .field(initializer_field("weights_initializer", "normal: {mean: 0, deviation: 0.02}",
                                 "first rows"))
        .parameter({"weights", true, position_table_dims,
                    [](const Dims& dims, const Attributes& attributes) {
                        return initializer(attributes, "weights_initializer",
                                           "normal: {mean: 0, deviation: 0.02}", dims[0], dims[1]);
                    }})
        .shape(position_embedding_shape)
        .attribute(kPlaced, false)
        .next_step(next_of_placed)
        .with_lengths(each_step)
        .gradient([](GradientContext& g) {
            if (g.wants(0)) g.set(0, g.diff(0));
            if (!flag(g.node().attributes, kLearned) || !g.wants(1)) return;
            g.set(1,
                  g.emit("position_embedding_backward", {g.diff(0)},
                         {{"weights_shape", g.graph().type(g.input(1)).dims}}, "diff_weights")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
