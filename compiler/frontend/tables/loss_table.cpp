// The losses and their fields, which reach the plan as its loss_attributes. What they compute, and
// of which predictions and labels they can be taken: ops/losses.def.

#include "base/expression/expression.hpp"
#include "base/tensor/choices.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/ops/expression/formula_fault.hpp"
#include "compiler/ops/expression/parse_infix.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kOtherLoss = "another loss is minimised";

Field class_weights_field() {
    return number_field(
        FieldType::real_list, "class_weights", kMayBeAbsent, at_least(0),
        "weight of each class; with labels the mean is a weighted one, as PyTorch's is",
        mathematics(kOtherLoss));
}

const FieldTable& cross_entropy_fields() {
    static const FieldTable table = {
        real_field("smoothing", 0.0, at_least(0).below(1).usually({}, 0.4),
                   "share of the label that is spread over all classes", mathematics(kOtherLoss)),
        class_weights_field(),
    };
    return table;
}

const FieldTable& likelihood_fields() {
    static const FieldTable table = {class_weights_field()};
    return table;
}

const FieldTable& binary_fields() {
    static const FieldTable table = {
        flag_field(
            "from_logits", false,
            "the model ends without sigmoid; metrics with a threshold still see probabilities",
            mathematics("the loss takes predictions otherwise")),
        number_field(FieldType::real_list, "positive_weights", kMayBeAbsent, at_least(0),
                     "weight of what should be 1, for each class, or one number for all",
                     mathematics(kOtherLoss)),
    };
    return table;
}

const FieldTable& huber_fields() {
    static const FieldTable table = {
        real_field("delta", 1.0, above(0), "difference from which on the loss is a straight line",
                   mathematics(kOtherLoss)),
    };
    return table;
}

const FieldTable& dice_fields() {
    static const FieldTable table = {
        real_field("smooth", 1.0, at_least(0), "what is added above and below the fraction",
                   mathematics(kOtherLoss)),
    };
    return table;
}

const FieldTable& ctc_fields() {
    static const FieldTable table = {
        integer_field("blank", 0, at_least(0),
                      "the class of steps that are at no label: one of the dataset's `classes`, "
                      "and none of its labels",
                      mathematics(kOtherLoss)),
        choice_field("per", "label", words_of<LossPer>(),
                     "label: the loss of a sample is divided by the number of its labels before "
                     "the mean over samples is taken, as PyTorch does; sample: it is not",
                     mathematics(kOtherLoss)),
    };
    return table;
}

const FieldTable& formula_fields() {
    static const FieldTable table = {
        {.name = "expression",
         .type = FieldType::expression,
         .doc = "of every prediction p and its target t, which of labels is 0 or 1",
         .change = mathematics(kOtherLoss),
         .choices = {"p", "t"}},
        choice_field("over", "elements", words_of<MeanOver>(), kOverDoc, mathematics(kOtherLoss)),
    };
    return table;
}

void check_formula(const ReadComponent& read, Diagnostics& diagnostics) {
    const Expression formula = parse_infix(read.text("expression"), {"p", "t"});
    if (const auto fault = formula_fault(formula))
        diagnostics.error(Code::elementwise_syntax, read.span_of("expression"), fault->text,
                          fault->help);
    if (reads(formula, 0)) return;
    diagnostics.error(Code::elementwise_syntax, read.span_of("expression"),
                      "`expression` of formula does not read p: nothing would be learnt",
                      "p is a prediction, t its target");
}

}  // namespace

const FieldTable& hinge_fields() {
    static const FieldTable table = {
        real_field("margin", 1.0, at_least(0),
                   "how far above the others the label's prediction should be",
                   mathematics(kOtherLoss)),
        choice_field("form", "largest", words_of<HingeForm>(),
                     "largest: the largest of the others counts; all: each of them, their sum "
                     "divided by the number of classes",
                     mathematics(kOtherLoss)),
    };
    return table;
}

const ComponentSet& losses() {
    static const ComponentSet set = {
        "loss",
        "losses",
        "a loss",
        {{"categorical_cross_entropy",
          "-log of the probability that the model gives to the label, averaged over the batch. The "
          "model ends with softmax, and the two become one stable operator "
          "(torch.nn.CrossEntropyLoss).",
          "kind: training\nloss: {categorical_cross_entropy: {smoothing: 0.1}}\n",
          &cross_entropy_fields()},
         {"negative_log_likelihood",
          "The label's value with its sign changed, averaged over the batch. The model ends with "
          "log_softmax (torch.nn.NLLLoss).",
          "kind: training\nloss: negative_log_likelihood\n", &likelihood_fields()},
         {"binary_cross_entropy",
          "-(t log p + (1 - t) log(1 - p)) of every class by itself, averaged over all numbers, "
          "for samples of any number of classes. The model ends with sigmoid, and the two become "
          "one stable operator (torch.nn.BCEWithLogitsLoss).",
          "kind: training\nloss: {binary_cross_entropy: {positive_weights: [3]}}\n",
          &binary_fields()},
         {"kl_divergence",
          "t (log t - log p), summed over the classes and averaged over the batch, of targets t "
          "that are probabilities. The model ends with log_softmax (torch.nn.KLDivLoss with "
          "reduction batchmean).",
          "kind: training\nloss: kl_divergence\n", &no_fields()},
         {"mean_squared_error",
          "The mean of the squared differences to the targets; of labels, as rows of zeros and a "
          "one.",
          "kind: training\nloss: mean_squared_error\n", &no_fields()},
         {"mean_absolute_error",
          "The mean of the absolute differences to the targets; of labels, as rows of zeros and a "
          "one.",
          "kind: training\nloss: mean_absolute_error\n", &no_fields()},
         {"huber",
          "Half the squared difference up to delta, beyond it delta times what is left: the mean "
          "of a loss that outliers pull at no harder than delta (Huber, 1964; torch.nn.HuberLoss).",
          "kind: training\nloss: {huber: {delta: 0.5}}\n", &huber_fields()},
         {"hinge",
          "How much the label's prediction falls short of being a margin above the others, "
          "averaged over the batch (Crammer and Singer, 2001; with form all "
          "torch.nn.MultiMarginLoss).",
          "kind: training\nloss: hinge\n", &hinge_fields()},
         {"dice",
          "One less twice the overlap of predictions and targets over their sum, averaged over "
          "samples: of each class over the pixels where pixels have labels, else over the classes "
          "(Milletari et al., 2016).",
          "kind: training\nloss: dice\n", &dice_fields()},
         {"ctc",
          "-log of the probability that the steps of a sample give to its sequence of labels, "
          "summed over all steps that the labels may be at, with steps of the class `blank` "
          "between them (connectionist temporal classification: Graves et al., 2006; "
          "torch.nn.CTCLoss). The model ends with log_softmax over the features of its steps, and "
          "the dataset has `labels: sequence`.",
          "kind: training\nloss: {ctc: {blank: 0}}\nmetrics: [label_error_rate]\n", &ctc_fields()},
         {"formula",
          "A formula of your own, of every prediction p and its target t: the mean of it is the "
          "loss, and the gradient follows from it. Labels become rows of zeros and a one.",
          "kind: training\nloss: {formula: {expression: \"where(abs(p - t) < 1, 0.5 * (p - t) ** "
          "2, abs(p - t) - 0.5)\"}}\n",
          &formula_fields(), check_formula}},
        true};
    return set;
}

}  // namespace dtnn::compiler
