/// Updates of parameters, and what happens to gradients around them.

#include "base/tensor/signature.hpp"
#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

void by_signature(Rule& rule) {
    const Problem& p = rule.problem();
    const Signature& signature = *find_signature(p.op);
    for (const Operand& operand : signature.sources)
        if (operand.above_zero) p.real(operand.attribute.c_str());
    const OperandList sources = present(signature.sources, p.attributes);
    const OperandList destinations = present(signature.destinations, p.attributes);
    if (!rule.counts(sources.size(), destinations.size())) return;
    const std::int64_t first = p.sources[0].elements();
    const auto check = [&](const TensorDesc& tensor, const Operand& operand) {
        const bool counts = operand.kind == Operand::Kind::count;
        rule.elements(tensor, operand.kind == Operand::Kind::like_first ? first : 1,
                      counts ? DType::i64 : p.dtype);
    };
    for (std::size_t i = 0; i < sources.size(); ++i)
        check(p.sources[i], sources[i]);
    for (std::size_t i = 0; i < destinations.size(); ++i)
        check(p.destinations[i], destinations[i]);
}

void update(Rule& rule) {
    const Problem& p = rule.problem();
    rule.require(p.flag("scaled") || !p.flag("skips"), "it skips by a scale that it does not have");
    if (p.op == "nadam_update") {  // whose variants are its own
        const std::string variant = p.text("variant");
        rule.require(variant == "dozat" || variant == "pydtnn",
                     "its `variant` \"" + variant + "\" is unknown");
    }
    by_signature(rule);
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

}  // namespace dtnn::kernels::operands
