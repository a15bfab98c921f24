#include "runtime/data/sources/table_encoding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/utf8.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/sources/date_text.hpp"

namespace dtnn::runtime {
namespace {

/// What tables are written with where something is missing: by pandas, R, SQL, spreadsheets.
constexpr std::array<std::string_view, 11> kMissingTexts = {
    "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?"};

constexpr std::size_t kMostValues = 1000;  ///< of a category, of which each is a number
constexpr std::size_t kMostNumbered = 100'000;

/// Numbers come before texts, and in their order.
bool comes_before(const std::string& a, const std::string& b) {
    double first = 0, second = 0;
    const bool numbers[] = {parse_number(a, '.', first) == std::errc(),
                            parse_number(b, '.', second) == std::errc()};
    if (numbers[0] && numbers[1] && first != second) return first < second;
    return numbers[0] == numbers[1] ? a < b : numbers[0];
}

std::string called(const std::string& name, std::size_t place) {
    return name.empty() ? fmt::format("column {}", place + 1)
                        : fmt::format("`{}`", printable(name));
}

double median_of(std::vector<double> numbers) {
    const auto middle = numbers.begin() + std::ptrdiff_t(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    if (numbers.size() % 2 == 1) return *middle;
    return *std::max_element(numbers.begin(), middle) / 2 + *middle / 2;
}

double mean_of(const std::vector<double>& numbers) {
    double mean = 0;  // by steps, so that large numbers do not overflow
    for (std::size_t i = 0; i < numbers.size(); ++i)
        mean += (numbers[i] - mean) / double(i + 1);
    return mean;
}

}  // namespace

bool EncodingWish::is_missing(std::string_view text) const {
    const auto among = [&](const auto& texts) {
        return std::find(texts.begin(), texts.end(), text) != texts.end();
    };
    return text.empty() || (missing_texts.empty() ? among(kMissingTexts) : among(missing_texts));
}

std::string Cell::text() const {
    return name.empty() ? fmt::format("column {}", column + 1)
                        : fmt::format("column {} (`{}`)", column + 1, printable(name));
}

std::string Cell::place() const {
    return fmt::format("{}:{}", path, line);
}

double number_of(std::string_view text, const Cell& cell, const EncodingWish& wish) {
    const auto fail = [&](const std::string& fact, const std::string& help) {
        return bad_file(cell.place(), fmt::format("{} {}", cell.text(), fact), help);
    };
    if (text.empty())
        throw fail("is empty: the table has a hole", "fill it in, or take the line out");
    double value = 0;
    const std::errc error = parse_number(text, wish.decimal, value);
    if (error == std::errc::result_out_of_range)
        throw fail(fmt::format("is `{}`, which is beyond the numbers", printable(text)),
                   "correct the number");
    if (error != std::errc()) {
        const bool point = wish.decimal == '.';
        double unused = 0;
        const bool other = parse_number(text, point ? ',' : '.', unused) == std::errc();
        const std::string own = cell.name.empty()
                                    ? fmt::format("_columns: [{}]", cell.column + 1)
                                    : fmt::format("_names: [{}]", printable(cell.name));
        if (cell.label && !other)
            throw fail(fmt::format("is `{}`, not a number", printable(text)),
                       "labels are numbers, as the dataset's label_kind says; see its "
                       "label_columns, label_names, header and separator, too");
        if (is_date(text) && !other)
            throw fail(fmt::format("is `{}`, a date", printable(text)),
                       fmt::format("`ignored{0}` of the dataset leaves it out; what matters of it "
                                   "(the month, the days since another) is a column of its own",
                                   own));
        throw fail(
            fmt::format("is `{}`, not a number", printable(text)),
            other && point ? "a comma before a number's fraction is read with `decimal: comma` "
                             "in the dataset"
            : other        ? "the dataset has `decimal: comma`; without it a point is read"
            : wish.numbers_alone
                ? fmt::format("`ignored{}` of the dataset leaves the column out; see "
                              "dataset.header and dataset.separator, too",
                              own)
                : fmt::format("`category{0}` of the dataset takes the column's texts for "
                              "categories, `ignored{0}` leaves it out; see dataset.header and "
                              "dataset.separator, too",
                              own));
    }
    if (!std::isfinite(value) || (!wish.wide && std::abs(value) > 3e38))
        throw fail(fmt::format("is `{}`, not a finite {}-bit number", printable(text),
                               wish.wide ? 64 : 32),
                   "correct the number, or take the line out");
    return value;
}

// ---- finding

ColumnFinder::ColumnFinder(EncodingWish wish, const std::vector<std::size_t>& features,
                           const std::vector<std::size_t>& categories,
                           std::vector<std::string> names)
    : wish_(std::move(wish)) {
    for (std::size_t i = 0; i < features.size(); ++i) {
        Column& column = columns_.emplace_back();
        if (!names.empty()) column.name = std::move(names[i]);
        column.place = features[i];
        column.category =
            std::find(categories.begin(), categories.end(), features[i]) != categories.end();
    }
    bytes_ = std::int64_t(columns_.size() * sizeof(Column));
}

void ColumnFinder::add(std::size_t feature, std::string_view text, const Cell& cell) {
    Column& column = columns_[feature];
    const bool missing = wish_.is_missing(text);
    if (!column.category) {
        const bool filled = missing && wish_.missing != plan::Fill::refuse;
        const double value =
            filled ? std::numeric_limits<double>::quiet_NaN() : number_of(text, cell, wish_);
        column.holes = column.holes || filled;
        if (wish_.missing != plan::Fill::mean && wish_.missing != plan::Fill::median) return;
        column.numbers.push_back(value);
        bytes_ += std::int64_t(sizeof(double));
        return;
    }
    const std::string_view value = missing ? std::string_view() : text;
    if (column.values.find(value) != column.values.end()) return;
    const bool one_hot = wish_.form == plan::CategoryForm::one_hot;
    const std::size_t most = one_hot ? kMostValues : kMostNumbered;
    if (column.values.size() == most)
        throw bad_file(
            cell.place(),
            fmt::format("{}, which holds categories, has more than {} of them", cell.text(), most),
            one_hot ? "`categories: number` makes one number of a column; a column of names "
                      "or numbers of samples is left out by ignored_names"
                    : "a column of names or numbers of samples is left out by ignored_names");
    column.values.emplace(value, cell.line);
    bytes_ += plan::kept_text_bytes(value);
}

plan::FeatureColumn ColumnFinder::described(const Column& column) const {
    plan::FeatureColumn result;
    result.name = column.name;
    if (column.name.empty()) result.place = std::int64_t(column.place) + 1;
    result.category = column.category;
    result.one_hot = column.category && wish_.form == plan::CategoryForm::one_hot;
    result.filled = !column.category && wish_.missing != plan::Fill::refuse;
    result.indicator = result.filled && wish_.indicator && column.holes;
    for (const auto& [value, unused] : column.values)
        result.values.push_back(value);
    std::sort(result.values.begin(), result.values.end(), comes_before);
    return result;
}

std::vector<std::size_t> ColumnFinder::categories(const std::vector<std::size_t>& features) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < std::min(features.size(), columns_.size()); ++i)
        if (columns_[i].category) result.push_back(features[i]);
    return result;
}

