/// Attention: one operator of ONNX from operator set 23 on, before that products of queries and
/// keys, a softmax of them and a product with values, as exporters write them in many forms.
///
/// A product of queries and keys is no layer: it is kept as what it was made of, through factors,
/// masks and the softmax, until it weighs values.

#include "compiler/onnx/in/attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/axes.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// The product's value, whose axes are the batch, heads, queries and keys; no layer makes it.
void keep(const NodeReader& node, Scores scores) {
    const std::int64_t heads = scores.query.count();
    const std::int64_t queries = count_of(scores.query.steps), keys = count_of(scores.key.steps);
    ImportedValue value;
    value.source = scores.query.value.source;
    value.type = {DType::f32, {1, heads, queries, keys}, {}, usual_axes(3)};
    value.order = {0, 1, 2, 3};
    if (scores.rank == 3) {
        value.view = {{{0, 1, 1}}, {}, {}};
        if (heads > 1) value.view[0].push_back({1, 1, heads});
        if (queries > 1) value.view[1].push_back({2, 1, queries});
        if (keys > 1) value.view[2].push_back({3, 1, keys});
    }
    value.scores = std::make_shared<const Scores>(std::move(scores));
    node.result(std::move(value));
}

bool begin_scores(const NodeReader& node) {
    if (node.count() != 2 || node.input(0).is_constant() || node.input(1).is_constant())
        return false;
    const std::size_t rank = node.input(0).rank();
    Importer& importer = node.importer();
    const auto query = side_of(importer, node.input(0), false);
    const auto key = side_of(importer, node.input(1), true);
    if (!query || !key || node.input(1).rank() != rank || query->times != 1) return false;
    if (count_of(query->numbers) != count_of(key->numbers) || query->count() != key->count())
        return false;
    // Sequences are multiplied by layers as well, in whatever order they have their axes.
    if (rank == 3 && query->count() == 1 &&
        !(is_sequence_itself(*query) && is_sequence_itself(*key)))
        return false;
    Scores scores{*query, *key};
    scores.rank = rank;
    scores.scale = query->factor * key->factor;
    scores.product = &node.node();
    keep(node, std::move(scores));
    return true;
}

// ---- Masks

enum class Mask { none, causal };

/// `additive`: numbers that are added, else truth where a key is seen.
Mask mask_of(const NodeReader& node, const Constant& mask, bool additive, std::int64_t queries,
             std::int64_t keys) {
    const auto refuse = [&](const std::string& fact) {
        throw Refused(fmt::format("its mask of [{}] {}", fmt::join(mask.dims, ", "), fact),
                      "scores have no mask here, or `causal`: each step sees itself and those "
                      "before");
    };
    constexpr std::size_t kMostRank = 4;
    const std::size_t rank = mask.dims.size();
    const std::int64_t columns = rank > 0 ? mask.dims[rank - 1] : 1;
    const std::int64_t rows = rank > 1 ? mask.dims[rank - 2] : 1;
    if (rank > kMostRank || (columns != 1 && columns != keys) || (rows != 1 && rows != queries))
        refuse(fmt::format("does not fit scores of {} queries and {} keys", queries, keys));
    node.importer().constants().take(mask.elements());
    bool none = true, causal = rows == queries && columns == keys && queries == keys;
    // Far below all scores, also in 16 bits.
    constexpr double kUnseen = -1e4;
    for (std::int64_t i = 0; i < mask.elements(); ++i) {
        const double number = mask.at(i);
        const bool seen = additive ? number == 0 : number != 0;
        if (additive && !seen && !(number <= kUnseen))
            refuse("adds other numbers than 0 and such as are far below all scores");
        none = none && seen;
        causal = causal && seen == (i % columns <= i / columns % rows);
    }
    if (!none && !causal) refuse("hides other keys than those behind each query");
    return none ? Mask::none : Mask::causal;
}

void hide(const NodeReader& node, Scores scores, const Constant& mask, bool additive) {
    if (scores.are_shares) throw Refused("it masks shares, which scores have become", "");
    if (additive && !mask.real) throw Refused("it adds integers to scores", "");
    const Mask read =
        mask_of(node, mask, additive, count_of(scores.query.steps), count_of(scores.key.steps));
    scores.causal = scores.causal || read == Mask::causal;
    keep(node, std::move(scores));
}

/// Where(condition, a, b) of which one is the scores and the other a number: it hides keys, or
/// takes 0 for shares of rows that have none.
bool hide_where(const NodeReader& node, std::size_t at) {
    if (node.count() != 3 || !node.has(0)) return false;
    const ImportedValue &condition = node.of_any_length(0), &a = node.input(1), &b = node.input(2);
    const ImportedValue &kept = a.scores ? a : b, &other = a.scores ? b : a;
    if (!kept.scores || !other.is_constant() || other.constant->elements() != 1) return false;
    const double number = other.constant->at(0);
    if (condition.scores) {
        if (at != 0 || !condition.scores->are_asked || a.scores || number != 0) return false;
        keep(node, *kept.scores);
        return true;
    }
    constexpr double kUnseen = -1e4;
    if (!condition.is_constant() || !(number <= kUnseen)) return false;
    Constant seen = *condition.constant;
    if (!a.scores) {
        Numbers truth = numbers_of(seen);
        for (double& one : truth)
            one = double(one == 0);
        seen = node.importer().constants().make(seen.dims, false, truth);
    }
    hide(node, *kept.scores, seen, false);
    return true;
}

