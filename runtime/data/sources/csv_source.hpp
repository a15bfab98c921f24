#pragma once
/// Samples out of tables: a line is a sample, some columns are its label, all others its features.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/table_columns.hpp"
#include "runtime/data/sources/table_encoding.hpp"

namespace dtnn::runtime {

/// Text as RFC 4180 has it, a table plain or gzip: columns may be quoted, a quote in quotes is
/// doubled, lines end with or without a carriage return, and never within quotes; empty lines may
/// follow the last one. All is kept in memory. Numbers that are not finite, lines with another
/// number of columns and, but for what the encoding takes, texts among the features and holes are
/// errors with the line and the column. So is a first line that should be the columns' names and is
/// of numbers among the features, unless they count up by one, as tables have it whose columns were
/// never named.
///
/// A source of tables. If the training table names its columns, the test table has them by these
/// names, in any order, and others beside them.
///
/// Where columns are categories or holes are filled in, one that is opened by Counts::any looks for
/// what they hold (found_columns) and keeps no features; others want them said (Form::columns).
class CsvSource final : public SampleSource {
  public:
    struct Form {
        Dims shape;                ///< empty: a row of all features
        std::int64_t classes = 0;  ///< 0: as many as there are
        plan::LabelKind kind = plan::LabelKind::classes;
        ColumnWish labels;
        ColumnWish ignored;  ///< neither labels nor features; all others are features
        /// A column of which lines that go together have the same text, one behind another; empty:
        /// all lines go together.
        ColumnWish group;
        /// All features by name, whatever else there is; `model` is the table that has them so.
        std::vector<std::string> feature_names;
        std::string model;
        bool header = true;
        char separator = ',';
        EncodingWish encoding;                     ///< of texts among the features
        bool encodes = false;                      ///< plan::encodes_columns
        std::vector<plan::FeatureColumn> columns;  ///< what that is, by the plan; empty: numbers
        std::int64_t train_samples = 0;
        std::int64_t test_samples = 0;
        std::int64_t cache = 0;  ///< bytes
        Counts counts = Counts::exact;
    };

    /// Opens the tables. Labels that are classes are numbers from 0, or, if any is not, names,
    /// which are numbered in their order. Other labels have the names of their columns. Without
    /// `test_path` there are no test samples.
    CsvSource(const std::string& train_path, const std::string& test_path, Form form);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return of(split).samples; }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> class_names() const override { return class_names_; }
    std::vector<std::string> feature_names() const override {
        return encoding_.empty() ? feature_names_ : encoding_.feature_names();
    }
    std::int64_t found_classes() const override { return form_.classes; }
    Dims found_shape() const override { return form_.shape; }
    std::vector<plan::FeatureColumn> found_columns(
        std::span<const std::int64_t> samples) const override {
        const ColumnFinder* finder = tables_[0].finder.get();
        return finder == nullptr ? encoding_.columns() : finder->columns(samples, tables_[0].path);
    }
    void load_target(Split split, std::int64_t index, SampleArray& target) const override;

    /// Calls `see` with the features of so many lines, one behind another: a span of floats, or of
    /// doubles where they are kept so.
    template <class See>
    void see_lines(Split split, std::int64_t first, std::int64_t lines, const See& see) const {
        const Table& table = of(split);
        const auto width = std::size_t(element_count(form_.shape));
        const std::size_t begin = std::size_t(first) * width, count = std::size_t(lines) * width;
        if (form_.encoding.wide)
            see(std::span(table.wide_features).subspan(begin, count));
        else
            see(std::span(table.features).subspan(begin, count));
    }
    /// The first line of each group of lines, from 0, which are given away.
    std::vector<std::int64_t> take_groups(Split split) {
        return std::move(tables_[split == Split::train ? 0 : 1].groups);
    }
    /// The number of such a line in its file, from 1.
    std::int64_t number_of_line(std::int64_t line) const { return line + 1 + int(form_.header); }

  private:
    struct Table {
        std::string path;  ///< empty: there is none
        std::uint64_t hash = 0;
        std::int64_t samples = 0;
        std::vector<float> features;
        std::vector<double> wide_features;  ///< in place of `features`
        std::vector<std::int32_t> labels;   ///< first the numbers of `names`, in the end classes
        std::vector<double> targets;
        std::map<std::string, std::int32_t, std::less<>> names;
        std::vector<std::int64_t> first_lines;  ///< where each of `names` stands first
        std::size_t label_column = 0;           ///< from 0, where labels are classes
        std::unique_ptr<ColumnFinder> finder;   ///< in place of features
        std::vector<std::int64_t> groups;       ///< the first line of each, from 0
    };
    /// Which columns of a table are what, from 0.
    struct Columns {
        std::vector<std::size_t> features, labels;
        std::vector<std::string> names;  ///< of the features, or none
        std::optional<std::size_t> group;
    };
    /// The groups of lines that have been read.
    struct Groups {
        std::set<std::string, std::less<>> names;
        std::string last;
    };
    const Table& of(Split split) const { return tables_[split == Split::train ? 0 : 1]; }
    void read(Table& table);
    void reserve(Table& table, std::size_t features) const;
    void add_line(Table& table, const TableLine& texts, const Columns& columns,
                  std::int64_t line) const;
    /// Notes where another group begins. One that has been left does not come again.
    static void add_group(Table& table, Groups& groups, const TableLine& texts, std::size_t column,
                          std::int64_t line);
    void add_features(Table& table, const TableLine& texts, const Columns& columns,
                      std::int64_t line) const;
    /// That a feature is missing, which nothing fills in.
    RunError hole(const Table& table, const Columns& columns, const Cell& cell,
                  std::string_view text) const;
    /// Whether the table is read for what its columns are.
    bool finds() const { return form_.encodes && form_.counts == Counts::any && encoding_.empty(); }
    /// Those of a table whose first line this is.
    Columns columns_of(const TableLine& first, const Table& table) const;
    /// That they are as many as the form says, or what it says becomes what they are.
    void settle_columns(const TableLine& first, const Columns& columns, const std::string& path);
    /// That they are those that the plan says what becomes of.
    void check_columns(const Columns& columns, const std::string& path) const;
    /// The features that are categories, from 0.
    std::vector<std::size_t> categories_among(const TableLine& first, const Columns& columns,
                                              const std::string& path) const;
    /// The shape that the columns make which were found, or that they make the one that is said.
    void settle_found_shape();
    void check_header(const std::string& path, const TableLine& first,
                      const Columns& columns) const;
    /// Takes what the training table calls its columns.
    void take_names(const TableLine& first, const Columns& columns);
    void number_classes();
    /// As many classes as the labels of all tables say, which are numbers from 0.
    void count_classes();

    Form form_;
    Table tables_[2];
    std::vector<std::string> class_names_;
    TableEncoding encoding_;
    /// As the training table calls them; both empty where it does not tell them all apart.
    std::vector<std::string> feature_names_, label_names_;
};

/// How the tables of a dataset are written, without sizes: of the type `csv` as its fields say, of
/// others with commas, no labels, and a header unless the first line is numbers.
CsvSource::Form table_form(const plan::Dataset& dataset);

/// Whether the name ends as a table's does: .csv, .tsv, and the same with .gz.
bool is_called_table(std::string_view name);

/// The columns of a table's first line; none of an empty file.
struct CsvFirstLine {
    std::vector<std::string> columns;
};
CsvFirstLine read_first_line(const std::string& path, char separator);

}  // namespace dtnn::runtime
