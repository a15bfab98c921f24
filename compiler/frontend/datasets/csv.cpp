#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kLabelColumns = "other columns are labels, and other are features";

constexpr std::string_view kFeatureColumns = "other columns are features";

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
        number_field(FieldType::integer_list, "ignored_columns", kMayBeAbsent,
                     between(-100'000, 100'000),
                     "columns that are neither labels nor features, such as a sample's number, "
                     "counted as those of labels",
                     mathematics(kFeatureColumns)),
        plain_field(FieldType::text_list, "ignored_names", kMayBeAbsent,
                    "such columns by their names in the header, in place of `ignored_columns`",
                    mathematics(kFeatureColumns)),
        flag_field("header", true, "whether the first line has the columns' names",
                   mathematics("the first line is a sample or not")),
        choice_field("separator", "comma", {"comma", "semicolon", "tab"},
                     "what stands between columns",
                     mathematics("lines are columns in another way")),
        choice_field("decimal", "point", {"point", "comma"},
                     "what stands before a number's fraction: 1.5 or 1,5",
                     mathematics("texts are numbers in another way")),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        cache("memory for the tables, 32 bits a feature and 64 a label"),
    };
    return table;
}

/// Checks what columns that are left out must be besides numbers or names.
void check_ignored_columns(const FieldValues& fields, const DatasetSpec& spec,
                           Diagnostics& diagnostics) {
    const std::vector<std::string>& names = spec.dataset.ignored_names;
    const Dims columns = fields.dims("ignored_columns");
    const char* const field = names.empty() ? "ignored_columns" : "ignored_names";
    const auto refuse = [&](Code code, const std::string& text) {
        diagnostics.error(code, span_or(fields.spans, field, spec.span), text);
    };
    const std::set<std::int64_t> distinct(columns.begin(), columns.end());
    const std::set<std::string> different(names.begin(), names.end());
    if (!names.empty() && !columns.empty())
        refuse(Code::conflicting_fields,
               "`ignored_names` and `ignored_columns` of dataset both say which columns are left "
               "out; give one of them");
    else if (!names.empty() && !fields.flag("header"))
        refuse(Code::conflicting_fields,
               "`ignored_names` of dataset are names in the table's header, and `header` is false");
    else if (different.size() != names.size() || distinct.contains(0) ||
             distinct.size() != columns.size())
        refuse(Code::out_of_range,
               fmt::format(
                   "`{}` of dataset must be distinct columns{}", field,
                   names.empty() ? ", counted from 1, or from the end by -1, -2 and so on" : ""));
    for (const std::string& name : names)
        if (const auto& labels = spec.dataset.label_names;
            std::find(labels.begin(), labels.end(), name) != labels.end())
            refuse(Code::conflicting_fields,
                   fmt::format("`ignored_names` of dataset has `{}`, which is a label", name));
    const Dims labels = fields.dims("label_columns");
    for (const std::int64_t column : columns)
        if (spec.dataset.label_names.empty() &&
            std::find(labels.begin(), labels.end(), column) != labels.end())
            refuse(Code::conflicting_fields,
                   fmt::format("`ignored_columns` of dataset has {}, which is a label", column));
}

/// Checks what the label columns of a table must be besides numbers.
void check_label_columns(const FieldValues& fields, const DatasetSpec& spec,
                         Diagnostics& diagnostics) {
    const std::vector<std::string>& names = spec.dataset.label_names;
    const bool input = spec.dataset.target().kind == plan::LabelKind::input;
    const Dims columns = fields.dims("label_columns");
    const char* const field = names.empty() ? "label_columns" : "label_names";
    const Span& span = span_or(fields.spans, field, spec.span);
    if (!names.empty() && fields.spans.contains("label_columns")) {
        diagnostics.error(Code::conflicting_fields, span,
                          "`label_names` and `label_columns` of dataset both say which columns are "
                          "labels; give one of them");
        return;
    }
    if (!names.empty() && !fields.flag("header")) {
        diagnostics.error(Code::conflicting_fields, span,
                          "`label_names` of dataset are names in the table's header, and `header` "
                          "is false");
        return;
    }
    const std::set<std::int64_t> distinct(columns.begin(), columns.end());
    const std::set<std::string> different(names.begin(), names.end());
    if (different.size() != names.size()) {
        diagnostics.error(Code::out_of_range, span,
                          "`label_names` of dataset must be names of different columns");
        return;
    }
    if ((columns.empty() && !input) || distinct.contains(0) || distinct.size() != columns.size()) {
        diagnostics.error(Code::out_of_range, span,
                          "`label_columns` of dataset must be distinct columns, counted from 1, or "
                          "from the end by -1, -2 and so on");
        return;
    }
    const bool one = spec.dataset.target().kind == plan::LabelKind::classes;
    const std::int64_t wanted = one ? 1 : spec.dataset.target().classes;
    const auto given = std::int64_t(names.empty() ? columns.size() : names.size());
    // How many values there are may be left to the files, which have a column for each.
    if (given == wanted || input || (!one && wanted == 0)) return;
    diagnostics.error(
        Code::out_of_range, span,
        one ? fmt::format("`{}` of dataset are {}; a class is in one column", field, given)
            : fmt::format("`{}` of dataset are {}, and `classes` is {}; there must be a column for "
                          "each",
                          field, given, wanted));
}

/// Which columns are labels, which are left out, and what stands between them.
void check_table(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    check_label_columns(fields, spec, diagnostics);
    check_ignored_columns(fields, spec, diagnostics);
    if (fields.text("decimal") == "comma" && fields.text("separator") == "comma")
        diagnostics.error(Code::conflicting_fields, span_or(fields.spans, "decimal", spec.span),
                          "a comma stands before fractions and between columns of dataset",
                          "tables with decimal commas have semicolons or tabs between columns: "
                          "`separator: semicolon`");
}

void settle_csv(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_shape(fields, spec, diagnostics);
    settle_classes(fields, spec, diagnostics);
    check_table(fields, spec, diagnostics);
    check_paths(fields, spec, kFileOrFolder, diagnostics);
}

}  // namespace

ComponentInfo csv_type() {
    return {
        .name = "csv",
        .doc =
            "Tables of numbers: a line is a sample, some columns are its label. Holes, texts among "
            "numbers and what is not finite are errors.",
        .example =
            "kind: dataset\ntype: csv\npath: data/iris_train.csv\ntest_path: data/iris_test.csv\n"
            "shape: [4, 1, 1]\nclasses: 3\ntrain_samples: 120\ntest_samples: 30\n",
        .fields = &csv_fields(),
        .settle = settle_csv};
}

}  // namespace dtnn::compiler
