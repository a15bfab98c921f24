#pragma once
/// The images of a dataset: where each of them lies, which split and class it belongs to, and, when
/// they are few enough, their files' bytes.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/image.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Filled by a reader of folders or archives (add_*), then put in order and verified (finish), then
/// only read, by any number of threads.
///
/// Bytes are kept in memory as the files have them, compressed, if all of them fit the cache along
/// with the index. If not, images that lie in folders and uncompressed tars are read each time they
/// are needed, and images in compressed archives are an error. Samples are in the order of their
/// names, so the same images in a folder and in an archive are the same dataset.
class ImageIndex {
  public:
    /// The expectations of the plan.
    struct Expected {
        std::int64_t classes = 0;  ///< 0: any
        std::int64_t train_samples = 0;
        std::int64_t test_samples = 0;
        Dims shape;  ///< channels, height and width, zero: they differ
        std::int64_t most_pixels = 0;
        std::int64_t cache = 0;  ///< bytes
        Counts counts = Counts::exact;
    };

    /// `path`: the dataset's, for messages.
    ImageIndex(std::string path, Expected expected);

    /// A folder that names are relative to.
    int add_folder(std::string folder);
    /// A file that images lie in as they are, or that they are unpacked from.
    int add_container(RegularFile file);
    const RegularFile& container(int number) const {
        return *containers_[std::size_t(number)].file;
    }

    /// The number of a class by its name; a new name in the test split is an error in finish().
    std::int32_t class_number(const std::string& name, Split split);
    /// Classes in this order, whatever images there are; class_number must not be called besides.
    void set_classes(std::vector<std::string> names);

    /// An image: a file of the folder (offset 0), or a part of the container. `label` is a class,
    /// or, where samples have several labels, a bit for each.
    void add(Split split, const std::string& name, std::int32_t label, int container,
             std::int64_t offset, std::int64_t size);
    /// An image of a compressed container: `read` fills its bytes if they are to be kept.
    void add_unpacked(Split split, const std::string& name, std::int32_t label, int container,
                      std::int64_t size, const std::function<void(std::span<char>)>& read);

    /// A file among the images that is no image, and is expected there (image_names.hpp).
    void pass_over(const std::string& name);
    /// The files that were passed over, in one sentence, if anything was.
    std::vector<std::string> notes() const;

    /// Orders the samples, numbers classes by their names' order, compares with what is expected,
    /// keeps what fits, and reads the headers of what it keeps.
    void finish();

    std::int64_t size(Split split) const { return std::int64_t(of(split).size()); }
    std::int32_t label(Split split, std::int64_t index) const { return at(split, index).label; }
    /// The name that messages have for a sample.
    std::string name_of(Split split, std::int64_t index) const;
    /// The image's file, or its first `most` bytes; read into `room` unless it is kept.
    std::span<const std::uint8_t> bytes(
        Split split, std::int64_t index, std::vector<std::uint8_t>& room,
        std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
    /// The extents that the headers of some of the images say, spread over all. Their shape:
    /// colours where any has them; height and width, or zeros where they differ.
    struct Extents {
        Dims shape;
        std::int64_t pixels = 0;  ///< height times width of the largest
    };
    Extents look() const;
    const std::vector<std::string>& class_names() const { return class_names_; }
    const Expected& expected() const { return expected_; }
    bool fixed() const;  ///< whether all images have one size
    ImageLimits limits() const;
    /// Reads the header of an image's file: its size is one that the dataset may have, or the
    /// error.
    void check_header(std::span<const std::uint8_t> bytes, const std::string& name) const;
    bool is_kept(Split split, std::int64_t index) const { return at(split, index).kept; }

    std::uint64_t content_hash() const;
    /// Whether the images' files are in memory; else their hash is of names and sizes.
    bool all_kept() const;
    std::int64_t resident_bytes() const;

  private:
    struct Image {
        std::int64_t name;    ///< in names_, zero-terminated
        std::int64_t offset;  ///< in the container; kept: where(): chunk and place in it
        std::int32_t size;
        std::int32_t container;
        std::int32_t label;
        bool kept;  ///< in memory
    };
    struct Container {
        std::string path;
        std::optional<RegularFile> file;  ///< none: a folder
    };
    std::vector<Image>& of(Split split) { return images_[split == Split::train ? 0 : 1]; }
    const std::vector<Image>& of(Split split) const {
        return images_[split == Split::train ? 0 : 1];
    }
    const Image& at(Split split, std::int64_t index) const { return of(split)[std::size_t(index)]; }
    std::string_view name(const Image& image) const { return names_.data() + image.name; }
    std::string full_name(const Image& image) const;
    Image& append(Split split, const std::string& name, std::int32_t label, int container,
                  std::int64_t size);
    /// Room for so many bytes among those that are kept, and the image's offset for it.
    std::span<char> keep(Image& image);
    std::span<const std::uint8_t> kept(const Image& image) const;
    void read(const Image& image, std::span<char> bytes) const;

    void number_classes();
    void order();
    void check_counts() const;
    void keep_all();
    void check_headers() const;

    std::string path_;
    Expected expected_;
    std::int64_t most_file_;  ///< bytes of an image's file
    std::vector<Container> containers_;
    std::map<std::string, std::int32_t> numbers_;  ///< classes by name, numbered as they came
    std::vector<bool> trained_;                    ///< classes that the train split has
    std::vector<std::string> class_names_;
    std::string names_;
    std::vector<Image> images_[2];
    std::int64_t image_bytes_ = 0;
    std::vector<std::string> passed_over_;
    bool overflow_ = false;  ///< some that are unpacked were not kept
    std::vector<std::vector<std::uint8_t>> chunks_;
    std::int64_t chunk_bytes_ = 0;
};

/// Images with one class each, or with any number of labels.
class ImageSource final : public SampleSource {
  public:
    /// `several`: an image's label is a bit for each of the classes.
    ImageSource(std::unique_ptr<ImageIndex> index, bool several)
        : index_(std::move(index)), several_(several) {}
    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return index_->size(split); }
    std::uint64_t content_hash() const override { return index_->content_hash(); }
    bool hashes_samples() const override { return index_->all_kept(); }
    std::int64_t resident_bytes() const override { return index_->resident_bytes(); }
    std::string name_of(Split split, std::int64_t index) const override {
        return index_->name_of(split, index);
    }
    std::vector<std::string> class_names() const override { return index_->class_names(); }
    Dims found_shape() const override { return index_->look().shape; }
    std::int64_t found_pixels() const override { return index_->look().pixels; }
    std::vector<std::string> notes() const override { return index_->notes(); }

  private:
    std::unique_ptr<ImageIndex> index_;
    bool several_;
};

}  // namespace dtnn::runtime
