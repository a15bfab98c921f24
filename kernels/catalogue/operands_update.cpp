/// Updates of parameters, and what happens to gradients around them.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

namespace {

enum class Operand { like_weights, number, count };

/// weights, diff, learning_rate, `others`, and the scale of clipped gradients; results: the weights
/// and each state.
void update_operands(Rule& rule, const std::vector<Operand>& others) {
    const Problem& p = rule.problem();
    const bool scaled = p.flag("scaled");
    rule.require(scaled || !p.flag("skips"), "it skips by a scale that it does not have");
    std::size_t states = 0;
    for (const Operand operand : others)
        states += operand == Operand::count ? 0 : 1;
    if (!rule.counts(3 + others.size() + (scaled ? 1 : 0), 1 + states)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.sources[1], count);
    rule.elements(p.sources[2], 1);
    rule.elements(p.destinations[0], count);
    std::size_t result = 1;
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (others[i] == Operand::count) {
            rule.elements(p.sources[3 + i], 1, DType::i64);
            continue;
        }
        const std::int64_t elements = others[i] == Operand::number ? 1 : count;
        rule.elements(p.sources[3 + i], elements);
        rule.elements(p.destinations[result++], elements);
    }
    if (scaled) rule.elements(p.sources.back(), 1);
}

}  // namespace

void sgd_update(Rule& rule) {
    std::vector<Operand> others;
    if (rule.problem().real("momentum") > 0) others.push_back(Operand::like_weights);
    update_operands(rule, others);
}

void rmsprop_update(Rule& rule) {
    std::vector<Operand> others(1, Operand::like_weights);
    if (rule.problem().flag("centered")) others.push_back(Operand::like_weights);
    if (rule.problem().real("momentum") > 0) others.push_back(Operand::like_weights);
    update_operands(rule, others);
}

void adam_update(Rule& rule) {
    std::vector<Operand> others{Operand::count, Operand::like_weights, Operand::like_weights};
    if (rule.problem().flag("amsgrad")) others.push_back(Operand::like_weights);
    update_operands(rule, others);
}

void nadam_update(Rule& rule) {
    const std::string variant = rule.problem().text("variant");
    rule.require(variant == "dozat" || variant == "pydtnn",
                 "its `variant` \"" + variant + "\" is unknown");
    std::vector<Operand> others{Operand::count, Operand::like_weights, Operand::like_weights};
    if (variant == "dozat") others.push_back(Operand::number);
    update_operands(rule, others);
}

void adagrad_update(Rule& rule) {
    update_operands(rule, {Operand::count, Operand::like_weights});
}

void lars_update(Rule& rule) {
    update_operands(rule, {Operand::like_weights});
}

void lamb_update(Rule& rule) {
    update_operands(rule, {Operand::count, Operand::like_weights, Operand::like_weights});
}

void gradient_square_sum(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1)) return;
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.destinations[0], 1, DType::f64);
}

void gradient_scale(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.sources.size(), 1)) return;
    const bool clips = p.real("clip_norm", 0) > 0, scaled = p.flag("loss_scaled");
    const std::size_t numbers = (p.flag("shared") ? 1 : 0) + (scaled ? 1 : 0);
    rule.require(p.sources.size() >= numbers + (clips || scaled ? 1 : 0),
                 "it has no norm, no sum of shares or no scale of the loss");
    if (rule.broken()) return;
    const std::size_t sums = p.sources.size() - numbers;
    for (std::size_t i = 0; i < p.sources.size(); ++i)
        rule.elements(p.sources[i], 1, i < sums ? DType::f64 : p.dtype);
    rule.elements(p.destinations[0], 1);
}

void adapt_loss_scale(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(3, 2)) return;
    for (const auto* operands : {&p.sources, &p.destinations})
        for (const TensorDesc& operand : *operands)
            rule.elements(operand, 1);
    rule.require(p.integer("growth_interval") >= 1, "its `growth_interval` is not above 0");
}

void gradient_sum(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, p.op == "take_gradient_sum" ? 2 : 1)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.sources[1], count);
    for (const TensorDesc& destination : p.destinations)
        rule.elements(destination, count);
}

void weigh_gradient(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.sources[1], 1);
    rule.elements(p.destinations[0], count);
}

void moving_average(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.sources[1], count);
    rule.elements(p.destinations[0], count);
}

}  // namespace dtnn::kernels::operands
