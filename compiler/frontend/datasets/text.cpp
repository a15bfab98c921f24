#include <fmt/format.h>

#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/frontend/datasets/next_tokens.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& text_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("a file of text, or a folder of them, each a document, relative to the current "
             "folder; no sample reads of two"),
        text_field("test_path", kMayBeAbsent, "the text of the test samples; this or `test_share`",
                   unread("the files there may be the same or others, and the accuracy is measured "
                          "on them")),
        text_field("validation_path", kMayBeAbsent, "a text of samples of validation",
                   unread("the files there may be the same or others, and schedules may watch "
                          "them")),
        next_test_share(),
        choice_field("unit", "character", words_of<plan::TextUnit>(),
                     "what a token is: a character of the training text, whose number is its place "
                     "among those that there are, in the order of Unicode; or a byte, of which "
                     "there are 256",
                     mathematics("the text is other tokens")),
        steps_field(),
        stride_field(),
        found(classes("the number of different tokens: 256 bytes, or as many as there are "
                      "characters in the training text")),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        quantity_field("cache", std::int64_t{1} << 20, between(1 << 16, 1e15).in("bytes"),
                       "memory for the files' names and for places in them; the text itself stays "
                       "where it is",
                       performance("it is a limit that is checked, not a choice of the "
                                   "computation")),
    };
    return table;
}

void settle_text(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    constexpr std::int64_t kBytes = 256;
    plan::Feature& target = spec.dataset.target();
    settle_classes(fields, spec, diagnostics);
    const Span& span = span_or(fields.spans, "classes", spec.span);
    const bool given = fields.values.contains("classes");
    if (given && fields.says("unit", plan::TextUnit::byte) && target.classes != kBytes)
        diagnostics.error(
            Code::out_of_range, span,
            fmt::format("`classes` of dataset is {}, and there are 256 bytes", target.classes),
            "leave it out");
    if (given && fields.says("unit", plan::TextUnit::character) && target.names.empty())
        diagnostics.error(Code::missing_field, span,
                          "dataset does not say which characters its tokens are",
                          "leave `classes` out, so that the text says them, or write all of them "
                          "as `class_names`");
    settle_next_tokens(fields, spec, diagnostics);
    check_paths(fields, spec, kFileOrFolder, diagnostics);
}

}  // namespace

ComponentInfo text_type() {
    return {.name = "text",
            .doc =
                "Text: a sample is a stretch of it, and the class of each step is the token that "
                "follows. Nothing is kept in memory, so a text may be of any size.",
            .example =
                "kind: dataset\ntype: text\npath: data/book.txt\nunit: byte\nsteps: 128\n"
                "test_share: 0.1\nclasses: 256\ntrain_samples: 7000\ntest_samples: 700\n",
            .fields = &text_fields(),
            .settle = settle_text};
}

}  // namespace dtnn::compiler
