#include "runtime/data/recognise_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/sources/table_columns.hpp"

namespace dtnn::runtime {
namespace {

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

struct Separator {
    const char* name;
    char sign;
};
constexpr std::array kSeparators = {Separator{"comma", ','}, Separator{"semicolon", ';'},
                                    Separator{"tab", '\t'}};

/// The sign that cuts the first line into most columns.
Separator separator_of(std::string_view line) {
    Separator best = kSeparators[0];
    std::size_t most = 0;
    std::vector<std::string_view> columns;
    std::vector<std::string> room;
    for (const Separator& one : kSeparators) {
        if (!split_columns(line, one.sign, columns, room) || columns.size() <= most) continue;
        most = columns.size();
        best = one;
    }
    return best;
}

constexpr std::size_t kMostClasses = 100;  ///< that a column is taken to hold

/// Calls `see` with the columns of the first lines.
template <class See>
void look_at_lines(const std::string& path, char separator, const See& see) {
    constexpr std::int64_t kLines = 10'000;
    TextLines lines(path);
    std::string_view line;
    TableLine texts;
    std::vector<std::string> room;
    while (lines.number() < kLines && lines.next(line))
        if (!line.empty() && split_columns(line, separator, texts, room)) see(texts);
}

bool is_number(std::string_view text, char decimal) {
    double value = 0;
    return parse_number(text, decimal, value) == std::errc();
}

/// The sign before the fractions of most numbers.
char decimal_of(const std::string& path, char separator) {
    std::int64_t points = 0, commas = 0;
    if (separator == ',') return '.';
    look_at_lines(path, separator, [&](const TableLine& texts) {
        for (const std::string_view text : texts) {
            points += text.find('.') != text.npos && is_number(text, '.') ? 1 : 0;
            commas += text.find(',') != text.npos && is_number(text, ',') ? 1 : 0;
        }
    });
    return commas > points ? ',' : '.';
}

/// The look of the first lines of a column.
struct ColumnLook {
    bool numbers = true;
    bool counts = true;  ///< the lines, from 0 or 1
    double last = -1;
    std::size_t lines = 0;
    std::set<std::string, std::less<>> texts = {};  ///< the first that differ

    void add(std::string_view text, char decimal) {
        double value = 0;
        numbers = numbers && parse_number(text, decimal, value) == std::errc();
        const bool first = last < 0 && value == 1;
        counts = counts && numbers && (first || value == last + 1);
        last = value;
        ++lines;
        if (!numbers && texts.size() <= kMostClasses) texts.emplace(text);
    }
    /// Whether they are texts that come again and again.
    bool classes() const {
        return !numbers && texts.size() <= kMostClasses && texts.size() * 2 <= lines;
    }
};

/// The only column of texts, if these are as classes are; else the last one.
std::size_t label_of(const std::vector<ColumnLook>& columns) {
    std::size_t texts = 0, label = columns.size() - 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].numbers) continue;
        ++texts;
        label = i;
    }
    return texts == 1 && columns[label].classes() ? label : columns.size() - 1;
}

/// The name is one of columns that number the lines of a table.
bool is_called_index(std::string_view name) {
    constexpr std::array kNames = {"", "id", "index", "unnamed: 0", "no", "nr", "#", "row"};
    return std::find(kNames.begin(), kNames.end(), lower(name)) != kNames.end();
}

/// The kind of a table's labels, by those of its first lines.
class LabelGuess {
  public:
    explicit LabelGuess(char decimal) : decimal_(decimal) {}

    void add(std::string_view text) {
        ++samples_;
        double value = -1;
        numbers_ = numbers_ && parse_number(text, decimal_, value) == std::errc();
        whole_ = whole_ && numbers_ && value >= 0 && value <= kMostWhole &&
                 text.find_first_not_of("0123456789") == text.npos;
        least_ = std::min(least_, value);
        if (distinct_.size() <= kMostClasses) distinct_.emplace(text);
    }
    /// Texts are classes, and so are few different whole numbers, each of which comes again.
    bool classes() const {
        return !numbers_ ||
               (whole_ && distinct_.size() <= kMostClasses && distinct_.size() * 2 <= samples_);
    }
    /// The least of whole numbers, where it is above 0.
    std::optional<std::int64_t> begins_late() const {
        if (!numbers_ || !whole_ || samples_ == 0 || least_ < 1) return std::nullopt;
        return std::int64_t(least_);
    }

  private:
    static constexpr double kMostWhole = 1e15;
    char decimal_;
    std::size_t samples_ = 0;
    bool numbers_ = true, whole_ = true;
    double least_ = kMostWhole;
    std::set<std::string, std::less<>> distinct_;
};

