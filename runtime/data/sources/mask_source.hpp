#pragma once
/// Segmentation: images, and for each of them a mask, a PNG whose pixels are the classes of the
/// image's.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/sources/image_index.hpp"

namespace dtnn::runtime {

/// The classes of a mask's numbers.
class MaskValues {
  public:
    /// `values`: the number of every class, in their order; empty: a number is its class.
    /// `ignored` is the number of pixels that do not count.
    MaskValues(const std::vector<std::int64_t>& values, std::int64_t classes,
               std::optional<std::int64_t> ignored);
    std::optional<std::int64_t> ignored() const { return ignored_; }
    /// Numbers to classes. `name` and `width` are for the message about one that is none.
    void to_classes(std::vector<std::int32_t>& numbers, std::int64_t width,
                    const std::string& name) const;

  private:
    std::vector<std::int64_t> values_;
    std::int64_t classes_;
    std::optional<std::int64_t> ignored_;
    static constexpr std::int32_t kNone = -2;
    std::array<std::int32_t, 256> class_of_{};  ///< or kNone, or plan::kIgnoredLabel
};

/// The folders of the images and masks of a dataset: PATH/SPLIT/IMAGES/STEM.EXT and
/// PATH/SPLIT/MASKS/STEM.png, a mask for every image. SPLIT "." is PATH itself.
struct MaskFolders {
    std::string train = "train";
    std::string test = "test";  ///< empty: no split
    std::string images = "images";
    std::string masks = "masks";
};

class MaskSource final : public SampleSource {
  public:
    /// Looks into the folders; `expected.classes` 0: any. Images and masks keep three quarters and
    /// a quarter of the cache. RunError for a file without its other half, and as ImageIndex.
    MaskSource(const std::string& path, const MaskFolders& folders,
               const ImageIndex::Expected& expected, const std::vector<std::int64_t>& values,
               std::optional<std::int64_t> ignored);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override { return images_.size(split); }
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::string name_of(Split split, std::int64_t index) const override {
        return images_.name_of(split, index);
    }
    std::vector<std::string> notes() const override { return images_.notes(); }
    /// By the masks of some images, spread over all. RunError where they leave most numbers out,
    /// and nothing says which are classes.
    std::int64_t found_classes() const override;
    Dims found_shape() const override { return images_.look().shape; }
    std::int64_t found_pixels() const override { return images_.look().pixels; }

  private:
    /// Adds the pairs of a split.
    void add(Split split, const std::string& folder);
    /// The mask's numbers, row-major.
    void read_mask(Split split, std::int64_t index, Sample& sample, std::int64_t& height,
                   std::int64_t& width) const;

    std::string path_;
    MaskFolders folders_;
    std::vector<std::int64_t> values_;
    MaskValues classes_;
    ImageIndex images_, masks_;
    std::vector<std::int64_t> mask_of_[2];  ///< the place of an image's mask among its split's
};

/// The numbers that masks of a folder have, of some of them spread over all, in rising order.
std::vector<std::int64_t> mask_numbers(const std::string& folder);

}  // namespace dtnn::runtime
