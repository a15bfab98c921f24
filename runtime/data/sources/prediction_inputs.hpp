#pragma once
/// Samples that a user names on the command line, to be predicted.

#include <memory>
#include <string>
#include <vector>

#include "runtime/data/formats/image.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/csv_source.hpp"

namespace dtnn::runtime {

/// The samples of files, in the order given; all of them are the test split. They are what the
/// dataset's source would give, before its transforms.
///
///     a folder     the images in it and in folders below, by name; hidden files are passed over, a
///                  README and the like (image_names.hpp) with a note, any other file is an error
///     .npy, .npz   samples [N, channels, height, width], or one without the first axis; axes of
///                  one may be left out. Unsigned bytes are divided by 255, other numbers are taken
///                  as they are and must be finite. An .npz has the array `x`, or `x_test`, or only
///                  one
///     .csv, .tsv   a table, plain or gzip: the features of a sample in a line, by their names in
///                  any order and beside other columns; where they have no names, in the columns of
///                  the dataset's tables, with the labels, which are not read, or without
///     other files  a JPEG or PNG image
///
/// Where the dataset is of series, a table is one, too: its samples are the windows of each group,
/// of which the last ends with the group's last line, and its columns are found by their names.
///
/// Where the network's inputs have names, samples are .npz files with an array NAME or NAME_test
/// for each; where the only one is no image, .npz or .npy files whose arrays have an axis of
/// samples.
///
/// What is wrong with a file is a RunError that names it, the fact and the remedy: of arrays and
/// folders when they are opened, of images when they are loaded.
class PredictionInputs final : public SampleSource {
  public:
    /// `feature_names`: what the network's inputs are called in tables, in their order; empty: they
    /// go by their places.
    PredictionInputs(const std::vector<std::string>& paths, const plan::Dataset& dataset,
                     std::vector<std::string> feature_names = {});

    /// Labels are zeros: nobody knows them.
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override;
    std::uint64_t content_hash() const override { return 0; }
    std::int64_t resident_bytes() const override;
    /// The file's name, or "FILE[7]" where it has several samples, "FILE, lines 2 to 25" of series.
    std::string name_of(Split split, std::int64_t index) const override;
    std::vector<std::string> notes() const override { return notes_; }
    /// Whether the path leads to one of the files, by whatever name.
    bool reads(const std::string& path) const;

  private:
    struct Part {
        std::string path;
        std::int64_t first = 0;  ///< its samples' place among all
        std::int64_t samples = 1;
        NpyArray array = {};   ///< empty for an image
        Dims shape = {};       ///< a sample's in the array
        bool several = false;  ///< the array has an axis of samples
        bool named = false;    ///< the source calls them by names of its own
        std::unique_ptr<SampleSource> source =
            nullptr;  ///< a table, or the arrays of several inputs
    };
    void add_folder(const std::string& path);
    void add_array(const std::string& path);
    void add_table(const std::string& path);
    void add_series(const std::string& path);
    void add_given(const std::string& path);
    void add_part(Part part);
    void load_elements(const Part& part, std::int64_t index, Sample& sample) const;
    void load_image(const Part& part, Sample& sample) const;
    const Part& part_of(std::int64_t index) const;

    const plan::Dataset dataset_;
    Dims shape_;  ///< as the source gives samples; zero: any extent
    std::vector<std::string> feature_names_;
    ImageLimits limits_;
    std::vector<Part> parts_;
    std::vector<std::string> notes_;
};

}  // namespace dtnn::runtime
