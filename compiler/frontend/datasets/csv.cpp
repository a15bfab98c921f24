#include <fmt/format.h>

#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/frontend/datasets/table_columns.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kLabelColumns = "other columns are labels, and other are features";

constexpr std::string_view kEncoded = "the texts of features become other numbers";

const FieldTable& csv_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("the table of the training samples, a line for each, relative to the current folder"),
        text_field(
            "test_path", kMayBeAbsent,
            "the table of the test samples, in the same form; this or `test_share`",
            unread(
                "the files there may be the same or others, and the accuracy is measured on them")),
        text_field(
            "validation_path", kMayBeAbsent, "a table of samples of validation, in the same form",
            unread("the files there may be the same or others, and schedules may watch them")),
        test_share(),
        found(number_field(FieldType::integer_list, "shape", kMustBeGiven, between(1, 65536),
                           "channels, height and width that the features of a line make, row by "
                           "row; [features, 1, 1] for none",
                           mathematics(kOtherShape))),
        found(classes("the number of classes, or of label columns")),
        label_kind("what the label columns hold: one class (a number from 0, or a name), zeros and "
                   "ones, or real numbers"),
        number_field(FieldType::integer_list, "label_columns", AttributeValue(Dims{-1}),
                     between(-100'000, 100'000),
                     "the columns that are labels, counted from 1, or from the end by -1, -2 and "
                     "so on; all others are features",
                     mathematics(kLabelColumns)),
        plain_field(
            FieldType::text_list, "label_names", kMayBeAbsent,
            "the columns that are labels by their names in the header, in place of `label_columns`",
            mathematics(kLabelColumns)),
        ignored_columns_field(
            "columns that are neither labels nor features, such as a sample's number, counted as "
            "those of labels"),
        ignored_names_field(),
        header_field(),
        separator_field(),
        decimal_field(),
        plain_field(FieldType::text_list, "category_names", kMayBeAbsent,
                    "columns of features whose texts are categories, by their names in the header",
                    mathematics(kEncoded)),
        number_field(
            FieldType::integer_list, "category_columns", kMayBeAbsent, between(-100'000, 100'000),
            "such columns by their numbers, counted as those of labels", mathematics(kEncoded)),
        choice_field("categories", "one_hot", words_of<plan::CategoryForm>(),
                     "what a column of categories becomes: a number for each of those that the "
                     "training table has, one of them 1 and the others 0; or one number, from 0 in "
                     "their order",
                     mathematics(kEncoded)),
        choice_field("unknown_categories", "refuse", words_of<plan::UnknownCategory>(),
                     "a category that no training sample has: an error, or 0 for all of them",
                     mathematics(kEncoded)),
        choice_field(
            "missing", "refuse", words_of<plan::Fill>(),
            "what fills in for a number that is missing: nothing, which is an error; the "
            "mean or the median of the column's training samples; `fill_value`. A category "
            "that is missing is one of its own",
            mathematics(kEncoded)),
        number_field(FieldType::real, "fill_value", kMayBeAbsent, between(-3e38, 3e38),
                     "missing constant: the number", mathematics(kEncoded)),
        flag_field("missing_indicator", false,
                   "whether each column of numbers with something missing in the training table "
                   "has another behind it: 1 where it is missing, else 0",
                   mathematics(kEncoded)),
        plain_field(FieldType::text_list, "missing_texts", kMayBeAbsent,
                    "texts that say that something is missing, as an empty one does; NA, N/A, n/a, "
                    "#N/A, <NA>, NaN, nan, null, NULL, None and ? where none are given",
                    mathematics(kEncoded)),
        found({.name = "columns",
               .type = FieldType::record_list,
               .doc = "where there are categories, or holes are filled in: what becomes of each "
                      "column of features, in the order of the training table: [{name: age, fill: "
                      "28}, {name: port, values: [C, S]}]",
               .change = mathematics(kEncoded),
               .optional = true,
               .fields = &column_table()}),
        target_scaling(),
        target_mean(),
        target_deviation(),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        cache("memory for the tables, 32 bits a feature and 64 a label"),
    };
    return table;
}

/// Checks what the label columns of a table must be besides numbers.
void check_label_columns(const FieldValues& fields, const DatasetSpec& spec,
                         Diagnostics& diagnostics) {
    const std::vector<std::string>& names = spec.dataset.label_names;
    if (!check_label_choice(fields, spec, diagnostics)) return;
    const bool input = spec.dataset.target().kind == plan::LabelKind::input;
    const char* const field = names.empty() ? "label_columns" : "label_names";
    const Span& span = span_or(fields.spans, field, spec.span);
    const bool one = spec.dataset.target().kind == plan::LabelKind::classes;
    const std::int64_t wanted = one ? 1 : spec.dataset.target().classes;
    const auto given =
        std::int64_t(names.empty() ? fields.dims("label_columns").size() : names.size());
    // How many values there are may be left to the files, which have a column for each.
    if (given == wanted || input || (!one && wanted == 0)) return;
    diagnostics.error(
        Code::out_of_range, span,
        one ? fmt::format("`{}` of dataset are {}; a class is in one column", field, given)
            : fmt::format("`{}` of dataset are {}, and `classes` is {}; there must be a column for "
                          "each",
                          field, given, wanted));
}

/// Which columns are labels, what the others become, and what stands between them.
void check_table(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    check_label_columns(fields, spec, diagnostics);
    check_columns(fields, spec, diagnostics);
    check_separators(fields, spec, diagnostics);
}

void settle_csv(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_shape(fields, spec, diagnostics);
    settle_classes(fields, spec, diagnostics);
    check_table(fields, spec, diagnostics);
    settle_target_scaling(fields, spec, diagnostics);
    check_paths(fields, spec, kFileOrFolder, diagnostics);
}

}  // namespace

ComponentInfo csv_type() {
    return {
        .name = "csv",
        .doc =
            "Tables: a line is a sample, some columns are its label, all others features: numbers, "
            "or categories. Holes that nothing fills in, texts among numbers and what is not "
            "finite "
            "are errors.",
        .example =
            "kind: dataset\ntype: csv\npath: data/iris_train.csv\ntest_path: data/iris_test.csv\n"
            "shape: [4, 1, 1]\nclasses: 3\ntrain_samples: 120\ntest_samples: 30\n",
        .fields = &csv_fields(),
        .settle = settle_csv};
}

}  // namespace dtnn::compiler
