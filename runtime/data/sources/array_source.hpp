#pragma once
/// Samples out of NumPy's .npz files: an array for each of the network's inputs and one of labels.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/formats/npy.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Arrays [N, channels, height, width], or without extents of one, in row-major order. Unsigned
/// bytes are divided by 255, other numbers are taken as they are and must be finite. Arrays that
/// lie in the file as they are (numpy.savez) are read there, a sample at a time; packed ones
/// (numpy.savez_compressed) are kept in memory.
/// An array that whoever calls has in memory, and keeps there.
struct GivenArray {
    NpyHeader header;             ///< its elements' type and its dims; `begin` is 0
    const char* bytes = nullptr;  ///< the first element
    /// Bytes from one element to the next along each axis; empty: row-major without gaps.
    std::vector<std::int64_t> strides = {};
};

class ArraySource final : public SampleSource {
  public:
    /// A row of labels for each sample, which are laid along the steps of its predictions.
    struct Sequences {
        std::int64_t room = 0;                   ///< for labels of a sample; 0: what the array has
        std::int64_t steps = 0;                  ///< of the predictions; 0: not known
        std::optional<std::int64_t> blank = {};  ///< the class that is no label, where it is known
    };
    struct Expected {
        /// Of each stored_dims (of the first empty: what its array has), name, kind and classes.
        std::vector<plan::Feature> inputs;
        std::int64_t classes = 0;  ///< 0: as many as there are
        plan::LabelKind kind = plan::LabelKind::classes;
        std::int64_t train_samples = 0;
        std::int64_t test_samples = 0;
        std::int64_t cache = 0;  ///< bytes of packed arrays and of labels
        Counts counts = Counts::exact;
        bool split = true;  ///< there are test samples of their own
        std::string part =
            {};               ///< the samples are x_PART and y_PART alone; empty: those of training
        bool pixels = false;  ///< a class for every pixel or step
        std::optional<Sequences> sequences = {};
        /// The number of pixels that do not count, and what stands behind a sequence of labels.
        std::optional<std::int64_t> ignored = {};
        /// The last of the inputs says how many steps each sample has, of those that have steps:
        /// those behind them are not looked at. They become zeros, and their labels do not count.
        bool lengths = false;
    };

    /// The type `archive`: one file with x_train, y_train, x_test and y_test, or, where there is no
    /// split, x and y or x_train and y_train, whose checksums are verified; with `part` two others.
    /// Inputs that have names have these in the place of x.
    /// Labels of classes: [N] or [N, 1] of 0 to classes - 1, or [N, classes] with a single one in
    /// each row; of pixels: [N, height, width] of 0 to classes - 1, of steps [N, steps]; others:
    /// [N, classes]. Samples that are their own labels need none. Of sequences of labels
    /// [N, room], the labels of a sample first in its row.
    static std::unique_ptr<ArraySource> open_archive(const std::string& path, Expected expected);

    /// PyDTNN's shards of ImageNet: FOLDER/train/*.npz and FOLDER/val/*.npz (or test/), each with x
    /// [n, 3, height, width] and y [n, 1] of 1 to classes.
    static std::unique_ptr<ArraySource> open_shards(const std::string& folder, Expected expected);

    /// Samples to be predicted, all of the train split: NAME, or NAME_test, for each input; of one
    /// without a name x, x_test, or the only array, which an .npy file is, too.
    static std::unique_ptr<ArraySource> open_given(const std::string& path,
                                                   std::vector<plan::Feature> inputs,
                                                   std::int64_t cache, bool lengths = false);

    /// Samples to be predicted, all of the train split, where they lie; none yet.
    static std::unique_ptr<ArraySource> of_memory(std::vector<plan::Feature> inputs,
                                                  bool lengths = false);
    /// Takes these in place of those before: an array for each input, of [samples] and the extents
    /// of the input, or of any where images are of several sizes. What does not fit is a RunError.
    void take(std::vector<GivenArray> arrays);

