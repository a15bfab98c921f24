#pragma once
/// The losses: losses.def, as data.

#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

struct LossInfo {
    std::string_view name;
    /// What the numbers at the end of a model must be for the loss to mean something; scores: any.
    plan::Prediction takes = plan::Prediction::scores;
    std::string_view joins =
        {};             ///< see joins(); of a written loss empty: any that gives probabilities
    int labels = 0;     ///< bit i: can be taken of labels of plan::LabelKind(i)
    bool soft = false;  ///< a row may have a share of every class
    /// Pointwise losses: infix over p, t, w and the loss's real fields. Empty: the operator of that
    /// name over rows.
    std::string_view expression = {};
    std::string_view derivative = {};
    bool over_rows = false;
    bool written = false;  ///< pointwise, by the fields `expression`, over p and t, and `over`

    bool is_pointwise() const { return written || !expression.empty(); }

    bool takes_labels(plan::LabelKind kind) const { return (labels >> int(kind)) % 2 != 0; }
};

std::span<const LossInfo> all_losses();
/// Null when there is none.
const LossInfo* find_loss(std::string_view name);
/// The loss that a training's is with these fields: binary_cross_entropy with `from_logits` is
/// binary_cross_entropy_with_logits.
const LossInfo* find_loss(std::string_view name, const Attributes& fields);

/// Whether the layer of that type at a model's end becomes one operator with the loss.
bool joins(const LossInfo& loss, std::string_view layer);

/// What a model predicts that ends in `gives` and is trained by the loss (null: by none) on labels
/// of the kind. The loss decides where it takes a certain form; others go by the model's end.
plan::Prediction prediction_of(plan::Prediction gives, const LossInfo* loss,
                               plan::LabelKind labels);

/// The attributes of elementwise_mean for a pointwise loss over (p, t), or over (p, t, w).
Attributes pointwise_attributes(const LossInfo& loss, const Attributes& fields, bool weighted);

}  // namespace dtnn::compiler