/// The same scores with their heads beside the batch, or not.
bool reshape_scores(const NodeReader& node, const ImportedValue& value) {
    const Integers wanted =
        node.opset() < 5 ? node.integers("shape") : integers_of(node.constant(1, "shape"));
    if (wanted.size() != 3 && wanted.size() != 4) return false;
    const auto view = regrouped_with_batch(value, wanted, node.integer("allowzero", 0) == 0,
                                           node.importer().file_batch());
    if (!view) return false;
    ImportedValue made = value;
    made.view = *view;
    if (node.importer().file_batch() == 1) put_sample_in_front(made.view);
    const Dims now = value.dims(), then = made.dims();
    const bool same = std::equal(now.end() - 2, now.end(), then.end() - 2) && made.is_batch_first();
    if (!same || (then.size() == 4 && made.view[0].size() != 1)) return false;
    Scores scores = *value.scores;
    scores.rank = then.size();
    keep(node, std::move(scores));
    return true;
}

double dropped(const NodeReader& node) {
    if (node.has(2) && numbers_of(node.constant(2, "training_mode")) != Numbers{0})
        throw Refused("it draws numbers (training_mode)",
                      "export the model in the form of inference (model.eval())");
    const bool input = node.opset() >= 12 && node.has(1);
    const Numbers given = input ? numbers_of(node.constant(1, "rate")) : Numbers{};
    const double rate = given.empty() ? node.real("ratio", 0.5) : given[0];
    if (!(rate >= 0 && rate < 1)) throw Refused("its rate is none", "");
    return rate;
}

/// Whether the node goes on with the scores that are its input `at`.
bool go_on_with(const NodeReader& node, std::size_t at) {
    const std::string& op = node.node().op_type;
    // A result may take the source's name.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const ImportedValue value = node.input(at);
    Scores scores = *value.scores;
    for (std::size_t i = 1; i < node.node().output.size(); ++i)
        if (node.importer().readers(node.node().output[i]) > 0) return false;
    if (op == "Where") return hide_where(node, at);
    if (scores.are_asked) return false;
    if (op == "Reshape" && at == 0) return reshape_scores(node, value);
    const std::int64_t to = node.integer("to", kFloat);
    const bool real = to == kFloat || to == kDouble || to == kFloat16 || to == kBfloat16;
    if (op == "Identity" || op == "CastLike" || (op == "Cast" && real)) {
        if (at != 0) return false;
        keep(node, std::move(scores));
        return true;
    }
    if (op == "Dropout" && at == 0 && scores.are_shares) {
        scores.dropout = 1 - (1 - scores.dropout) * (1 - dropped(node));
        keep(node, std::move(scores));
        return true;
    }
    if (op == "Softmax") {
        const auto last = std::int64_t(value.rank()) - 1;
        const std::int64_t axis = node.integer("axis", node.opset() < 13 ? 1 : -1);
        if (scores.are_shares || (axis != -1 && axis != last)) return false;
        scores.are_shares = true;
        scores.softmax = &node.node();
        keep(node, std::move(scores));
        return true;
    }
    if (op == "IsNaN") {
        scores.are_asked = true;
        keep(node, std::move(scores));
        return true;
    }
    if (node.count() != 2) return false;
    // A mask may be there once for each sample.
    const ImportedValue& other = node.of_any_length(1 - at);
    if (op == "MatMul" && at == 0 && scores.are_shares && !other.is_constant()) {
        const auto values = side_of(node.importer(), other, false);
        if (!values || other.rank() != value.rank()) return false;
        weigh(node, scores, *values);
        return true;
    }
    if (!other.is_constant()) return false;
    if (op == "Add") {
        hide(node, std::move(scores), *other.constant, true);
        return true;
    }
    if ((op != "Mul" && (op != "Div" || at != 0)) || scores.are_shares ||
        other.constant->elements() != 1 || !other.constant->real)
        return false;
    const double number = other.constant->at(0);
    scores.scale *= op == "Mul" ? number : 1 / number;
    keep(node, std::move(scores));
    return true;
}

}  // namespace

void settle_scores(const NodeReader& node, const std::string& name) {
    const ImportedValue* value = node.importer().find(name);
    if (!value || !value->scores) return;
    const Scores scores = *value->scores;
    if (scores.rank != 3 || scores.query.count() != 1 || scores.causal || scores.are_asked)
        throw Refused(
            "it reads products of queries and keys of attention, which are no value here",
            "they may be multiplied by a number and have a causal mask; then a softmax over the "
            "keys makes shares of them, that weigh values in a product");
    Importer& importer = node.importer();
    const ImportedValue query = sequence_of(node, scores.query),
                        key = sequence_of(node, scores.key);
    Attributes fields{{"transpose_second", true}};
    if (scores.scale != 1) fields["scale"] = rounded(scores.scale);
    int made = importer.add_layer(*scores.product, "matmul", std::move(fields), {&query, &key}, {});
    ImportedValue settled = importer.layer(made).value;
    if (scores.are_shares) {
        made = importer.add_layer(*scores.softmax, "softmax", {}, {&settled}, {});
        settled = importer.layer(made).value;
    }
    if (scores.dropout > 0) {
        made =
            importer.add_layer({}, "dropout", {{"rate", rounded(scores.dropout)}}, {&settled}, {});
        settled = importer.layer(made).value;
    }
    importer.replace(name, std::move(settled));
}

