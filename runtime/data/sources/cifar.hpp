#pragma once
/// CIFAR-10 and CIFAR-100 in their binary version (A. Krizhevsky, "Learning Multiple Layers of
/// Features from Tiny Images"): records of a label and 3x32x32 bytes, the red, green and blue
/// planes.

#include <span>
#include <string>
#include <vector>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Pixels are value / 255. All records are kept in memory as they are in the files.
class Cifar final : public SampleSource {
  public:
    /// ten: data_batch_1.bin to data_batch_5.bin and test_batch.bin, one label a record. fine and
    /// coarse: CIFAR-100's train.bin and test.bin, whose records have a coarse label (of 20) before
    /// the fine one (of 100); which of them is the class.
    enum class Kind { ten, fine, coarse };

    /// `path`: the folder of the .bin files, or the .tar or .tar.gz that holds them in any folder.
    /// The files must hold exactly so many samples, and no label out of range.
    Cifar(Kind kind, const std::string& path, std::int64_t train_samples,
          std::int64_t test_samples);

    void load(Split split, std::int64_t index, Sample& sample) const override;
    std::int64_t size(Split split) const override;
    std::uint64_t content_hash() const override;
    std::int64_t resident_bytes() const override;
    std::vector<std::string> class_names() const override { return class_names_; }

    static std::int64_t classes_of(Kind kind);
    static std::int64_t record_bytes(Kind kind);

  private:
    /// One of the files, with its records.
    struct Part {
        Split split;
        std::string name;
        std::string path;  ///< as messages call it; empty: not found yet
        std::vector<std::uint8_t> bytes;
    };
    void read_folder(const std::string& folder);
    void read_archive(const std::string& path);
    /// Room for the bytes of the part, which it has found as `path`.
    std::span<char> room(Part& part, const std::string& path, std::int64_t bytes) const;
    void verify(const std::string& path) const;
    /// The record of a sample, and the part that has it.
    const std::uint8_t* record(Split split, std::int64_t index) const;

    Kind kind_;
    std::int64_t record_;
    std::int64_t train_samples_;
    std::int64_t test_samples_;
    std::vector<Part> parts_;
    std::vector<std::string> class_names_;
};

}  // namespace dtnn::runtime
