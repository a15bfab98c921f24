#include "compiler/frontend/datasets/table_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "compiler/frontend/read/members.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kBecomes = "the texts of features become other numbers";

constexpr std::string_view kFeatureColumns = "other columns are features";

plan::FeatureColumn read_column(const SourceNode& node, const std::string& path, bool one_hot,
                                FieldValues& fields, Diagnostics& diagnostics) {
    const FieldValues values = read_record(node, column_table(), {path, node.span}, diagnostics);
    note_places(path, values, fields.spans);
    plan::FeatureColumn column;
    column.name = values.text("name");
    column.place = values.integer("place");
    column.category = values.node("values") != nullptr;
    column.one_hot = column.category && one_hot;
    column.filled = values.values.contains("fill");
    column.fill = column.filled ? values.real("fill") : 0;
    column.indicator = values.flag("indicator");
    if (column.category)
        if (const auto texts = read_texts(*values.node("values"),
                                          *find_field(column_table(), "values"), path, diagnostics))
            for (const LocatedText& one : *texts)
                column.values.push_back(one.text);
    const auto refuse = [&](Code code, const char* field, const std::string& fact,
                            const std::string& help) {
        diagnostics.error(code, span_or(values.spans, field, node.span), fact).help = help;
    };
    if (!values.sound) return column;
    if (column.name.empty() && column.place == 0)
        refuse(Code::missing_field, "name",
               fmt::format("{} says of no column what it becomes", path),
               "`name` is its name in the header, `place` its number from 1");
    if (column.category && (column.filled || column.indicator))
        refuse(Code::conflicting_fields, column.filled ? "fill" : "indicator",
               fmt::format("{} is of categories, of which a missing one is one of its own", path),
               "`\"\"` among `values` stands for it");
    if (column.indicator && !column.filled)
        refuse(Code::conflicting_fields, "indicator",
               fmt::format("{} says where a number is missing, and not what fills in for it", path),
               "such as `fill: 0`");
    const std::set<std::string> different(column.values.begin(), column.values.end());
    if (different.size() != column.values.size())
        refuse(Code::out_of_range, "values",
               fmt::format("`values` of {} has a category twice", path), "");
    return column;
}

/// Checks what columns that are left out ("ignored") or are categories ("category") must be besides
/// numbers or names.
void check_other_columns(const std::string& what, const FieldValues& fields,
                         const DatasetSpec& spec, Diagnostics& diagnostics) {
    const bool ignored = what == "ignored";
    const std::vector<std::string>& names =
        ignored ? spec.dataset.ignored_names : spec.dataset.category_names;
    const std::string of_names = what + "_names", of_columns = what + "_columns";
    const Dims columns = fields.dims(of_columns);
    const std::string& field = names.empty() ? of_columns : of_names;
    const auto refuse = [&](Code code, const std::string& text) {
        diagnostics.error(code, span_or(fields.spans, field.c_str(), spec.span), text);
    };
    const std::set<std::int64_t> distinct(columns.begin(), columns.end());
    const std::set<std::string> different(names.begin(), names.end());
    if (!names.empty() && !columns.empty())
        refuse(Code::conflicting_fields,
               fmt::format("`{}` and `{}` of dataset both say which columns are {}; give one of "
                           "them",
                           of_names, of_columns, ignored ? "left out" : "categories"));
    else if (!names.empty() && !fields.flag("header"))
        refuse(Code::conflicting_fields,
               fmt::format("`{}` of dataset are names in the table's header, and `header` is false",
                           of_names));
    else if (different.size() != names.size() || distinct.contains(0) ||
             distinct.size() != columns.size())
        refuse(Code::out_of_range,
               fmt::format(
                   "`{}` of dataset must be distinct columns{}", field,
                   names.empty() ? ", counted from 1, or from the end by -1, -2 and so on" : ""));
    const auto taken_name = [&](const std::vector<std::string>& others, const char* as) {
        for (const std::string& name : names)
            if (std::find(others.begin(), others.end(), name) != others.end())
                refuse(Code::conflicting_fields,
                       fmt::format("`{}` of dataset has `{}`, which is {}", of_names, name, as));
    };
    const auto taken_column = [&](const Dims& others, const char* as) {
        for (const std::int64_t column : columns)
            if (std::find(others.begin(), others.end(), column) != others.end())
                refuse(Code::conflicting_fields,
                       fmt::format("`{}` of dataset has {}, which is {}", of_columns, column, as));
    };
    taken_name(spec.dataset.label_names, "a label");
    if (spec.dataset.label_names.empty()) taken_column(fields.dims("label_columns"), "a label");
    if (ignored) return;
    taken_name(spec.dataset.ignored_names, "left out");
    if (spec.dataset.ignored_names.empty())
        taken_column(fields.dims("ignored_columns"), "left out");
}

