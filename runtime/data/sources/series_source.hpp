#pragma once
/// Samples out of tables whose lines are in the order of time: a stretch of lines is a sample, and
/// what some columns hold behind it is its target.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/rules/resident.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/csv_source.hpp"

namespace dtnn::runtime {

/// A source over tables, whose lines are kept once: samples are cut out of them when they are
/// loaded. A sample is `window` lines of a group and, as its target, the label columns of the
/// `ahead` lines behind these, line by line. In each group of the training table
///
///     the last share_of(lines, test_share) lines are the test's, the share_of(lines,
///     validation_share) before them those of validation, all others are trained on.
///
/// A sample is of the part that all lines of its target are in. Its window may begin in the part
/// before, whose lines are known by then; where there is no target (`ahead` 0), its window is in
/// the part, too. Of each part of a group the first sample is the earliest that there can be, and
/// each other one is `stride` lines behind the one before. Groups and parts that are too short have
/// no samples.
class SeriesSource final : public SampleSource {
  public:
    struct Form {
        CsvSource::Form table;            ///< of lines without labels
        std::vector<std::size_t> labels;  ///< places among the features; empty: all of them
        std::int64_t window = 1;
        std::int64_t ahead = 0;
        std::int64_t stride = 1;
        double validation_share = 0;
        double test_share = 0;  ///< without a table of the test
        /// Counts from the end, so that the last lines of a group are always a sample.
        bool from_end = false;
        bool finds_scale = false;  ///< the lines that are trained on are asked for mean, deviation
    };

    /// Without `test_path` the test's samples are a share of the others.
    SeriesSource(std::string train_path, std::string test_path, Form form);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    void load_target(Split split, std::int64_t index, SampleArray& target) const override;
    std::int64_t size(Split split) const override {
        return split == Split::train ? train_.samples + validation_.samples : test_.samples;
    }
    std::int64_t validation_size() const override { return validation_.samples; }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    /// By the lines of its window.
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> class_names() const override;
    std::vector<std::string> feature_names() const override { return table_.feature_names(); }
    std::int64_t found_classes() const override {
        return form_.ahead * std::int64_t(form_.labels.size());
    }
    Dims found_shape() const override { return {form_.window, features_}; }
    /// `features`, `rows` and `test_rows`; where they are wanted, `feature_mean` and
    /// `feature_deviation` by the lines that are trained on, each of which counts once.
    Attributes found_attributes() const override;
    /// Lines of a table.
    std::int64_t lines(Split split) const { return table_.size(split); }

  private:
    /// The samples of one part of a group.
    struct Stretch {
        std::int64_t line;  ///< the first sample's, from 0 in its table
        std::int64_t first_sample;
    };
    static_assert(sizeof(Stretch) == plan::kSeriesStretchBytes);
    struct Part {
        Split table = Split::train;
        std::vector<Stretch> stretches;  ///< those that have samples
        std::int64_t samples = 0;
    };
    /// Cuts the groups of a table.
    void cut(Split table);
    /// Adds the samples of a group, which begins at `group`, whose target is in these lines.
    void add(Part& part, std::int64_t group, std::int64_t begin, std::int64_t end) const;
    const Part& part_of(Split split, std::int64_t& index) const;
    std::int64_t line_of(const Part& part, std::int64_t index) const;

    Form form_;
    std::string paths_[2];
    CsvSource table_;
    std::int64_t features_;
    Part train_, validation_, test_;
    /// Of the training table, what is trained on: the first line and the one behind the last.
    struct Lines {
        std::int64_t begin, end;
    };
    std::vector<Lines> trained_;  ///< where the scale is asked for
};

/// How the tables of a dataset are written, without sizes, and which column says the group.
SeriesSource::Form series_form(const plan::Dataset& dataset);

/// Finds the columns of the table at `path`: what of them is left out is said by numbers from then
/// on, and which of the features are labels by their places among them.
void find_series_columns(const std::string& path, SeriesSource::Form& form);

}  // namespace dtnn::runtime
