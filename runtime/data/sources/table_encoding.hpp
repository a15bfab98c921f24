#pragma once
/// What the texts of a table's features become among the numbers of a sample: numbers, categories,
/// and what stands for a missing one.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/dataset_choices.hpp"
#include "plan/plan.hpp"
#include "runtime/data/sources/table_columns.hpp"

namespace dtnn::runtime {

/// What a dataset's fields say of the texts among its features.
struct EncodingWish {
    ColumnWish categories;
    plan::CategoryForm form = {};
    plan::Fill missing = {};
    double fill_value = 0;   ///< of plan::Fill::constant
    bool indicator = false;  ///< columns with holes get a number more
    /// Beside the empty text. Of none said, those that programs write for it.
    std::vector<std::string> missing_texts;
    plan::UnknownCategory unknown = {};
    char decimal = '.';  ///< before a number's fraction
    bool wide = false;   ///< numbers may be of 64 bits
    /// No field of the dataset takes texts for categories, or fills in what is missing.
    bool numbers_alone = false;

    bool is_missing(std::string_view text) const;
};

/// Where a text stands.
struct Cell {
    const std::string& path;
    std::int64_t line;
    std::size_t column;          ///< from 0
    std::string_view name = {};  ///< in the header, or empty
    bool label = false;          ///< else it is a feature

    /// "column 3 (`age`)"
    std::string text() const;
    std::string place() const;  ///< "PATH:LINE"
};

/// A finite number, of 32 bits unless they are wide, the whole of the text; else a RunError. A
/// label's column is no category and is not left out.
double number_of(std::string_view text, const Cell& cell, const EncodingWish& wish);

/// The columns of a table that is read for what they are (plan::FeatureColumn).
class ColumnFinder {
  public:
    /// `names`: of the columns `features`, or none; `categories` are some of those.
    ColumnFinder(EncodingWish wish, const std::vector<std::size_t>& features,
                 const std::vector<std::size_t>& categories, std::vector<std::string> names);

    /// The text of a line's column, which is the feature with this index.
    void add(std::size_t feature, std::string_view text, const Cell& cell);

    /// Those of a table's features that are categories, where the same features stand there.
    std::vector<std::size_t> categories(const std::vector<std::size_t>& features) const;
    /// The numbers of a sample.
    std::int64_t width() const;
    /// That a table of other samples, `others`, has no category that this one lacks.
    void check(const ColumnFinder& others, const std::string& path) const;
    /// What is filled in follows from these samples, by their places in the table.
    std::vector<plan::FeatureColumn> columns(std::span<const std::int64_t> samples,
                                             const std::string& path) const;
    std::int64_t bytes() const { return bytes_; }

  private:
    struct Column {
        std::string name;
        std::size_t place = 0;  ///< from 0
        bool category = false;
        std::map<std::string, std::int64_t, std::less<>> values;  ///< and the first line of each
        std::vector<double> numbers;  ///< of every line; what is missing is no number
        bool holes = false;
    };
    plan::FeatureColumn described(const Column& column) const;

    EncodingWish wish_;
    std::vector<Column> columns_;
    std::int64_t bytes_ = 0;
};

/// The columns of a plan, applied.
class TableEncoding {
  public:
    TableEncoding() = default;
    TableEncoding(std::vector<plan::FeatureColumn> columns, EncodingWish wish);

    /// Columns whose features are all numbers, as they are in tables.
    bool empty() const { return columns_.empty(); }
    const std::vector<plan::FeatureColumn>& columns() const { return columns_; }
    std::int64_t width() const;
    /// Whether something missing in the column is no error by itself.
    bool may_miss(std::size_t feature) const {
        return columns_[feature].category || columns_[feature].filled;
    }
    std::int64_t bytes() const;
    /// What the columns are called in the header; none where one has no name there.
    std::vector<std::string> names() const;
    /// What the numbers of a sample are called: "age", "age is missing", "port = C".
    std::vector<std::string> feature_names() const;
    /// Gives the numbers of the text to `take`, in order.
    template <class Take>
    void encode(std::size_t feature, std::string_view text, const Cell& cell,
                const Take& take) const {
        const plan::FeatureColumn& column = columns_[feature];
        const bool missing = wish_.is_missing(text);
        if (!column.category) {
            take(missing && column.filled ? column.fill : number_of(text, cell, wish_));
            if (column.indicator) take(missing ? 1 : 0);
            return;
        }
        const std::int64_t value = category_of(feature, missing ? std::string_view() : text, cell);
        if (!column.one_hot) return take(double(value));
        for (std::int64_t i = 0; i < std::int64_t(column.values.size()); ++i)
            take(i == value ? 1 : 0);
    }

  private:
    /// The number of the value; -1: it is none of them, and that is no error.
    std::int64_t category_of(std::size_t feature, std::string_view text, const Cell& cell) const;

    std::vector<plan::FeatureColumn> columns_;
    EncodingWish wish_;
    std::vector<std::map<std::string, std::int64_t, std::less<>>> values_;  ///< of each column
};

/// The columns of features with something missing, and in how many of the table's samples: "`age`
/// in 177 of 891, `port` in 2". To be said where one was met; reads the table to its end.
std::string missing_counts(const std::string& path, char separator, bool header,
                           const std::vector<std::size_t>& features,
                           const std::vector<std::string>& names, const EncodingWish& wish);

}  // namespace dtnn::runtime
