#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/frontend/datasets/next_tokens.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& tokens_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("a file of tokens, relative to the current folder: an .npy of one axis, of integers, "
             "or numbers without a header, lowest byte first"),
        text_field("test_path", kMayBeAbsent,
                   "the tokens of the test samples, in the same form; this or `test_share`",
                   unread("the files there may be the same or others, and the accuracy is measured "
                          "on them")),
        text_field("validation_path", kMayBeAbsent,
                   "tokens of samples of validation, in the same form",
                   unread("the files there may be the same or others, and schedules may watch "
                          "them")),
        next_test_share(),
        choice_field("item", "u16", words_of<plan::TokenItem>(),
                     "without a header: how a token is stored, in 16 bits or in 32",
                     mathematics("the file has other tokens")),
        steps_field(),
        stride_field(),
        classes("the number of different tokens: the vocabulary's size"),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
    };
    return table;
}

void settle_tokens(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_classes(fields, spec, diagnostics);
    settle_next_tokens(fields, spec, diagnostics);
    check_paths(fields, spec, "a file", diagnostics);
}

}  // namespace

ComponentInfo tokens_type() {
    return {.name = "tokens",
            .doc =
                "Text that others have made tokens of, such as nanoGPT's train.bin: a sample is a "
                "stretch of it, and the class of each step is the token that follows. Nothing is "
                "kept in memory, so a file may be of any size.",
            .example =
                "kind: dataset\ntype: tokens\npath: data/train.bin\ntest_path: "
                "data/val.bin\nsteps: 1024\nclasses: 50257\ntrain_samples: 8800000\n"
                "test_samples: 4300\n",
            .fields = &tokens_fields(),
            .settle = settle_tokens};
}

}  // namespace dtnn::compiler
