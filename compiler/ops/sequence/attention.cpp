#include "compiler/ops/sequence/attention.hpp"

#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/ops/sequence/sequence.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::int64_t kMostHeads = 1 << 12;
constexpr const char *kHeads = "heads", *kKeyValueHeads = "key_value_heads", *kScale = "scale",
                     *kJoined = "joined", *kDropout = "dropout";

bool expect_heads(ShapeContext& c) {
    const std::int64_t heads = c.integer(kHeads), shared = c.integer(kKeyValueHeads);
    if (heads % shared == 0) return true;
    c.fail(fmt::format("{} heads cannot share {} heads of keys and values: {} mod {} = {}", heads,
                       shared, heads, shared, heads % shared),
           fmt::format("`{}` divides `{}`", kKeyValueHeads, kHeads), kKeyValueHeads);
    return false;
}

/// The width of a head, of so many numbers of `parts` heads.
std::optional<std::int64_t> width_of(ShapeContext& c, std::int64_t features, std::int64_t parts) {
    if (features % parts == 0) return features / parts;
    const bool joined = c.flag(kJoined);
    c.fail(fmt::format("{} features are not {} heads of one width{}: {} mod {} = {}", features,
                       parts, joined ? " (of queries, keys and values)" : "", features, parts,
                       features % parts),
           joined ? fmt::format("a dense layer of {} times the width of a head comes before", parts)
                  : fmt::format("write a number of `{}` that divides {}", kHeads, features),
           kHeads);
    return std::nullopt;
}

bool expect_keys(ShapeContext& c, const AttentionShape& shape) {
    const Dims &key = c.input(1).dims, &value = c.input(2).dims;
    const std::int64_t features = shape.key_value_heads * shape.width;
    for (const auto& [name, dims] : {std::pair("keys", &key), std::pair("values", &value)}) {
        if (dims->back() == features && (*dims)[1] == key[1] && dims->front() == shape.batch)
            continue;
        c.fail(fmt::format("attention: queries of {} heads of {} numbers want {} of {} features "
                           "and as many steps for keys as for values, and these are {}",
                           shape.heads, shape.width, name, features,
                           sample_text(c.input(name == std::string_view("keys") ? 1 : 2))),
               fmt::format("give them {} features: {} heads of {} numbers", features,
                           shape.key_value_heads, shape.width));
        return false;
    }
    if (!c.flag("causal") || key[1] == shape.queries) return true;
    if (c.flag(kPlaced) && key[1] > shape.queries) return true;
    c.fail(fmt::format("causal attention wants a key for each query, and there are {} keys and {} "
                       "queries",
                       key[1], shape.queries),
           "leave `causal` out where one sequence attends to another", "causal");
    return false;
}

void attention_shape(ShapeContext& c) {
    fallback(c, "causal");
    fallback(c, kDropout);
    const auto shape = expect_attention(c);
    if (!shape || !expect_lengths(c)) return;
    const Type& src = c.input(0);
    c.result({src.dtype, shape->results(), {}, src.axes});
    if (c.flag("statistics")) c.result({src.dtype, shape->statistics(), {}, usual_axes(0)});
}

void attention_gradient(GradientContext& g) {
    const Node& node = g.node();
    DTNN_CHECK(flag(node.attributes, "statistics"), "attention was not specialised");
    const std::size_t sources = flag(node.attributes, kJoined) ? 1 : 3;
    ValueList inputs;
    bool wanted = false;
    for (std::size_t i = 0; i < sources; ++i) {
        inputs.push_back(g.input(i));
        wanted = wanted || g.wants(i);
    }
    if (!wanted) return;
    for (const ValueId more : {g.output(0), g.diff(0), g.output(1)})
        inputs.push_back(more);
    for (std::size_t i = sources; i < node.inputs.size(); ++i)  // lengths, and what drops
        inputs.push_back(g.input(i));
    const ValueList diffs =
        g.emit("attention_backward", std::move(inputs),
               pick(node.attributes, {kHeads, kKeyValueHeads, kScale, "causal", kJoined, kDropout,
                                      kDrops, "seed", "stream", kPadded}),
               "diff_src");
    for (std::size_t i = 0; i < sources; ++i)
        g.set(i, diffs[i]);
}

/// Keys and values of all steps so far stay; the step's query sees these.
void next_of_attention(StepContext& c) {
    const Attributes& attributes = c.node().attributes;
    if (!flag(attributes, "causal"))
        return c.refuse("every step of it attends to those behind it, too",
                        "`causal: true` lets a step see itself and those before alone");
    const bool joined = flag(attributes, kJoined);
    const auto integer = [&](const char* name) {
        return std::get<std::int64_t>(attributes.at(name));
    };
    const std::int64_t heads = integer(kHeads), shared = integer(kKeyValueHeads);
    const Type& whole = c.whole(0);
    const std::int64_t width = whole.dims[2] / (joined ? heads + 2 * shared : heads);
    const auto keep = [&](const char* name, std::size_t operand, std::int64_t begin) {
        Type type{whole.dtype, {whole.dims[0], whole.dims[1], shared * width}, {}, whole.axes};
        const ValueId kept = c.kept(name, type);
        const ValueId next =
            c.emit("keep_steps", {kept, c.input(operand), c.step()}, {{"begin", begin}}, name)[0];
        c.keep(kept, next);
        return next;
    };
    const ValueId keys = keep("keys", joined ? 0 : 1, joined ? heads * width : 0);
    const ValueId values = keep("values", joined ? 0 : 2, joined ? (heads + shared) * width : 0);
    ValueId queries = c.input(0);
    if (joined) {
        Attributes range{{"begin", std::int64_t{0}}, {"end", heads * width}};
        write_axis(range, 2);
        queries = c.emit("slice", {queries}, std::move(range), "queries")[0];
    }
    Attributes with = pick(attributes, {kHeads, kKeyValueHeads, kScale, "causal"});
    with[kJoined] = false;
    with[kPlaced] = true;
    c.set(c.emit("attention", {queries, keys, values, c.step()}, std::move(with), "dst")[0]);
}