std::int64_t ColumnFinder::width() const {
    std::int64_t width = 0;
    for (const Column& column : columns_)
        width += described(column).width();
    return width;
}

void ColumnFinder::check(const ColumnFinder& others, const std::string& path) const {
    if (wish_.unknown == plan::UnknownCategory::zeros) return;
    for (std::size_t i = 0; i < columns_.size() && i < others.columns_.size(); ++i) {
        const TableEncoding known({described(columns_[i])}, wish_);
        const Column& other = others.columns_[i];
        for (const auto& [value, line] : other.values)
            known.encode(0, value, {path, line, other.place, other.name}, [](double) {});
    }
}

std::vector<plan::FeatureColumn> ColumnFinder::columns(std::span<const std::int64_t> samples,
                                                       const std::string& path) const {
    std::vector<plan::FeatureColumn> result;
    for (const Column& column : columns_) {
        plan::FeatureColumn& one = result.emplace_back(described(column));
        if (!one.filled) continue;
        one.fill = wish_.fill_value;
        if (wish_.missing == plan::Fill::constant) continue;
        std::vector<double> numbers;
        numbers.reserve(samples.size());
        for (const std::int64_t sample : samples)
            if (const double number = column.numbers[std::size_t(sample)]; !std::isnan(number))
                numbers.push_back(number);
        if (numbers.empty())
            throw bad_file(path,
                           fmt::format("{} is missing in every training sample",
                                       called(column.name, column.place)),
                           "leave the column out by dataset.ignored_names or ignored_columns");
        one.fill =
            wish_.missing == plan::Fill::mean ? mean_of(numbers) : median_of(std::move(numbers));
    }
    return result;
}

