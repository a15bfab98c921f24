#pragma once
/// Where samples come from.

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

enum class Split { train, test };
constexpr auto names_of(Split) {
    return std::to_array<const char*>({"train", "test"});
}

/// An array of a sample: one of its inputs, or what is to be given for it. Elements of one type,
/// row-major. One that is used again and again allocates nothing once it has held the largest.
struct SampleArray {
    Dims dims;  ///< of an image channels, height, width; none for a class or a row of numbers
    /// Set by who computes in 64 bits and has no step that works on pixels: real numbers are wanted
    /// as doubles, from sources whose elements 32 bits may not hold.
    bool wide = false;
    /// Real numbers: of images in [0, 1], of tables any finite ones.
    std::vector<float> floats;
    std::vector<double> doubles;         ///< in place of `floats`; otherwise empty
    std::vector<std::int32_t> integers;  ///< classes, and what stands for words

    /// Makes it one of floats, whose values are left to the caller.
    template <class Extents>
    void set_floats(const Extents& extents) {
        dims.assign(std::begin(extents), std::end(extents));
        floats.resize(std::size_t(element_count(dims)));
        doubles.clear();
    }
    /// Sets the shape, then lets `fill` write the elements: to a span of doubles where `wide` asks
    /// for them, of floats otherwise.
    template <class Fill>
    void fill(const Dims& extents, Fill&& fill) {
        if (!wide) {
            set_floats(extents);
            fill(std::span<float>(floats));
            return;
        }
        dims.assign(extents.begin(), extents.end());
        doubles.resize(std::size_t(element_count(dims)));
        fill(std::span<double>(doubles));
    }
    /// An image out of bytes in the same order: value / 255.
    void set_image(const std::array<std::int64_t, 3>& extents, const std::uint8_t* bytes);
    /// The class of the sample.
    void set_class(std::int32_t number) {
        dims.clear();
        integers.assign(1, number);
    }
};

/// One sample as a source gives it, before any transform: arrays in the order of the dataset's
/// inputs and targets. Of targets the kinds `multiple` (0 and 1) and `values` are doubles, a number
/// for each of `classes`; classes are integers, one, or with the dims [height, width] one for each
/// pixel. A sample that is its own label has nothing there.
struct Sample {
    std::vector<SampleArray> inputs = std::vector<SampleArray>(1);
    std::vector<SampleArray> targets = std::vector<SampleArray>(1);
    std::vector<std::uint8_t> packed;   ///< the source's own: the file of an image
    std::vector<std::uint8_t> scratch;  ///< the source's own: what a decoder writes

    SampleArray& input() { return inputs.front(); }
    const SampleArray& input() const { return inputs.front(); }
    SampleArray& target() { return targets.front(); }
    const SampleArray& target() const { return targets.front(); }
};

class SampleSource {
  public:
    virtual ~SampleSource() = default;

    /// Makes `sample` the sample `index` of the split: a pure function of the dataset, split and
    /// index. Several threads at once, each with a sample of its own. What is wrong with a sample
    /// is a RunError that names it, the fact and the remedy.
    virtual void load(Split split, std::int64_t index, Sample& sample) const = 0;

    /// Samples in a split. Those of validation are among the train split's.
    virtual std::int64_t size(Split split) const = 0;

    /// Of the train split's samples, the last so many are files of validation.
    virtual std::int64_t validation_size() const { return 0; }

    /// XXH3 of what the samples depend on: their bytes where they are in memory, and names and
    /// sizes of the files that stay where they are.
    virtual std::uint64_t content_hash() const = 0;

    /// Whether that hash is of the samples' bytes, so that equal ones mean equal samples.
    virtual bool hashes_samples() const { return true; }

    /// What the source holds, or will come to hold, in memory beyond a few KiB; at most the plan's
    /// memory.samples.
    virtual std::int64_t resident_bytes() const = 0;

    /// What a message calls a sample: its file, or "train sample 7".
    virtual std::string name_of(Split split, std::int64_t index) const;

    /// The classes' names, or those of the label columns: as many as classes, or none where they
    /// have no names.
    virtual std::vector<std::string> class_names() const { return {}; }

    /// What tables call the numbers of a sample, in their order; none where they have no names.
    virtual std::vector<std::string> feature_names() const { return {}; }

    /// What files say that were opened without knowing (Counts::any): the classes, or how many
    /// values a sample has; and the shape of a sample, zeros for extents that differ.
    virtual std::int64_t found_classes() const { return std::int64_t(class_names().size()); }
    virtual Dims found_shape() const { return {}; }
    /// Of tables, what becomes of their columns where some are categories or have holes filled in:
    /// by these samples of the train split, for what follows from numbers.
    virtual std::vector<plan::FeatureColumn> found_columns(
        std::span<const std::int64_t> /*samples*/) const {
        return {};
    }
    /// Fields of the dataset's type that its files say, by their names.
    virtual Attributes found_attributes() const { return {}; }
    /// The target of a sample alone, from a source that was opened by Counts::any, too.
    virtual void load_target(Split split, std::int64_t index, SampleArray& target) const;
    /// Height times width of the largest image whose header was looked at; 0: no images.
    virtual std::int64_t found_pixels() const { return 0; }

    /// What people should know of the dataset though nothing is wrong: files that were passed over.
    virtual std::vector<std::string> notes() const { return {}; }
};

/// Makes the shape of images that of another, too: the most channels; zeros where sizes differ.
void add_image_shape(Dims& shape, const Dims& other);

/// What the classes, or the values, of the dataset are called: by its files, else by the plan, else
/// by the training whose weights are used (`trained`), whose files the plan may not know; none
/// where nobody has named them, and where samples are their own labels.
std::vector<std::string> class_names_of(const SampleSource& source, const plan::Dataset& dataset,
                                        const std::vector<std::string>& trained = {});

/// Training samples that the dataset's source must have.
std::int64_t source_train_samples(const plan::Dataset& dataset);

/// Whether a source must have just as many samples as the plan says. Where ranks have data of their
/// own, the plan says how many one has at most; with the types digits, cifar10, cifar100 and
/// synthetic all have as many. `any`: the files are looked at for what the dataset does not say
/// (find_in_files.hpp); such a source is for asking, and its samples are not loaded.
enum class Counts { exact, at_most, any };

/// The plan's dataset, opened and verified against the plan: shape, classes and their names, sizes,
/// and, where the plan has it, the content's hash. What is wrong is a RunError that names file,
/// fact and remedy. A plan that computes in f64 says so: tables keep their numbers in 64 bits then.
/// `files`: what list_files has given on another rank, so that a file system is not asked for every
/// file by every rank; some of them are held against it. Empty: they are looked for.
std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset,
                                          Counts counts = Counts::exact, DType numbers = DType::f32,
                                          std::span<const std::byte> files = {});

/// A content hash as people see it: "xxh3:0123456789abcdef".
std::string content_text(std::uint64_t hash);

/// The names and sizes of the dataset's files, where these are found by looking into folders; else
/// nothing. About as many bytes as the names have. RunError where the folders are not as they
/// should be.
std::vector<std::byte> list_files(const plan::Dataset& dataset);

/// Made-up samples of the dataset's shape, classes and sizes, whatever its type.
std::unique_ptr<SampleSource> made_up_source(const plan::Dataset& dataset);

}  // namespace dtnn::runtime