/// Checks which columns are categories, and what is said of what they become.
void check_encoding(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    const std::vector<std::string>& names = spec.dataset.category_names;
    const Dims columns = fields.dims("category_columns");
    const auto refuse = [&](const char* field, const std::string& text, const std::string& help) {
        diagnostics.error(Code::conflicting_fields, span_or(fields.spans, field, spec.span), text)
            .help = help;
    };
    const auto given = [&](const char* field) {
        return fields.spans.contains(field) && !fields.spans.at(field).place.file.empty();
    };
    const auto missing = choice<plan::Fill>(fields.values, "missing");
    const bool categories = !names.empty() || !columns.empty();
    if (given("fill_value") && missing != plan::Fill::constant)
        refuse("fill_value", "`fill_value` of dataset fills nothing in",
               "`missing: constant` fills it in");
    if (missing == plan::Fill::constant && !fields.values.contains("fill_value"))
        refuse("missing", "`missing` of dataset is constant, and no `fill_value` says which number",
               "such as `fill_value: 0`");
    if (fields.flag("missing_indicator") && missing == plan::Fill::refuse)
        refuse("missing_indicator",
               "`missing_indicator` of dataset is of numbers that are missing, which are refused",
               "`missing: median` fills them in");
    // Of what a resolved spec says though it is the default, nothing is asked.
    const bool numbered = fields.says("categories", plan::CategoryForm::number);
    const bool zeros = fields.says("unknown_categories", plan::UnknownCategory::zeros);
    for (const auto& [field, said] :
         {std::pair{"categories", numbered}, std::pair{"unknown_categories", zeros}})
        if (said && !categories)
            refuse(field,
                   fmt::format("`{}` of dataset is of columns that are categories, and none "
                               "is",
                               field),
                   "`category_names` or `category_columns` says which are");
    if (zeros && numbered)
        refuse("unknown_categories",
               "`unknown_categories: zeros` of dataset is for a number for each category, and "
               "`categories` makes one of all",
               "`categories: one_hot` does that");
}

}  // namespace

Field ignored_columns_field(std::string_view doc) {
    return number_field(FieldType::integer_list, "ignored_columns", kMayBeAbsent,
                        between(-100'000, 100'000), doc, mathematics(kFeatureColumns));
}

Field ignored_names_field() {
    return plain_field(FieldType::text_list, "ignored_names", kMayBeAbsent,
                       "such columns by their names in the header, in place of `ignored_columns`",
                       mathematics(kFeatureColumns));
}

Field header_field() {
    return flag_field("header", true, "whether the first line has the columns' names",
                      mathematics("the first line is a sample or not"));
}

Field separator_field() {
    return choice_field("separator", "comma", words_of<plan::Separator>(),
                        "what stands between columns",
                        mathematics("lines are columns in another way"));
}

Field decimal_field() {
    return choice_field("decimal", "point", words_of<plan::DecimalMark>(),
                        "what stands before a number's fraction: 1.5 or 1,5",
                        mathematics("texts are numbers in another way"));
}

bool check_label_choice(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics) {
    const std::vector<std::string>& names = spec.dataset.label_names;
    const bool input = spec.dataset.target().kind == plan::LabelKind::input;
    const Dims columns = fields.dims("label_columns");
    const Span& span =
        span_or(fields.spans, names.empty() ? "label_columns" : "label_names", spec.span);
    const auto refuse = [&](Code code, const std::string& fact) {
        diagnostics.error(code, span, fact);
        return false;
    };
    if (!names.empty() && fields.spans.contains("label_columns"))
        return refuse(Code::conflicting_fields,
                      "`label_names` and `label_columns` of dataset both say which columns are "
                      "labels; give one of them");
    if (!names.empty() && !fields.flag("header"))
        return refuse(Code::conflicting_fields,
                      "`label_names` of dataset are names in the table's header, and `header` is "
                      "false");
    const std::set<std::int64_t> distinct(columns.begin(), columns.end());
    const std::set<std::string> different(names.begin(), names.end());
    if (different.size() != names.size())
        return refuse(Code::out_of_range,
                      "`label_names` of dataset must be names of different columns");
    const bool none = columns.empty() && fields.values.contains("label_columns") && !input;
    if (none || distinct.contains(0) || distinct.size() != columns.size())
        return refuse(Code::out_of_range,
                      "`label_columns` of dataset must be distinct columns, counted from 1, or "
                      "from the end by -1, -2 and so on");
    return true;
}