    /// Whether FOLDER/train holds an .npz file.
    static bool has_shards(const std::string& folder);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override;
    std::uint64_t content_hash() const override { return hash_; }
    bool hashes_samples() const override { return verified_; }
    std::int64_t resident_bytes() const override { return resident_; }
    std::string name_of(Split split, std::int64_t index) const override;
    std::int64_t found_classes() const override { return expected_.classes; }
    Dims found_shape() const override { return shape(); }
    Attributes found_attributes() const override;

  private:
    /// An input's array.
    struct Stored {
        std::string name;  ///< for messages; empty: not found yet
        NpyHeader header;
        std::int64_t offset = -1;  ///< where the array begins in the file; -1: it is in `packed`
        std::string packed;
        GivenArray given = {};  ///< in memory, without a file
        Dims given_dims = {};   ///< what the plan says of a sample of it; 0: any extent
    };
    struct Part {
        std::unique_ptr<RegularFile> file;
        std::vector<Stored> inputs;
        std::vector<std::int32_t> labels;
        NpyArray masks;  ///< of classes of pixels, or sequences of labels, in place of `labels`
        std::vector<double> targets;
        std::vector<std::int32_t> lengths;  ///< of samples, where an input says them
        std::int64_t samples() const { return inputs[0].header.dims[0]; }
    };
    struct Names {
        std::vector<std::string> inputs;
        std::string labels;
        std::int64_t first_class = 0;
    };
    const Dims& shape() const { return expected_.inputs[0].stored_dims; }
    /// Where labels of pixels or steps are in a sample.
    Dims places() const;
    /// The names of arrays that end so: "x_train", or with names of inputs "image_train".
    Names names(const std::string& ending) const;
    /// Those of samples to be predicted.
    Names given_names(const std::string& path) const;
    /// What the names end on in a file that has no split: nothing where such arrays are in it.
    std::string ending_without_split(const std::string& path, const char* other) const;

    explicit ArraySource(Expected expected);
    Part read_part(const std::string& path, const Names& names, bool verify);
    /// Of an .npy file.
    Part read_array(const std::string& path);
    void read_input(const RegularFile& file, Stored& input, class ArchiveReader& archive,
                    const struct Member& member, bool verify);
    void set_labels(Part& part, NpyArray& array, std::int64_t first_class);
    void set_masks(Part& part, NpyArray& array);
    void set_sequences(Part& part, NpyArray& array) const;
    /// The labels of a sample, in a row.
    void check_sequence(const Part& part, const NpyArray& array, std::int64_t at,
                        std::span<const std::int64_t> row) const;
    /// What the dataset does not say of shape and classes becomes what the arrays are.
    void settle(const Part& part, const NpyArray& labels);
    void check_input(const Part& part, std::size_t i) const;
    /// Of the input that says them, where there is one.
    void read_lengths(Part& part) const;
    /// Of the elements of an array of the sample whose first axis are its steps, those of steps
    /// that it has; of others all.
    std::int64_t counted(const Part& part, std::int64_t at, bool has_steps, const Dims& dims) const;
    /// The bytes of a sample of an input; `room` is for those that are read from the file.
    const char* elements(const Part& part, std::size_t i, std::int64_t sample,
                         std::vector<std::uint8_t>& room) const;
    static const char* given_elements(const GivenArray& array, std::int64_t sample,
                                      std::vector<std::uint8_t>& room);
    void load_input(const Part& part, std::size_t i, std::int64_t at, Sample& sample) const;
    void load_labels(const Part& part, std::int64_t at, Sample& sample) const;
    void check_cache(const std::string& name, std::int64_t more) const;
    void check_counts(const std::string& path) const;
    std::vector<Part>& of(Split split) { return parts_[split == Split::train ? 0 : 1]; }
    const std::vector<Part>& of(Split split) const { return parts_[split == Split::train ? 0 : 1]; }
    /// The part that has the sample, whose index in it `index` becomes.
    const Part& part_of(Split split, std::int64_t& index) const;

    Expected expected_;
    bool image_ = true;  ///< the first input is one, or not known
    std::vector<Part> parts_[2];
    std::uint64_t hash_ = 0;
    bool verified_ = true;  ///< all samples were read for the hash; not of shards
    std::int64_t resident_ = 0;
};

}  // namespace dtnn::runtime
