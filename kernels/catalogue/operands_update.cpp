/// Updates of parameters, and what happens to gradients around them.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

void by_signature(Rule& rule) {
    const Problem& p = rule.problem();
    const Signature& signature = *find_signature(p.op);
    for (const Operand& operand : signature.sources)
        for (const Operand::Condition& condition : operand.conditions)
            if (condition.test == Operand::Condition::Test::above_zero)
                p.real(condition.attribute.c_str());
    const std::int64_t first = rule.first_source().elements();
    const auto check = [&](const OperandList& operands, const std::vector<TensorType>& tensors) {
        const PresentOperands present(operands, p.attributes);
        const auto list = present.list();
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const Operand::Kind kind = list[i]->kind;
            rule.elements(tensors[i], kind == Operand::Kind::plain ? first : 1,
                          kind == Operand::Kind::count ? DType::i64 : p.dtype);
        }
    };
    check(signature.sources, p.sources);
    check(signature.destinations, p.destinations);
}

void update(Rule& rule) {
    const Problem& p = rule.problem();
    rule.require(p.flag("scaled") || !p.flag("skips"), "it skips by a scale that it does not have");
    by_signature(rule);
}

void nadam_update(Rule& rule) {
    rule.problem().real("momentum_decay");
    const std::string word = rule.problem().text("variant");
    rule.require(choice<NadamVariant>(rule.problem().attributes, "variant").has_value(),
                 "its `variant` \"" + word + "\" is unknown");
    update(rule);
}

void gradient_square_sum(Rule& rule) {
    rule.type(rule.first_source(), rule.problem().dtype);
    rule.elements(rule.first_result(), 1, DType::f64);
}

void gradient_scale(Rule& rule) {
    const Problem& p = rule.problem();
    const TensorType *shares = rule.operand("shares"), *scale = rule.operand("loss_scale");
    const std::size_t numbers = (shares != nullptr ? 1 : 0) + (scale != nullptr ? 1 : 0);
    const std::size_t sums = p.sources.size() - numbers;
    rule.require(sums > 0 || (p.real("clip_norm", 0) <= 0 && scale == nullptr),
                 "it has no norm, no sum of shares or no scale of the loss");
    for (std::size_t i = 0; i < sums; ++i)
        rule.elements(p.sources[i], 1, DType::f64);
    rule.elements(shares, 1);
    rule.elements(scale, 1);
    rule.elements(rule.first_result(), 1);
}

void adapt_loss_scale(Rule& rule) {
    for (const TensorType* operand : rule.all())
        rule.elements(operand, 1);
    rule.require(rule.problem().integer("growth_interval") >= 1,
                 "its `growth_interval` is not above 0");
}

}  // namespace dtnn::kernels::operands