bool attend(const NodeReader& node) {
    const std::string& op = node.node().op_type;
    const std::vector<std::string>& inputs = node.node().input;
    std::optional<std::size_t> at;
    for (std::size_t i = inputs.size(); i-- > 0;)
        if (const ImportedValue* value = node.importer().find(inputs[i]); value && value->scores)
            at = i;
    if (!at) return op == "MatMul" && begin_scores(node);
    if (op == "Shape") return false;
    if (go_on_with(node, *at)) return true;
    for (const std::string& input : inputs)
        settle_scores(node, input);
    return false;
}

// ---- One operator

namespace {

/// A side of three axes, whose features are those of so many heads.
std::optional<Side> side_of_heads(Importer& importer, ImportedValue value, std::int64_t heads) {
    if (value.rank() == 3 && heads >= 1 && value.dims()[2] % heads == 0) {
        const Dims dims = value.dims();
        const Integers wanted{whole(kBatch), dims[1], heads, dims[2] / heads};
        auto view = regrouped_with_batch(value, wanted, false, 0);
        if (!view) return std::nullopt;
        std::swap((*view)[1], (*view)[2]);
        value.view = std::move(*view);
    }
    return value.rank() == 4 ? side_of(importer, value, false) : std::nullopt;
}

}  // namespace

void read_attention(const NodeReader& node) {
    Importer& importer = node.importer();
    for (std::size_t i = 4; i < node.count(); ++i)
        if (node.has(i))
            throw Refused("it reads keys and values of steps that came before (past_key)",
                          "export the model without a cache: each call has all steps");
    for (std::size_t i = 1; i < node.node().output.size(); ++i)
        if (importer.readers(node.node().output[i]) > 0)
            throw Refused("its keys, values or products are read behind it",
                          "export the model without a cache");
    if (node.real("softcap", 0) != 0) throw Refused("it bends its scores (softcap)", "");
    for (const char* window : {"left_window_size", "right_window_size"})
        if (node.integer(window, -1) >= 0)
            throw Refused(fmt::format("its queries see a window of the keys alone ({})", window),
                          "all keys can be seen, or those up to each query's (is_causal)");
    const std::array<std::int64_t, 3> heads{node.integer("q_num_heads", 0),
                                            node.integer("kv_num_heads", 0),
                                            node.integer("kv_num_heads", 0)};
    std::vector<Side> sides;
    for (std::size_t i = 0; i < heads.size(); ++i) {
        const ImportedValue& given = node.viewed(i);
        const Dims dims = given.dims();
        auto side = given.rows.empty() ? side_of_heads(importer, given, heads[i]) : std::nullopt;
        if (!side)
            throw Refused(fmt::format("its input {} is [batch, {}]", i + 1,
                                      fmt::join(dims.begin() + 1, dims.end(), ", ")),
                          "queries, keys and values are [batch, steps, features] with "
                          "`q_num_heads` and `kv_num_heads`, or [batch, heads, steps, numbers]");
        sides.push_back(std::move(*side));
    }
    Scores scores{sides[0], sides[1]};
    scores.rank = 4;
    const std::int64_t queries = scores.query.count();
    for (Side* side : {&scores.key, &sides[2]}) {
        const std::int64_t own = side->count();
        if (own > 0 && own < queries && queries % own == 0) side->times *= queries / own;
    }
    if (count_of(scores.query.numbers) != count_of(scores.key.numbers))
        throw Refused(fmt::format("its queries have heads of {} numbers, and its keys of {}",
                                  count_of(scores.query.numbers), count_of(scores.key.numbers)));
    const double usual = 1 / std::sqrt(double(count_of(scores.query.numbers)));
    const double scale = node.real("scale", 0);
    scores.scale = (scale == 0 ? usual : scale) * scores.query.factor * scores.key.factor;
    scores.causal = node.integer("is_causal", 0) != 0;
    if (node.has(3)) {
        const Constant& mask = node.constant(3, "mask");
        scores.causal = mask_of(node, mask, mask.real, count_of(scores.query.steps),
                                count_of(scores.key.steps)) == Mask::causal ||
                        scores.causal;
    }
    const bool flat = node.input(0).rank() == 3;
    weigh(node, scores, sides[2]);
    if (!flat) return;
    // [batch, steps, features], which the layer gives.
    ImportedValue value = *importer.find(node.node().output[0]);
    value.view.clear();
    value.order = {0, 1, 2};
    node.result(std::move(value));
}

}  // namespace dtnn::compiler::onnx
