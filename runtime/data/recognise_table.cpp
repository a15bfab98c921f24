#include "runtime/data/recognise_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/sources/date_text.hpp"
#include "runtime/data/sources/table_columns.hpp"
#include "runtime/data/sources/table_encoding.hpp"

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

/// Calls `see` with the columns of the first lines, the names' first of all.
template <class See>
void look_at_lines(const std::string& path, char separator, const See& see) {
    constexpr std::int64_t kLines = 1'000'000;
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

/// What a column is to be, if it is no label.
enum class ColumnKind { numbers, categories, dates, texts, nothing };

/// The look of a column.
struct ColumnLook {
    std::string name = {};  ///< in the header
    bool numbers = true;    ///< of those that are there
    bool dates = true;      ///< likewise
    bool counts = true;     ///< the lines, from 0 or 1
    double last = -1;
    std::size_t lines = 0;
    std::size_t missing = 0;
    std::set<std::string, std::less<>> texts = {};  ///< the first that differ

    void add(std::string_view text, char decimal) {
        ++lines;
        if (EncodingWish().is_missing(text)) {
            ++missing;
            counts = false;
            return;
        }
        double value = 0;
        const bool number = parse_number(text, decimal, value) == std::errc();
        numbers = numbers && number;
        dates = dates && !number && is_date(text);
        const bool first = last < 0 && value == 1;
        counts = counts && numbers && (first || value == last + 1);
        last = value;
        if (texts.size() <= kMostClasses) texts.emplace(text);
    }
    /// Whether they are texts that come again and again.
    bool classes() const {
        return !numbers && texts.size() <= kMostClasses && texts.size() * 2 <= lines - missing;
    }
    ColumnKind kind() const {
        return missing == lines ? ColumnKind::nothing
               : numbers        ? ColumnKind::numbers
               : dates          ? ColumnKind::dates
               : classes()      ? ColumnKind::categories
                                : ColumnKind::texts;
    }
};

/// The columns of a table as they look.
struct TableLook {
    std::vector<ColumnLook> columns;
    bool header = false;
    char decimal = '.';

    /// Whether these columns are told apart by names that a spec can have.
    bool are_named(const std::vector<std::size_t>& some) const {
        return header && std::all_of(some.begin(), some.end(), [&](std::size_t i) {
                   const std::string& name = columns[i].name;
                   return !name.empty() && name.find("${") == name.npos &&
                          std::count_if(columns.begin(), columns.end(),
                                        [&](const auto& other) { return other.name == name; }) == 1;
               });
    }
    /// "`age`", or "column 3"
    std::string called(std::size_t i) const {
        return header && !columns[i].name.empty() ? fmt::format("`{}`", printable(columns[i].name))
                                                  : fmt::format("column {}", i + 1);
    }
    /// Some of them, for people.
    std::string called(const std::vector<std::size_t>& some) const {
        constexpr std::size_t kMostShown = 10;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min(kMostShown, some.size()); ++i)
            names.push_back(called(some[i]));
        return fmt::format(
            "{}{}", fmt::join(names, ", "),
            some.size() > kMostShown ? fmt::format(" and {} more", some.size() - kMostShown) : "");
    }
};

/// The label's column is known by what it is called.
bool is_called_label(std::string_view name) {
    constexpr std::array kNames = {"label", "labels", "target", "class", "outcome", "y"};
    return std::find(kNames.begin(), kNames.end(), lower(name)) != kNames.end();
}

/// The only column that is called so; else the only one of texts, if these are as classes are; else
/// the last one.
std::size_t label_of(const TableLook& table) {
    const std::vector<ColumnLook>& columns = table.columns;
    const auto only = [&](const auto& is) -> std::optional<std::size_t> {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!is(columns[i])) continue;
            if (found) return std::nullopt;
            found = i;
        }
        return found;
    };
    if (const auto found = only(
            [&](const ColumnLook& column) { return table.header && is_called_label(column.name); }))
        return *found;
    const auto texts = only([](const ColumnLook& column) {
        return column.kind() != ColumnKind::numbers && column.kind() != ColumnKind::nothing;
    });
    return texts && columns[*texts].classes() ? *texts : columns.size() - 1;
}