// ---- applying

TableEncoding::TableEncoding(std::vector<plan::FeatureColumn> columns, EncodingWish wish)
    : columns_(std::move(columns)), wish_(std::move(wish)) {
    for (const plan::FeatureColumn& column : columns_) {
        auto& values = values_.emplace_back();
        for (const std::string& value : column.values)
            values.emplace(value, std::int64_t(values.size()));
    }
}

std::int64_t TableEncoding::width() const {
    std::int64_t width = 0;
    for (const plan::FeatureColumn& column : columns_)
        width += column.width();
    return width;
}

std::int64_t TableEncoding::bytes() const {
    return plan::encoding_bytes(columns_);
}

std::vector<std::string> TableEncoding::names() const {
    std::vector<std::string> names;
    for (const plan::FeatureColumn& column : columns_) {
        if (column.name.empty()) return {};
        names.push_back(column.name);
    }
    return names;
}

std::vector<std::string> TableEncoding::feature_names() const {
    std::vector<std::string> names;
    for (const plan::FeatureColumn& column : columns_) {
        const std::string name =
            column.name.empty() ? fmt::format("column {}", column.place) : column.name;
        if (column.category && column.one_hot) {
            for (const std::string& value : column.values)
                names.push_back(value.empty() ? name + " is missing"
                                              : fmt::format("{} = {}", name, value));
            continue;
        }
        names.push_back(name);
        if (column.indicator) names.push_back(name + " is missing");
    }
    return names;
}

std::int64_t TableEncoding::category_of(std::size_t feature, std::string_view text,
                                        const Cell& cell) const {
    const auto found = values_[feature].find(text);
    if (found != values_[feature].end()) return found->second;
    const plan::FeatureColumn& column = columns_[feature];
    if (wish_.unknown == plan::UnknownCategory::zeros && column.one_hot) return -1;
    constexpr std::size_t kMostShown = 10;
    std::vector<std::string> values;
    for (std::size_t i = 0; i < std::min(kMostShown, column.values.size()); ++i)
        values.push_back(column.values[i].empty()
                             ? "nothing"
                             : fmt::format("`{}`", printable(column.values[i])));
    if (column.values.size() > kMostShown)
        values.push_back(fmt::format("{} more", column.values.size() - kMostShown));
    throw bad_file(
        cell.place(),
        fmt::format("{} is {}, which no training sample has", cell.text(),
                    text.empty() ? "missing" : fmt::format("`{}`", printable(text))),
        fmt::format(
            "it is one of {}; correct the table{}", fmt::join(values, ", "),
            column.one_hot ? ", or compile the job with dataset.unknown_categories=zeros" : ""));
}

std::string missing_counts(const std::string& path, char separator, bool header,
                           const std::vector<std::size_t>& features,
                           const std::vector<std::string>& names, const EncodingWish& wish) {
    std::vector<std::int64_t> counts(features.size());
    std::int64_t samples = header ? -1 : 0;
    TextLines lines(path);
    std::string_view line;
    TableLine texts;
    std::vector<std::string> room;
    while (lines.next(line)) {
        if (line.empty() || !split_columns(line, separator, texts, room)) continue;
        if (++samples == 0) continue;
        for (std::size_t i = 0; i < features.size(); ++i)
            if (features[i] < texts.size() && wish.is_missing(texts[features[i]])) ++counts[i];
    }
    constexpr std::size_t kMostShown = 10;
    std::vector<std::string> shown;
    std::size_t more = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (counts[i] == 0) continue;
        if (shown.size() == kMostShown)
            ++more;
        else
            shown.push_back(fmt::format(
                "{} in {}{}", called(names.empty() ? std::string() : names[i], features[i]),
                counts[i], shown.empty() ? fmt::format(" of {} lines", samples) : ""));
    }
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       more > 0 ? fmt::format(" and {} columns more", more) : "");
}

}  // namespace dtnn::runtime
