#include "compiler/frontend/datasets/next_tokens.hpp"

#include <fmt/format.h>

#include "compiler/frontend/read/validation.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {

Field steps_field() {
    return integer_field("steps", kMustBeGiven, between(1, 1 << 24).in("tokens"),
                         "the tokens of a sample; a model's input says it, too",
                         mathematics("the samples have another length"));
}

Field stride_field() {
    return integer_field("stride", kMayBeAbsent, between(1, 1 << 30).in("tokens"),
                         "from the first token of a sample to that of the next; `steps` where it "
                         "is not given, so that no token is read twice",
                         mathematics("other stretches of the text are samples"));
}

Field next_test_share() {
    return real_field("test_share", kMayBeAbsent, above(0).below(1),
                      "where there is no text of its own for the test: the share of all tokens "
                      "that is kept for it, the last of them",
                      mathematics("other samples are kept from training"));
}

void settle_next_tokens(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    plan::Dataset& dataset = spec.dataset;
    plan::Feature& input = dataset.input();
    const std::int64_t steps = fields.integer("steps"), classes = dataset.target().classes;
    const Span& span = span_or(fields.spans, "type", spec.span);
    const std::string wanted =
        fmt::format("`inputs: {{{}: {{shape: [{}], axes: [step], dtype: i32, values: {}}}}}`",
                    kTokens, steps, classes > 0 ? fmt::format("{}", classes) : "256");
    if (plan::has_image(dataset) && input.name.empty()) {
        // No model has said what it reads.
        input.name = kTokens;
        input.dims = {steps};
        input.axes = {AxisKind::step};
        input.kind = plan::LabelKind::classes;
        input.classes = classes;
        return;
    }
    if (dataset.inputs.size() != 1 || input.axes != Axes{AxisKind::step} ||
        input.kind != plan::LabelKind::classes) {
        diagnostics.error(Code::shape_mismatch, span,
                          fmt::format("samples of the type {} are integers, one for each step, and "
                                      "the model reads something else",
                                      dataset.type),
                          "its input is " + wanted);
    } else if (input.dims.front() != steps) {
        diagnostics.error(Code::shape_mismatch, span_or(fields.spans, "steps", spec.span),
                          fmt::format("`steps` of dataset is {}, and the model's input has {}",
                                      steps, input.dims.front()),
                          "leave it out: the model says it");
    } else if (input.classes < classes) {
        diagnostics.error(
            Code::shape_mismatch, span_or(fields.spans, "classes", span),
            fmt::format("there are {} tokens, and the model's input `{}` has {} values", classes,
                        input.name, input.classes),
            fmt::format("`values: {}` of the input, and as many entries of the embedding",
                        classes));
    }
}

}  // namespace dtnn::compiler