/// The name is one of columns that number the lines of a table: `id`, `PassengerId`, `row`.
bool is_called_index(std::string_view name) {
    constexpr std::array kNames = {"", "id", "index", "unnamed: 0", "no", "nr", "#", "row"};
    return std::find(kNames.begin(), kNames.end(), lower(name)) != kNames.end() ||
           name.ends_with("Id") || name.ends_with("ID") || name.ends_with("_id");
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

/// What the fields of a spec say of features, in the order in which they are written.
class FeatureFields {
  public:
    FeatureFields(const TableLook& table, const KnownColumns& known, std::size_t label,
                  RecognisedData& data)
        : table_(table), known_(known), data_(data) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (i != label && !is_given(i)) features_.push_back(i);
    }

    void write() {
        leave_out_index();
        leave_out(ColumnKind::dates,
                  "holds dates, and is left out: what matters of them (the month, the days since "
                  "another) is a column of its own",
                  "hold dates, and are left out: what matters of them (the month, the days since "
                  "another) is a column of its own");
        leave_out(ColumnKind::texts,
                  "holds texts of which many come once, and is left out; `category_names` takes it "
                  "for categories",
                  "hold texts of which many come once, and are left out; `category_names` takes "
                  "them for categories");
        leave_out(ColumnKind::nothing, "holds nothing, and is left out",
                  "hold nothing, and are left out");
        say("ignored", std::move(ignored_));
        const std::vector<std::size_t> categories = of_kind(ColumnKind::categories);
        if (!categories.empty())
            data_.remarks.push_back(fmt::format(
                "{} {} texts that come again and again, and {} taken for {}: a number for each "
                "that there is, 1 or 0 (`categories`)",
                table_.called(categories), categories.size() == 1 ? "holds" : "hold",
                categories.size() == 1 ? "is" : "are",
                categories.size() == 1 ? "a category" : "categories"));
        say("category", categories);
        fill_holes();
    }

  private:
    /// Whether the user says what the column is.
    bool is_given(std::size_t i) const {
        const std::vector<std::string>& names = known_.others.names;
        const auto place = std::int64_t(i) + 1, count = std::int64_t(table_.columns.size());
        return std::any_of(
                   known_.others.numbers.begin(), known_.others.numbers.end(),
                   [&](std::int64_t one) { return one == place || one + count + 1 == place; }) ||
               (table_.header &&
                std::find(names.begin(), names.end(), table_.columns[i].name) != names.end());
    }
    std::vector<std::size_t> of_kind(ColumnKind kind) const {
        std::vector<std::size_t> some;
        std::copy_if(features_.begin(), features_.end(), std::back_inserter(some),
                     [&](std::size_t i) { return table_.columns[i].kind() == kind; });
        return some;
    }
    void take_out(const std::vector<std::size_t>& some) {
        ignored_.insert(ignored_.end(), some.begin(), some.end());
        std::erase_if(features_, [&](std::size_t i) {
            return std::find(some.begin(), some.end(), i) != some.end();
        });
    }

    /// Says what the first column is, where it only numbers the lines.
    void leave_out_index() {
        if (features_.size() < 2 || features_.front() != 0) return;
        const ColumnLook& column = table_.columns.front();
        if (!column.counts || column.last < 1) return;
        if (!table_.header || !is_called_index(column.name)) {
            data_.remarks.emplace_back(
                "the first column counts the lines; where that says nothing of a sample, "
                "`ignored_columns: [1]` leaves it out");
            return;
        }
        data_.remarks.push_back(fmt::format("the first column{} counts the lines, and is left out",
                                            column.name.empty()
                                                ? ", which has no name,"
                                                : fmt::format(", `{}`,", printable(column.name))));
        take_out({0});
    }
    void leave_out(ColumnKind kind, const char* one, const char* several) {
        const std::vector<std::size_t> some = of_kind(kind);
        if (some.empty()) return;
        data_.remarks.push_back(
            fmt::format("{} {}", table_.called(some), some.size() == 1 ? one : several));
        take_out(some);
    }
    void say(const std::string& what, std::vector<std::size_t> some) {
        if (some.empty()) return;
        std::sort(some.begin(), some.end());
        if (table_.are_named(some)) {
            std::vector<std::string> names;
            for (const std::size_t i : some)
                names.push_back(table_.columns[i].name);
            data_.texts.emplace_back(what + "_names", std::move(names));
            return;
        }
        std::vector<std::int64_t> places;
        for (const std::size_t i : some)
            places.push_back(std::int64_t(i) + 1);
        data_.fields.emplace_back(what + "_columns", std::move(places));
    }
    void fill_holes() {
        std::vector<std::string> holes;
        bool numbers = false;
        for (const std::size_t i : features_) {
            const ColumnLook& column = table_.columns[i];
            if (column.missing == 0) continue;
            numbers = numbers || column.kind() == ColumnKind::numbers;
            holes.push_back(
                fmt::format("{} in {}{}", table_.called(i), column.missing,
                            holes.empty() ? fmt::format(" of {} lines", column.lines) : ""));
        }
        if (holes.empty() || known_.missing) return;
        constexpr std::size_t kMostShown = 10;
        const std::size_t more = holes.size() - std::min(kMostShown, holes.size());
        holes.resize(holes.size() - more);
        data_.fields.emplace_back("missing", std::string("median"));
        if (numbers) data_.fields.emplace_back("missing_indicator", true);
        data_.remarks.push_back(fmt::format(
            "something is missing: {}{}; {}a category that is missing is one of its own (`missing` "
            "says otherwise)",
            fmt::join(holes, ", "), more > 0 ? fmt::format(" and {} columns more", more) : "",
            numbers
                ? "the median of the training samples fills numbers in, with a column that says "
                  "where; "
                : ""));
    }

    const TableLook& table_;
    const KnownColumns& known_;
    RecognisedData& data_;
    std::vector<std::size_t> features_, ignored_;
};

