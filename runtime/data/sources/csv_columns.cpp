// CsvSource: which columns of its tables are what.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sources/csv_source.hpp"

namespace dtnn::runtime {

CsvSource::Columns CsvSource::columns_of(const TableLine& first, const Table& table) const {
    // The test table's are found by the names that the training table has.
    const bool named = &table != &tables_[0] && !feature_names_.empty();
    const ColumnWish features = {named ? feature_names_ : form_.feature_names, {}};
    const ColumnWish labels = named ? ColumnWish{label_names_, {}} : form_.labels;
    const std::string& model = named ? tables_[0].path : form_.model;
    Columns columns;
    columns.labels = find_columns(first, labels, table.path, "label", named ? model : "");
    for (const std::size_t column : find_columns(first, form_.group, table.path, "group"))
        columns.group = column;
    if (!features.empty()) {
        columns.features = find_columns(first, features, table.path, "feature", model);
        return columns;
    }
    std::vector<bool> others(first.size(), false);
    for (const std::size_t column : find_columns(first, form_.ignored, table.path, "ignored"))
        others[column] = true;
    for (const std::size_t column : columns.labels) {
        if (others[column])
            throw bad_file(table.path, fmt::format("column {} is a label, and ignored", column + 1),
                           "correct the dataset's label_columns or label_names, and "
                           "ignored_columns or ignored_names");
        others[column] = true;
    }
    for (std::size_t column = 0; column < first.size(); ++column)
        if (!others[column]) columns.features.push_back(column);
    return columns;
}

void CsvSource::add_group(Table& table, Groups& groups, const TableLine& texts, std::size_t column,
                          std::int64_t line) {
    const std::string_view name = texts[column];
    if (table.samples > 0 && name == groups.last) return;
    if (!groups.names.emplace(name).second)
        throw bad_file(
            fmt::format("{}:{}", table.path, line),
            fmt::format("column {}, the group, is `{}`, and other groups stand between this line "
                        "and those of it above",
                        column + 1, printable(name)),
            "lines of a group stand together, in the order of time: sort the table by the group "
            "first, and by the time second");
    groups.last = name;
    table.groups.push_back(table.samples);
}

void CsvSource::settle_columns(const TableLine& first, const Columns& columns,
                               const std::string& path) {
    const bool classes = form_.kind == plan::LabelKind::classes;
    const bool counted = classes || form_.kind == plan::LabelKind::input;
    const auto given = std::int64_t(columns.labels.size());
    const auto features =
        encoding_.empty() ? std::int64_t(columns.features.size()) : encoding_.width();
    if (!counted && form_.classes == 0) form_.classes = given;
    if (form_.shape.empty() && features > 0 && !finds()) form_.shape = {features, 1, 1};
    const std::int64_t wanted = classes ? 1 : counted ? given : form_.classes;
    if (given != wanted) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{}: dataset.label_columns names {} columns; the plan's samples have {} "
                        "labels",
                        path, given, wanted),
            classes ? "name the one column that the class stands in"
                    : fmt::format("compile the job with --set dataset.classes={}, or name as many "
                                  "columns as there are labels",
                                  given));
    }
    if (finds()) return;  // What the columns become is not known yet.
    if (!encoding_.empty()) check_columns(columns, path);
    if (!form_.shape.empty() && features == element_count(form_.shape)) return;
    throw RunError(
        Exit::mismatch,
        fmt::format("{}: it has {}, {} of them features; dataset.shape [{}] takes {}", path,
                    count_text(std::int64_t(first.size()), "column"), features,
                    fmt::join(form_.shape, ","), element_count(form_.shape)),
        first.size() == 1
            ? fmt::format("columns stand between {} here, as dataset.separator says",
                          form_.separator == ';'    ? "semicolons"
                          : form_.separator == '\t' ? "tabs"
                                                    : "commas")
            : fmt::format("give a table with as many, or compile the job with the right "
                          "dataset.shape, such as [{},1,1], and see dataset.label_columns, "
                          "dataset.ignored_columns and dataset.separator",
                          features));
}

void CsvSource::check_columns(const Columns& columns, const std::string& path) const {
    const std::vector<std::string> names = encoding_.names();
    const std::size_t wanted = encoding_.columns().size(), given = columns.features.size();
    if (given == wanted && (columns.names.empty() || names.empty() || columns.names == names))
        return;
    std::string fact = fmt::format("{} columns of features, and the plan {}", given, wanted);
    for (std::size_t i = 0; given == wanted && i < wanted; ++i)
        if (columns.names[i] != names[i]) {
            fact = fmt::format("the column `{}` where the plan has `{}`",
                               printable(columns.names[i]), printable(names[i]));
            break;
        }
    throw RunError(Exit::mismatch, fmt::format("{}: it has {}", path, fact),
                   "give the table that the job was compiled for, or compile the job again");
}

std::vector<std::size_t> CsvSource::categories_among(const TableLine& first, const Columns& columns,
                                                     const std::string& path) const {
    if (const ColumnFinder* trained = tables_[0].finder.get())
        return trained->categories(columns.features);
    std::vector<std::size_t> categories =
        find_columns(first, form_.encoding.categories, path, "category");
    for (const std::size_t column : categories)
        if (std::find(columns.features.begin(), columns.features.end(), column) ==
            columns.features.end())
            throw bad_file(
                path, fmt::format("column {} is a category, and a label or ignored", column + 1),
                "correct the dataset's category_columns or category_names");
    return categories;
}

void CsvSource::settle_found_shape() {
    const std::int64_t width = tables_[0].finder->width();
    if (form_.shape.empty()) form_.shape = {width, 1, 1};
    if (element_count(form_.shape) == width) return;
    throw RunError(Exit::mismatch,
                   fmt::format("{}: its columns become {} numbers, by their categories and holes; "
                               "dataset.shape [{}] takes {}",
                               tables_[0].path, width, fmt::join(form_.shape, ","),
                               element_count(form_.shape)),
                   fmt::format("leave dataset.shape out, or give [{},1,1]", width));
}

void CsvSource::take_names(const TableLine& first, const Columns& columns) {
    std::vector<std::size_t> both = columns.features;
    both.insert(both.end(), columns.labels.begin(), columns.labels.end());
    feature_names_ = column_names(first, columns.features, both);
    label_names_ = column_names(first, columns.labels, both);
    if (feature_names_.empty() || label_names_.size() != columns.labels.size()) {
        feature_names_.clear();
        label_names_.clear();
    }
    const bool values =
        form_.kind == plan::LabelKind::multiple || form_.kind == plan::LabelKind::values;
    if (!values) return;
    for (const std::string& name : column_names(first, columns.labels, columns.labels))
        class_names_.push_back(printable(name));
}

void CsvSource::check_header(const std::string& path, const TableLine& first,
                             const Columns& columns) const {
    bool counts_up = true;
    std::optional<double> last;
    for (const std::size_t column : columns.features) {
        double value = 0;
        if (parse_number(first[column], form_.encoding.decimal, value) != std::errc()) return;
        counts_up = counts_up && (last ? value == *last + 1 : value == 0 || value == 1);
        last = value;
    }
    if (counts_up) return;
    throw bad_file(path + ":1",
                   "the first line is numbers, as a sample is; with dataset.header it must be the "
                   "columns' names, and is no sample",
                   "compile the job with --set dataset.header=false, or name the columns");
}

}  // namespace dtnn::runtime