/// Keys that a sample does not have are not seen; queries are all worked out.
void attention_of_lengths(LengthsContext& c) {
    ValueList inputs;
    for (std::size_t i = 0; i < c.node().inputs.size(); ++i)
        inputs.push_back(c.input(i));
    const bool keys = c.padded(inputs.size() == 1 ? 0 : 1);
    if (inputs.size() > 1 && c.padded(1) != c.padded(2))
        return c.refuse("its keys have the steps that each sample has, and its values others",
                        "make both of one sequence");
    Attributes with = c.node().attributes;
    if (keys) {
        inputs.push_back(c.lengths());
        with[kPadded] = true;
    }
    c.set(c.emit("attention", std::move(inputs), std::move(with), "dst")[0], c.padded(0));
}

}  // namespace

std::optional<AttentionShape> expect_attention(ShapeContext& c) {
    const bool joined = c.flag(kJoined);
    for (std::size_t i = 0; i < (joined ? 1 : 3); ++i)
        if (!expect_sequence(c, i)) return std::nullopt;
    fallback(c, kKeyValueHeads, c.integer(kHeads));
    if (!expect_heads(c)) return std::nullopt;
    const Dims& src = c.input(0).dims;
    AttentionShape shape{.batch = src[0],
                         .queries = src[1],
                         .keys = joined ? src[1] : c.input(1).dims[1],
                         .heads = c.integer(kHeads),
                         .key_value_heads = c.integer(kKeyValueHeads)};
    const auto width =
        width_of(c, src[2], joined ? shape.heads + 2 * shape.key_value_heads : shape.heads);
    if (!width) return std::nullopt;
    shape.width = *width;
    if (!joined && !expect_keys(c, shape)) return std::nullopt;
    fallback(c, kScale, 1 / std::sqrt(double(shape.width)));
    return shape;
}

std::int64_t attention_flops(const std::vector<Type>& inputs, const Attributes& attributes,
                             std::int64_t products) {
    const auto integer = [&](const char* name) {
        return std::get<std::int64_t>(attributes.at(name));
    };
    const bool joined = flag(attributes, kJoined);
    const Dims& src = inputs[0].dims;
    const std::int64_t heads = integer(kHeads), keys = joined ? src[1] : inputs[1].dims[1];
    const std::int64_t parts = joined ? heads + 2 * integer(kKeyValueHeads) : heads;
    const std::int64_t numbers = saturating_product({src[0], src[1], heads, src[2] / parts});
    // A causal query sees half of the keys, and itself.
    const bool causal = flag(attributes, "causal");
    return saturating_product({2 * products, numbers, causal ? (keys + 1) / 2 : keys});
}

/// Of each head dst = softmax(scale * query key^T) value: kernels/arguments/attention.hpp.
OpDef define_attention() {
    Field shared =
        integer_field(kKeyValueHeads, {},
                      "heads of keys and values, each shared by as many of the queries'; "
                      "as many as `heads` unless said",
                      1, kMostHeads);
    Field scale = real_field(kScale, 0,
                             "what scores are multiplied by; 1 over the root of a head's width "
                             "unless said");
    for (Field* field : {&shared, &scale}) {
        field->fallback.reset();
        field->optional = true;
    }
    Field dropout = real_field(kDropout, 0,
                               "of training: the probability with which what a step takes of "
                               "another is dropped");
    dropout.minimum = 0;
    dropout.maximum = 1;
    dropout.exclusive_maximum = true;
    scale.minimum = 0;
    scale.exclusive_minimum = true;
    scale.maximum = kLargestReal;
    return OpBuilder("attention")
        .family(Family::sequence)
        .kernel_class(KernelClass::products)
        .kept_for_backward("statistics")
        .doc(
            "Every step of a sequence gathers from all steps what suits it, head by head: the "
            "softmax of products of queries and keys weighs the values (Vaswani and others, "
            "2017). It reads queries, keys and values, or one layer that has them side by side.")
        .layer("- attention: {heads: 4, key_value_heads: 2, causal: true}")
        .of_sequences()
        .variadic(1)
        .settle_operands([](ShapeContext& c) {
            const std::size_t count = c.inputs().size() - std::size_t(c.flag(kDrops)) -
                                      std::size_t(c.flag(kPlaced)) - std::size_t(c.flag(kPadded));
            if (count != 1 && count != 3)
                c.fail(
                    fmt::format("attention reads one layer or three, and this one reads {}", count),
                    "`from: [queries, keys, values]`, or one layer that has them side by side");
            fallback(c, kJoined, count == 1);
        })
        .field(integer_field(kHeads, {}, "how many parts of the features attend by themselves", 1,
                             kMostHeads))
        .field(std::move(shared))
        .field(boolean_field("causal", false, "whether a step sees itself and those before alone"))
        .field(std::move(scale))
        .field(std::move(dropout))
        .drops_by(kDropout)
        .attribute(kDrops, false)
        .attribute(kPlaced, false)
        .attribute(kPadded, false)
        .shape(attention_shape)
        .gradient(attention_gradient)
        .next_step(next_of_attention)
        .with_lengths(attention_of_lengths)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return attention_flops(in, a, 2);
        });
}

}  // namespace dtnn::compiler
