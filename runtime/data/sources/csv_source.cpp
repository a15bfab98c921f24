#include "runtime/data/sources/csv_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/formats/text_lines.hpp"

namespace dtnn::runtime {
namespace {

/// A finite number, of 32 bits unless they are wide, the whole of the column.
double number(std::string_view text, const std::string& path, std::int64_t line, std::size_t column,
              const CsvSource::Form& form) {
    const auto fail = [&](const std::string& fact, const char* help) {
        return bad_file(fmt::format("{}:{}", path, line),
                        fmt::format("column {} {}", column + 1, fact), help);
    };
    if (text.empty()) {
        throw fail("is empty: the table has a hole",
                   "fill it in, or take the line out; nothing is made up for what is missing");
    }
    double value = 0;
    const std::errc error = parse_number(text, form.decimal, value);
    if (error == std::errc::result_out_of_range) {
        throw fail(fmt::format("is `{}`, which is beyond the numbers", printable(text)),
                   "correct the number");
    }
    if (error != std::errc()) {
        const bool point = form.decimal == '.';
        double unused = 0;
        const bool other = parse_number(text, point ? ',' : '.', unused) == std::errc();
        throw fail(
            fmt::format("is `{}`, not a number", printable(text)),
            other && point ? "a comma before a number's fraction is read with `decimal: comma` "
                             "in the dataset"
            : other        ? "the dataset has `decimal: comma`; without it a point is read"
                    : "features are numbers; leave the column out by dataset.ignored_columns "
                      "or ignored_names, or number its texts, and see dataset.header and "
                      "dataset.separator");
    }
    if (!std::isfinite(value) || (!form.wide && std::abs(value) > 3e38))
        throw fail(fmt::format("is `{}`, not a finite {}-bit number", printable(text),
                               form.wide ? 64 : 32),
                   "correct the number, or take the line out");
    return value;
}

bool whole_number(const std::string& text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CsvSource::CsvSource(const std::string& train_path, const std::string& test_path, Form form)
    : form_(std::move(form)) {
    tables_[0].path = train_path;
    tables_[1].path = test_path;
    for (Table& table : tables_)
        if (!table.path.empty()) read(table);
    const std::int64_t train = tables_[0].samples, test = tables_[1].samples;
    const bool at_most = form_.counts == Counts::at_most;
    const auto right = [&](std::int64_t found, std::int64_t wanted) {
        return form_.counts == Counts::any || found == wanted || (at_most && found < wanted);
    };
    if (!right(train, form_.train_samples) || !right(test, form_.test_samples)) {
        const std::string second =
            test_path.empty() ? "" : fmt::format(" and {} has {}", test_path, test);
        throw RunError(
            Exit::mismatch,
            fmt::format("{} has {} samples{}; the plan expects {}{} and {}", train_path, train,
                        second, at_most ? "at most " : "", form_.train_samples, form_.test_samples),
            fmt::format("if the tables are right, compile the job with --set "
                        "dataset.train_samples={} --set dataset.test_samples={}",
                        train, test));
    }
    if (form_.kind == plan::LabelKind::classes) number_classes();
}

CsvSource::Columns CsvSource::columns_of(const TableLine& first, const Table& table) const {
    // The test table's are found by the names that the training table has.
    const bool named = &table != &tables_[0] && !feature_names_.empty();
    const ColumnWish features = {named ? feature_names_ : form_.feature_names, {}};
    const ColumnWish labels = named ? ColumnWish{label_names_, {}} : form_.labels;
    const std::string& model = named ? tables_[0].path : form_.model;
    Columns columns;
    columns.labels = find_columns(first, labels, table.path, "label", named ? model : "");
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

void CsvSource::settle_columns(const TableLine& first, const Columns& columns,
                               const std::string& path) {
    const bool classes = form_.kind == plan::LabelKind::classes;
    const bool counted = classes || form_.kind == plan::LabelKind::input;
    const auto given = std::int64_t(columns.labels.size()),
               features = std::int64_t(columns.features.size());
    if (!counted && form_.classes == 0) form_.classes = given;
    if (form_.shape.empty() && features > 0) form_.shape = {features, 1, 1};
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

void CsvSource::read(Table& table) {
    TextLines lines(table.path);
    std::string_view line;
    TableLine texts;
    std::vector<std::string> room;
    Columns columns;
    std::size_t expected = 0;
    std::int64_t empty = 0;  // where the first of the empty lines is
    ContentHash hash;
    while (lines.next(line)) {
        if (line.empty()) {
            if (empty == 0) empty = lines.number();
            continue;
        }
        if (empty > 0)
            throw bad_file(fmt::format("{}:{}", table.path, empty),
                           "the line is empty: the table has a hole", "take the line out");
        const std::string place = fmt::format("{}:{}", table.path, lines.number());
        if (!split_columns(line, form_.separator, texts, room))
            throw bad_file(place, "a quote does not end, or text follows it", "correct the line");
        hash.add(line);
        if (expected == 0) {
            expected = texts.size();
            columns = columns_of(texts, table);
            settle_columns(texts, columns, table.path);
            table.label_column = columns.labels.empty() ? 0 : columns.labels.front();
            reserve(table, columns.features.size());
            if (form_.header) {
                check_header(table.path, texts, columns);
                if (&table == &tables_[0]) take_names(texts, columns);
                continue;
            }
        }
        if (texts.size() != expected) {
            throw bad_file(
                place,
                fmt::format("it has {} columns; the first line has {}", texts.size(), expected),
                "correct the line");
        }
        add_line(table, texts, columns, lines.number());
    }
    if (table.samples == 0)
        throw bad_file(table.path, "it has no samples",
                       expected == 0
                           ? "name another table"
                           : "its only line is taken for the columns' names: name another "
                             "table, or see dataset.header");
    table.features.shrink_to_fit();
    table.wide_features.shrink_to_fit();
    table.labels.shrink_to_fit();
    table.targets.shrink_to_fit();
    table.hash = hash.value();
}

// Tables as long as the plan says take just what it has booked.
void CsvSource::reserve(Table& table, std::size_t features) const {
    // Beyond that they grow with what is read: a plan may promise any number of lines.
    constexpr std::int64_t kMostReserved = std::int64_t{1} << 30;
    const std::int64_t lines = &table == &tables_[0] ? form_.train_samples : form_.test_samples;
    const std::int64_t numbers =
        saturating_product({lines, std::int64_t(features) + form_.classes});
    if (lines < 1 || saturating_product({numbers, std::int64_t(sizeof(double))}) > kMostReserved)
        return;
    const auto samples = std::size_t(lines);
    if (form_.wide)
        table.wide_features.reserve(samples * features);
    else
        table.features.reserve(samples * features);
    if (form_.kind == plan::LabelKind::classes)
        table.labels.reserve(samples);
    else if (form_.kind != plan::LabelKind::input)
        table.targets.reserve(samples * std::size_t(form_.classes));
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
        if (parse_number(first[column], form_.decimal, value) != std::errc()) return;
        counts_up = counts_up && (last ? value == *last + 1 : value == 0 || value == 1);
        last = value;
    }
    if (counts_up) return;
    throw bad_file(path + ":1",
                   "the first line is numbers, as a sample is; with dataset.header it must be the "
                   "columns' names, and is no sample",
                   "compile the job with --set dataset.header=false, or name the columns");
}

void CsvSource::add_line(Table& table, const TableLine& texts, const Columns& columns,
                         std::int64_t line) const {
    for (const std::size_t column : columns.features) {
        const double value = number(texts[column], table.path, line, column, form_);
        if (form_.wide)
            table.wide_features.push_back(value);
        else
            table.features.push_back(float(value));
    }
    for (const std::size_t column : columns.labels) {
        if (form_.kind == plan::LabelKind::input) break;  // nobody asks for them
        if (form_.kind == plan::LabelKind::classes) {
            if (texts[column].empty()) {
                throw bad_file(fmt::format("{}:{}", table.path, line),
                               fmt::format("column {}, the label, is empty", column + 1),
                               "every sample has a label; take the line out");
            }
            const auto next = std::int32_t(table.names.size());
            const auto found = table.names.emplace(texts[column], next).first;
            table.labels.push_back(found->second);
            if (found->second == next) table.first_lines.push_back(line);
            continue;
        }
        const double value = number(texts[column], table.path, line, column, form_);
        if (form_.kind == plan::LabelKind::multiple && value != 0 && value != 1) {
            throw bad_file(
                fmt::format("{}:{}", table.path, line),
                fmt::format("column {}, a label, is {}; it must be 0 or 1", column + 1, value),
                "for real numbers compile the job with dataset.label_kind=values");
        }
        table.targets.push_back(value);
    }
    ++table.samples;
    if (table.samples % 1024 != 0 || resident_bytes() <= form_.cache) return;
    const auto [taken, cache] = unlike_bytes_text(double(resident_bytes()), double(form_.cache));
    throw bad_file(table.path,
                   fmt::format("its first {} samples take {} in memory; dataset.cache is {}",
                               table.samples, taken, cache),
                   "compile the job with a larger dataset.cache");
}

void CsvSource::number_classes() {
    const auto is_number = [&](const auto& entry) {
        std::int64_t value = 0;
        return whole_number(entry.first, value);
    };
    const auto& trained = tables_[0].names;
    const bool numbers = std::all_of(trained.begin(), trained.end(), is_number);
    std::map<std::string, std::int32_t, std::less<>> classes;
    if (!numbers) {
        for (const auto& [name, unused] : trained) {
            classes.emplace(name, std::int32_t(class_names_.size()));
            class_names_.push_back(printable(name));
        }
        if (form_.classes == 0) form_.classes = std::int64_t(classes.size());
        if (std::int64_t(classes.size()) != form_.classes) {
            throw RunError(Exit::mismatch,
                           fmt::format("{} has {} classes; the plan expects {}", tables_[0].path,
                                       classes.size(), form_.classes),
                           fmt::format("compile the job with --set dataset.classes={}, or see "
                                       "dataset.label_columns",
                                       classes.size()));
        }
    }
    if (form_.classes == 0) count_classes();
    for (Table& table : tables_) {
        std::vector<std::int32_t> renumbered(table.names.size());
        for (const auto& [name, first] : table.names) {
            std::int64_t value = -1;
            if (numbers) {
                if (!whole_number(name, value)) value = -1;
            } else if (const auto found = classes.find(name); found != classes.end()) {
                value = found->second;
            }
            if (value < 0 || value >= form_.classes) {
                throw bad_file(
                    fmt::format("{}:{}", table.path, table.first_lines[std::size_t(first)]),
                    fmt::format("column {}, the label, is `{}`{}", table.label_column + 1,
                                printable(name),
                                numbers ? fmt::format("; labels are 0 to {}", form_.classes - 1)
                                        : ", which no training sample has"),
                    "correct the table, or compile the job with the right dataset.classes");
            }
            renumbered[std::size_t(first)] = std::int32_t(value);
        }
        for (std::int32_t& label : table.labels)
            label = renumbered[std::size_t(label)];
        table.names.clear();
        table.first_lines = {};
    }
}

void CsvSource::count_classes() {
    constexpr std::int64_t kMost = 1'000'000;
    for (const Table& table : tables_) {
        for (const auto& [name, first] : table.names) {
            std::int64_t value = -1;
            if (whole_number(name, value) && value < kMost) {
                form_.classes = std::max(form_.classes, value + 1);
                continue;
            }
            throw bad_file(fmt::format("{}:{}", table.path, table.first_lines[std::size_t(first)]),
                           fmt::format("column {}, the label, is `{}`, no class",
                                       table.label_column + 1, printable(name)),
                           "classes are numbers from 0, or names; for real numbers give the "
                           "dataset `label_kind: values`");
        }
    }
}

void CsvSource::load(Split split, std::int64_t index, Sample& sample) const {
    const Table& table = of(split);
    sample.input().fill(form_.shape, [&](auto elements) {
        using Real = typename decltype(elements)::value_type;
        const auto copy = [&](const auto& features) {
            const auto from = features.begin() + index * std::int64_t(elements.size());
            std::transform(
                from, from + std::int64_t(elements.size()), elements.begin(), [&](auto value) {
                    if (double(std::abs(value)) <= double(std::numeric_limits<Real>::max()))
                        return Real(value);
                    // Kept in 64 bits, and asked for by steps that take 32.
                    throw bad_file(name_of(split, index),
                                   fmt::format("it holds {}, which transforms, of 32 "
                                               "bits, cannot take",
                                               value),
                                   "leave out the transforms, or scale the table");
                });
        };
        if (form_.wide)
            copy(table.wide_features);
        else
            copy(table.features);
    });
    if (form_.kind == plan::LabelKind::input) return;
    if (form_.kind == plan::LabelKind::classes) {
        sample.target().set_class(table.labels[std::size_t(index)]);
    } else {
        const auto row = table.targets.begin() + index * form_.classes;
        sample.target().doubles.assign(row, row + form_.classes);
    }
}

std::string CsvSource::name_of(Split split, std::int64_t index) const {
    return fmt::format("{}, sample {}", of(split).path, index);
}

std::uint64_t CsvSource::content_hash() const {
    // The hash is of the text, so that it is the same whatever the numbers are kept in.
    ContentHash hash;
    for (const Table& table : tables_)
        hash.add(table.hash);
    return hash.value();
}

std::int64_t CsvSource::resident_bytes() const {
    std::size_t bytes = 0;
    for (const Table& table : tables_) {
        bytes += table.features.capacity() * sizeof(float) +
                 table.wide_features.capacity() * sizeof(double) +
                 table.labels.capacity() * sizeof(std::int32_t) +
                 table.targets.capacity() * sizeof(double);
        for (const auto& [name, number] : table.names)
            bytes += name.capacity() + 80;  // a node of the map
        bytes += table.first_lines.capacity() * sizeof(std::int64_t);
    }
    return std::int64_t(bytes);
}

CsvSource::Form table_form(const plan::Dataset& dataset) {
    CsvSource::Form form;
    form.labels.names = dataset.label_names;
    form.ignored.names = dataset.ignored_names;
    const auto take = [&](const char* name, auto& value) {
        const auto found = dataset.attributes.find(name);
        if (found == dataset.attributes.end()) return;
        using Value = std::remove_reference_t<decltype(value)>;
        if (const auto* given = std::get_if<Value>(&found->second)) value = *given;
    };
    std::string separator, decimal;
    take("label_columns", form.labels.numbers);
    take("ignored_columns", form.ignored.numbers);
    take("header", form.header);
    take("separator", separator);
    take("decimal", decimal);
    form.separator = separator_sign(separator);
    form.decimal = decimal_sign(decimal);
    return form;
}

bool is_called_table(std::string_view name) {
    for (const char* end : {".csv", ".tsv", ".csv.gz", ".tsv.gz"})
        if (name.ends_with(end)) return true;
    return false;
}

CsvFirstLine read_first_line(const std::string& path, char separator) {
    TextLines lines(path);
    std::string_view line;
    CsvFirstLine first;
    if (!lines.next(line)) return first;
    std::vector<std::string_view> columns;
    std::vector<std::string> room;
    if (!split_columns(line, separator, columns, room))
        throw bad_file(path + ":1", "a quote does not end, or text follows it", "correct the line");
    first.columns.assign(columns.begin(), columns.end());
    return first;
}

}  // namespace dtnn::runtime
