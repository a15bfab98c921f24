#pragma once
/// Samples out of tables: a line is a sample, some columns are its label, all others its features.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Text as RFC 4180 has it, a table plain or gzip: columns may be quoted, a quote in quotes is
/// doubled, lines end with or without a carriage return, and never within quotes. All is kept in
/// memory. Empty columns, texts among the features, numbers that are not finite, and lines with
/// another number of columns are errors with the line and the column. So is a first line that
/// should be the columns' names and is of numbers among the features, unless they count up by one,
/// as tables have it whose columns were never named.
class CsvSource final : public SampleSource {
  public:
    struct Form {
        plan::Dims shape;          ///< empty: a row of all features
        std::int64_t classes = 0;  ///< 0: as many as there are
        plan::LabelKind kind = plan::LabelKind::classes;
        std::vector<std::int64_t> label_columns;  ///< from 1, or from the end by -1, -2 ...
        std::vector<std::string> label_names;     ///< in the header, in place of them
        bool header = true;
        char separator = ',';
        std::int64_t train_samples = 0;
        std::int64_t test_samples = 0;
        std::int64_t cache = 0;  ///< bytes
        Counts counts = Counts::exact;
        bool wide = false;  ///< features are kept in 64 bits
    };

    /// Where labels are classes they are numbers from 0, or, if any is not, names, which are
    /// numbered in their order. Other labels have the names of their columns. Without `test_path`
    /// there are no test samples.
    CsvSource(const std::string& train_path, const std::string& test_path, Form form);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return of(split).samples; }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> class_names() const override { return class_names_; }
    std::int64_t found_classes() const override { return form_.classes; }
    plan::Dims found_shape() const override { return form_.shape; }

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
    };
    const Table& of(Split split) const { return tables_[split == Split::train ? 0 : 1]; }
    void read(Table& table);
    void reserve(Table& table, std::size_t features) const;
    void add_line(Table& table, const std::vector<std::string_view>& columns,
                  const std::vector<std::size_t>& label_columns, std::int64_t line) const;
    /// The columns of labels, from 0, in a table whose first line this is.
    std::vector<std::size_t> label_columns(const std::vector<std::string_view>& first,
                                           const std::string& path) const;
    /// That these columns, and those that are left, are as many as the form says, or what it says
    /// becomes what they are.
    void settle_columns(std::size_t columns, std::size_t labels, const std::string& path);
    void check_header(const std::string& path, const std::vector<std::string_view>& columns,
                      const std::vector<std::size_t>& label_columns) const;
    void name_values(const std::vector<std::string_view>& columns,
                     const std::vector<std::size_t>& label_columns);
    void number_classes();
    /// As many classes as the labels of all tables say, which are numbers from 0.
    void count_classes();

    Form form_;
    Table tables_[2];
    std::vector<std::string> class_names_;
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
