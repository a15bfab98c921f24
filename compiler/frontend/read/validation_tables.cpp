#include "compiler/frontend/read/validation_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/read/validation.hpp"

namespace dtnn::compiler {
namespace {

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

}  // namespace

void check_table(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    check_label_columns(fields, spec, diagnostics);
    check_ignored_columns(fields, spec, diagnostics);
    if (fields.text("decimal") == "comma" && fields.text("separator") == "comma")
        diagnostics
            .error(Code::conflicting_fields, span_or(fields.spans, "decimal", spec.span),
                   "a comma stands before fractions and between columns of dataset")
            .help =
            "tables with decimal commas have semicolons or tabs between columns: "
            "`separator: semicolon`";
}

}  // namespace dtnn::compiler
