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
        plan::Dims shape;
        std::int64_t classes = 0;
        plan::LabelKind kind = plan::LabelKind::classes;
        std::vector<std::int64_t> label_columns;  ///< from 1, or from the end by -1, -2 ...
        bool header = true;
        char separator = ',';
        std::int64_t train_samples = 0;
        std::int64_t test_samples = 0;
        std::int64_t cache = 0;  ///< bytes
        bool at_most = false;    ///< there may be fewer samples
        bool wide = false;       ///< features are kept in 64 bits
    };

    /// Where labels are classes they are numbers from 0, or, if any is not, names, which are
    /// numbered in their order.
    CsvSource(const std::string& train_path, const std::string& test_path, Form form);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return of(split).samples; }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> class_names() const override { return class_names_; }

  private:
    struct Table {
        std::string path;
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
    void read(Table& table) const;
    void reserve(Table& table, std::size_t features) const;
    void add_line(Table& table, const std::vector<std::string_view>& columns,
                  const std::vector<std::size_t>& label_columns, std::int64_t line) const;
    /// The columns of labels, from 0, in a table of so many columns.
    std::vector<std::size_t> label_columns(std::size_t columns, const std::string& path) const;
    void check_header(const std::string& path, const std::vector<std::string_view>& columns,
                      const std::vector<std::size_t>& label_columns) const;
    void number_classes();

    Form form_;
    Table tables_[2];
    std::vector<std::string> class_names_;
};

}  // namespace dtnn::runtime
