#include "compiler/ops/loss/losses.hpp"

#include <algorithm>
#include <array>

#include "base/expression/expression.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/expression/parse_infix.hpp"

namespace dtnn::compiler {
namespace {

constexpr int kClasses = 1 << int(plan::LabelKind::classes);
constexpr int kMultiple = 1 << int(plan::LabelKind::multiple);
/// Real numbers: given with the samples, or the samples themselves.
constexpr int kValues = 1 << int(plan::LabelKind::values) | 1 << int(plan::LabelKind::input);
constexpr int kSequences = 1 << int(plan::LabelKind::sequence);

constexpr bool rows = true;
constexpr bool elements = false;

constexpr std::array kLosses{
#define ROWWISE(name, takes, joins, labels, soft) \
    LossInfo{#name, plan::Prediction::takes, joins, labels, soft},
#define POINTWISE(name, takes, joins, labels, over, expression, derivative) \
    LossInfo{#name, plan::Prediction::takes, joins, labels, true, expression, derivative, over},
#define WRITTEN(name, takes, labels) \
    LossInfo{#name, plan::Prediction::takes, "", labels, true, {}, {}, false, true},
#include "compiler/ops/loss/losses.def"
#undef WRITTEN
#undef ROWWISE
#undef POINTWISE
};

}  // namespace

std::span<const LossInfo> all_losses() {
    return kLosses;
}

const LossInfo* find_loss(std::string_view name) {
    const auto found = std::find_if(kLosses.begin(), kLosses.end(),
                                    [&](const LossInfo& loss) { return loss.name == name; });
    return found == kLosses.end() ? nullptr : &*found;
}

const LossInfo* find_loss(std::string_view name, const Attributes& fields) {
    // The one loss that has two forms, which are two rows of the list.
    const bool logits = name == "binary_cross_entropy" && flag(fields, "from_logits");
    return find_loss(logits ? "binary_cross_entropy_with_logits" : name);
}

bool joins(const LossInfo& loss, std::string_view layer) {
    return loss.written ? op(layer).gives == plan::Prediction::probabilities : layer == loss.joins;
}

plan::Prediction prediction_of(plan::Prediction gives, const LossInfo* loss,
                               plan::LabelKind labels) {
    if (labels == plan::LabelKind::values || labels == plan::LabelKind::input)
        return plan::Prediction::values;
    return loss == nullptr || loss->takes == plan::Prediction::scores ? gives : loss->takes;
}

Attributes pointwise_attributes(const LossInfo& loss, const Attributes& fields, bool weighted) {
    std::vector<std::string> names{"p", "t", "w"};
    std::vector<Expression> values{Expression::input_at(0), Expression::input_at(1),
                                   Expression::input_at(weighted ? 2 : 1)};
    for (const auto& [name, value] : fields)
        if (const double* number = std::get_if<double>(&value)) {
            names.push_back(name);
            values.push_back(Expression::constant(*number));
        }
    if (loss.written) {
        Attributes attributes{{"expression", to_postfix(simplify(parse_infix(
                                                 text_or(fields, "expression", ""), {"p", "t"})))}};
        if (says(fields, "over", MeanOver::rows)) attributes["rows"] = true;
        return attributes;
    }
    const auto text = [&](std::string_view infix) {
        return to_postfix(simplify(substitute(parse_infix(infix, names), values)));
    };
    Attributes attributes{{"expression", text(loss.expression)}};
    if (!loss.derivative.empty()) attributes["derivative"] = text(loss.derivative);
    if (loss.over_rows) attributes["rows"] = true;
    return attributes;
}

}  // namespace dtnn::compiler