TableLook look_at(const std::string& path, char separator) {
    TableLook table;
    table.decimal = decimal_of(path, separator);
    look_at_lines(path, separator, [&](const TableLine& texts) {
        if (table.columns.empty()) {
            table.columns.resize(texts.size());
            table.header = std::none_of(texts.begin(), texts.end(), [&](std::string_view text) {
                return is_number(text, table.decimal);
            });
            for (std::size_t i = 0; table.header && i < texts.size(); ++i)
                table.columns[i].name = texts[i];
            if (table.header) return;
        }
        for (std::size_t i = 0; i < table.columns.size() && texts.size() == table.columns.size();
             ++i)
            table.columns[i].add(texts[i], table.decimal);
    });
    return table;
}

/// The label's column: the first that the user says, or the one that looks so.
std::size_t find_label(const TableLook& table, const KnownColumns& known) {
    const auto count = std::int64_t(table.columns.size());
    for (std::size_t i = 0; table.header && !known.labels.names.empty() && i < table.columns.size();
         ++i)
        if (table.columns[i].name == known.labels.names.front()) return i;
    for (const std::int64_t place : known.labels.numbers)
        if (const std::int64_t index = place < 0 ? count + place : place - 1;
            index >= 0 && index < count)
            return std::size_t(index);
    return label_of(table);
}

}  // namespace

RecognisedData recognise_table(const std::string& path, const KnownColumns& known) {
    RecognisedData data{.type = "csv", .fields = {{"path", path}}};
    TextLines lines(path);
    std::string_view line;
    if (!lines.next(line)) throw bad_file(path, "the table is empty", "name another file");
    const Separator separator = separator_of(line);
    const TableLook table = look_at(path, separator.sign);
    const std::vector<ColumnLook>& columns = table.columns;
    if (columns.size() < 2)
        throw bad_file(path, "its first line has one column; a sample has features and a label",
                       "columns stand between commas, semicolons or tabs");
    const std::size_t label = find_label(table, known);
    const bool last = label + 1 == columns.size(), said = !known.labels.empty();
    LabelGuess labels(table.decimal);
    bool is_header = table.header;
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
    if (table.decimal == ',') data.fields.emplace_back("decimal", std::string("comma"));
    if (!table.header) data.fields.emplace_back("header", false);
    if (!last && !said) {
        if (table.are_named({label}))
            data.texts.emplace_back("label_names", std::vector<std::string>{columns[label].name});
        else
            data.fields.emplace_back("label_columns",
                                     std::vector<std::int64_t>{std::int64_t(label) + 1});
    }
    const bool several = known.labels.names.size() + known.labels.numbers.size() > 1;
    const bool guessed = known.label_kind.empty();
    const bool classes = guessed ? labels.classes() && !several : known.label_kind == "classes";
    if (guessed ? !classes : known.label_kind == "values") {
        if (guessed) data.fields.emplace_back("label_kind", std::string("values"));
        data.fields.emplace_back("target_scaling", std::string("standard"));
        data.remarks.emplace_back(
            "the network learns the numbers scaled to a mean of 0 and a deviation of 1 "
            "(`target_scaling`); predictions and metrics are in their own units");
    }
    if (!said)
        data.remarks.push_back(fmt::format(
            "{}{} is taken for the label, and holds {}; label_columns, label_names and label_kind "
            "say otherwise",
            last ? "the last column"
                 : fmt::format("column {}{}", label + 1,
                               table.header && is_called_label(columns[label].name)
                                   ? ""
                                   : ", the only one of texts"),
            table.header ? fmt::format(", `{}`,", printable(columns[label].name))
            : last       ? ""
                         : ",",
            classes ? "classes" : "numbers"));
    if (const auto least = labels.begins_late(); classes && least)
        data.remarks.push_back(fmt::format(
            "classes are numbered from 0, and the labels begin with {}: {} no samples", *least,
            *least == 1 ? "class 0 has" : fmt::format("classes 0 to {} have", *least - 1)));
    FeatureFields(table, known, label, data).write();
    return data;
}

}  // namespace dtnn::runtime