void check_separators(const FieldValues& fields, const DatasetSpec& spec,
                      Diagnostics& diagnostics) {
    if (!fields.says("decimal", plan::DecimalMark::comma) ||
        !fields.says("separator", plan::Separator::comma))
        return;
    diagnostics.error(Code::conflicting_fields, span_or(fields.spans, "decimal", spec.span),
                      "a comma stands before fractions and between columns of dataset",
                      "tables with decimal commas have semicolons or tabs between columns: "
                      "`separator: semicolon`");
}

const FieldTable& column_table() {
    static const FieldTable table = {
        text_field("name", kMayBeAbsent, "its name in the header", mathematics(kBecomes)),
        integer_field("place", kMayBeAbsent, between(1, 100'000),
                      "its number from 1 in the training table, where columns have no names",
                      mathematics(kBecomes)),
        plain_field(FieldType::text_list, "values", kMayBeAbsent,
                    "of a category: those that there are, in order, `\"\"` for one that is missing",
                    mathematics(kBecomes)),
        real_field("fill", kMayBeAbsent, between(-3e38, 3e38),
                   "of numbers: what fills in for one that is missing", mathematics(kBecomes)),
        flag_field("indicator", false,
                   "of numbers: whether another stands behind it, 1 where it is missing, else 0",
                   mathematics(kBecomes)),
    };
    return table;
}

void read_columns(FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    check_other_columns("ignored", fields, spec, diagnostics);
    check_other_columns("category", fields, spec, diagnostics);
    check_encoding(fields, spec, diagnostics);
    const SourceNode* list = fields.node("columns");
    if (!list) return;
    if (!list->is_list()) {
        diagnostics.error(
            Code::wrong_type, list->span,
            fmt::format("`columns` of dataset is {}; it must be {}", describe(*list),
                        describe(FieldType::record_list)),
            "such as `columns: [{name: age, fill: 28}, {name: port, values: [C, S]}]`");
        return;
    }
    const bool one_hot = !fields.says("categories", plan::CategoryForm::number);
    for (std::size_t i = 0; i < list->items.size(); ++i)
        spec.dataset.columns.push_back(read_column(list->items[i], fmt::format("columns[{}]", i),
                                                   one_hot, fields, diagnostics));
}

void check_columns(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    const plan::Dataset& dataset = spec.dataset;
    if (fields.node("columns") == nullptr || dataset.columns.empty()) return;
    const auto refuse = [&](const std::string& fact, const std::string& help) {
        diagnostics
            .error(Code::conflicting_fields, span_or(fields.spans, "columns", spec.span), fact)
            .help = help;
    };
    std::int64_t width = 0;
    std::set<std::string> names, categories;
    for (const plan::FeatureColumn& column : dataset.columns) {
        width += column.width();
        if (!column.name.empty() && !names.insert(column.name).second)
            refuse(fmt::format("`columns` of dataset has `{}` twice", column.name), "");
        if (column.category) categories.insert(column.name);
    }
    for (const std::string& name : dataset.category_names)
        if (!categories.contains(name))
            refuse(fmt::format(
                       "`category_names` of dataset has `{}`, and `columns` no values of it", name),
                   "leave `columns` out, and the files say it");
    if (!dataset.input().dims.empty() && element_count(dataset.input().dims) != width)
        refuse(
            fmt::format("`columns` of dataset make {} numbers, and `shape` [{}] takes {}", width,
                        fmt::join(dataset.input().dims, ", "), element_count(dataset.input().dims)),
            fmt::format("leave `shape` out, or give [{}, 1, 1]", width));
}

std::string column_text(const plan::FeatureColumn& column) {
    std::vector<std::string> fields;
    if (column.name.empty())
        fields.push_back(fmt::format("place: {}", column.place));
    else
        fields.push_back(fmt::format("name: {}", yaml_text(column.name)));
    if (column.category) {
        std::vector<std::string> values;
        std::transform(column.values.begin(), column.values.end(), std::back_inserter(values),
                       yaml_text);
        fields.push_back(fmt::format("values: [{}]", fmt::join(values, ", ")));
    }
    if (column.filled)
        fields.push_back(fmt::format("fill: {}", to_json(AttributeValue(column.fill))));
    if (column.indicator) fields.emplace_back("indicator: true");
    return fmt::format("{{{}}}", fmt::join(fields, ", "));
}

}  // namespace dtnn::compiler
