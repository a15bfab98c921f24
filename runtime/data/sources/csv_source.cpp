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
#include "plan/dataset_types.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

bool whole_number(const std::string& text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CsvSource::CsvSource(const std::string& train_path, const std::string& test_path, Form form)
    : form_(std::move(form)), encoding_(std::move(form_.columns), form_.encoding) {
    if (form_.encodes && encoding_.empty() && form_.counts != Counts::any)
        throw RunError(Exit::mismatch,
                       "the plan does not say what the columns of its table become, of which some "
                       "are categories or have holes filled in",
                       "compile the job again with the dtnnc of this version");
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
    if (tables_[0].finder && tables_[1].finder)
        tables_[0].finder->check(*tables_[1].finder, tables_[1].path);
}

void CsvSource::read(Table& table) {
    TextLines lines(table.path);
    std::string_view line;
    TableLine texts;
    std::vector<std::string> room;
    Columns columns;
    Groups groups;
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
            if (form_.header)
                columns.names = column_names(texts, columns.features, columns.features);
            settle_columns(texts, columns, table.path);
            table.label_column = columns.labels.empty() ? 0 : columns.labels.front();
            if (finds())
                table.finder = std::make_unique<ColumnFinder>(
                    form_.encoding, columns.features, categories_among(texts, columns, table.path),
                    columns.names);
            else
                reserve(table, std::size_t(element_count(form_.shape)));
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
        if (columns.group) add_group(table, groups, texts, *columns.group, lines.number());
        add_line(table, texts, columns, lines.number());
    }
    if (table.samples == 0)
        throw bad_file(table.path, "it has no samples",
                       expected == 0
                           ? "name another table"
                           : "its only line is taken for the columns' names: name another "
                             "table, or see dataset.header");
    if (&table == &tables_[0] && table.finder) settle_found_shape();
    table.features.shrink_to_fit();
    table.wide_features.shrink_to_fit();
    table.labels.shrink_to_fit();
    table.targets.shrink_to_fit();
    if (!columns.group) table.groups.push_back(0);
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
    if (form_.encoding.wide)
        table.wide_features.reserve(samples * features);
    else
        table.features.reserve(samples * features);
    if (form_.kind == plan::LabelKind::classes)
        table.labels.reserve(samples);
    else if (form_.kind != plan::LabelKind::input)
        table.targets.reserve(samples * std::size_t(form_.classes));
}

RunError CsvSource::hole(const Table& table, const Columns& columns, const Cell& cell,
                         std::string_view text) const {
    return bad_file(
        cell.place(),
        fmt::format("{} is {}: the table has holes ({})", cell.text(),
                    text.empty() ? "empty" : fmt::format("`{}`", printable(text)),
                    missing_counts(table.path, form_.separator, form_.header, columns.features,
                                   columns.names, form_.encoding)),
        form_.encoding.numbers_alone
            ? "fill them in before, or leave the column out by ignored_names or ignored_columns; a "
              "line that is taken out is missing in the series"
            : "`missing: median` of the dataset fills holes in (or mean, or constant), "
              "ignored_names or ignored_columns leave a column out; or take the lines out");
}

void CsvSource::add_features(Table& table, const TableLine& texts, const Columns& columns,
                             std::int64_t line) const {
    const auto take = [&](double value) {
        if (form_.encoding.wide)
            table.wide_features.push_back(value);
        else
            table.features.push_back(float(value));
    };
    for (std::size_t i = 0; i < columns.features.size(); ++i) {
        const std::size_t column = columns.features[i];
        const std::string_view text = texts[column];
        const Cell cell{table.path, line, column,
                        columns.names.empty() ? std::string_view() : columns.names[i]};
        const bool may_miss = finds()             ? form_.encoding.missing != plan::Fill::refuse
                              : encoding_.empty() ? false
                                                  : encoding_.may_miss(i);
        if (!may_miss && form_.encoding.is_missing(text)) throw hole(table, columns, cell, text);
        if (table.finder)
            table.finder->add(i, text, cell);
        else if (encoding_.empty())
            take(number_of(text, cell, form_.encoding));
        else
            encoding_.encode(i, text, cell, take);
    }
}

void CsvSource::add_line(Table& table, const TableLine& texts, const Columns& columns,
                         std::int64_t line) const {
    add_features(table, texts, columns, line);
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
        const double value = number_of(
            texts[column], {.path = table.path, .line = line, .column = column, .label = true},
            form_.encoding);
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
        if (form_.encoding.wide)
            copy(table.wide_features);
        else
            copy(table.features);
    });
    load_target(split, index, sample.target());
}

void CsvSource::load_target(Split split, std::int64_t index, SampleArray& target) const {
    const Table& table = of(split);
    if (form_.kind == plan::LabelKind::input) return;
    if (form_.kind == plan::LabelKind::classes) {
        target.set_class(table.labels[std::size_t(index)]);
        return;
    }
    const auto row = table.targets.begin() + index * form_.classes;
    target.doubles.assign(row, row + form_.classes);
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
        if (table.finder) bytes += std::size_t(table.finder->bytes());
    }
    return std::int64_t(bytes) + encoding_.bytes();
}

CsvSource::Form table_form(const plan::Dataset& dataset) {
    CsvSource::Form form;
    EncodingWish& encoding = form.encoding;
    form.columns = dataset.columns;
    form.encodes = plan::encodes_columns(dataset);
    form.labels.names = dataset.label_names;
    form.ignored.names = dataset.ignored_names;
    encoding.categories.names = dataset.category_names;
    encoding.missing_texts = dataset.missing_texts;
    const auto take = [&](const char* name, auto& value) {
        const auto found = dataset.attributes.find(name);
        if (found == dataset.attributes.end()) return;
        using Value = std::remove_reference_t<decltype(value)>;
        if (const auto* given = std::get_if<Value>(&found->second)) value = *given;
    };
    const auto choose = [&](const char* name, auto& value) {
        value = choice<std::remove_reference_t<decltype(value)>>(dataset.attributes, name)
                    .value_or(value);
    };
    take("category_columns", encoding.categories.numbers);
    choose("categories", encoding.form);
    choose("missing", encoding.missing);
    take("fill_value", encoding.fill_value);
    take("missing_indicator", encoding.indicator);
    choose("unknown_categories", encoding.unknown);
    take("label_columns", form.labels.numbers);
    take("ignored_columns", form.ignored.numbers);
    take("header", form.header);
    plan::Separator separator = {};
    plan::DecimalMark decimal = {};
    choose("separator", separator);
    choose("decimal", decimal);
    form.separator = sign_of(separator);
    encoding.decimal = sign_of(decimal);
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

SourceType csv_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked& asked) -> Source {
        CsvSource::Form form = table_form(dataset);
        form.shape = stored_shape(dataset);
        form.classes = classes_of(dataset);
        form.kind = dataset.target().kind;
        form.train_samples = source_train_samples(dataset);
        form.test_samples = dataset.test_samples;
        form.cache = cache_of(dataset);
        form.counts = asked.counts;
        form.encoding.wide = asked.numbers == DType::f64;
        return std::make_unique<CsvSource>(path_of(dataset), test_path_of(dataset), form);
    }};
}

}  // namespace dtnn::runtime