/// The table that goes with one of training samples, by one of these words in place of `train`:
/// iris_test.csv with iris_train.csv. Empty: there is none.
std::string table_beside(const std::string& path, std::initializer_list<const char*> words) {
    const std::size_t name = path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1;
    const std::size_t at = path.find("train", name);
    if (at == path.npos) return "";
    for (const char* word : words) {
        for (const char* rest : {"train", "training"}) {
            const std::string_view found(rest);
            if (path.compare(at, found.size(), found) != 0) continue;
            std::string other = path;
            other.replace(at, found.size(), word);
            if (is_there(other)) return other;
        }
    }
    return "";
}

/// Says what the first column is, where it only numbers the lines.
void leave_out_index(const ColumnLook& column, const std::string& name, bool header,
                     RecognisedData& data) {
    if (!column.counts || column.last < 1) return;
    if (!header || !is_called_index(name)) {
        data.remarks.emplace_back(
            "the first column counts the lines; where that says nothing of a sample, "
            "`ignored_columns: [1]` leaves it out");
        return;
    }
    data.fields.emplace_back("ignored_columns", std::vector<std::int64_t>{1});
    data.remarks.push_back(fmt::format(
        "the first column{} counts the lines, and is left out by `ignored_columns`",
        name.empty() ? ", which has no name," : fmt::format(", `{}`,", printable(name))));
}

}  // namespace

RecognisedData recognise_table(const std::string& path) {
    RecognisedData data{.type = "csv", .fields = {{"path", path}}};
    TextLines lines(path);
    std::string_view line;
    if (!lines.next(line)) throw bad_file(path, "the table is empty", "name another file");
    const Separator separator = separator_of(line);
    const char decimal = decimal_of(path, separator.sign);
    bool header = false;
    std::vector<std::string> names;
    std::vector<ColumnLook> columns;
    look_at_lines(path, separator.sign, [&](const TableLine& texts) {
        if (names.empty()) {
            names.assign(texts.begin(), texts.end());
            columns.resize(texts.size());
            header = std::none_of(texts.begin(), texts.end(),
                                  [&](std::string_view text) { return is_number(text, decimal); });
            if (header) return;
        }
        for (std::size_t i = 0; i < columns.size() && texts.size() == columns.size(); ++i)
            columns[i].add(texts[i], decimal);
    });
    if (columns.size() < 2)
        throw bad_file(path, "its first line has one column; a sample has features and a label",
                       "columns stand between commas, semicolons or tabs");
    const std::size_t label = label_of(columns);
    const bool last = label + 1 == columns.size();
    LabelGuess labels(decimal);
    bool is_header = header;
    look_at_lines(path, separator.sign, [&](const TableLine& texts) {
        if (!is_header && texts.size() == columns.size()) labels.add(texts[label]);
        is_header = false;
    });
    const std::string test = table_beside(path, {"test"});
    const std::string validation = table_beside(path, {"val", "valid", "validation"});
    if (const std::string& held = test.empty() ? validation : test; !held.empty()) {
        data.fields.emplace_back("test_path", held);
        if (!test.empty() && !validation.empty())
            data.fields.emplace_back("validation_path", validation);
    } else {
        data.fields.emplace_back("test_share", kTestShare);
    }
    if (separator.sign != ',') data.fields.emplace_back("separator", std::string(separator.name));
    if (decimal == ',') data.fields.emplace_back("decimal", std::string("comma"));
    if (!header) data.fields.emplace_back("header", false);
    const std::vector<std::int64_t> place = {std::int64_t(label) + 1};
    if (!last) data.fields.emplace_back("label_columns", place);
    const bool classes = labels.classes();
    if (!classes) data.fields.emplace_back("label_kind", std::string("values"));
    data.remarks.push_back(fmt::format(
        "{}{} is taken for the label, and holds {}; label_columns, label_names and label_kind say "
        "otherwise",
        last ? "the last column" : fmt::format("column {}, the only one of texts", label + 1),
        header ? fmt::format(", `{}`,", printable(names[label]))
        : last ? ""
               : ",",
        classes ? "classes" : "numbers"));
    if (const auto least = labels.begins_late(); classes && least)
        data.remarks.push_back(fmt::format(
            "classes are numbered from 0, and the labels begin with {}: {} no samples", *least,
            *least == 1 ? "class 0 has" : fmt::format("classes 0 to {} have", *least - 1)));
    if (label != 0 && columns.size() > 2)
        leave_out_index(columns.front(), names.front(), header, data);
    return data;
}

}  // namespace dtnn::runtime
