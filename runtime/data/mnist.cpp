#include "runtime/data/mnist.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::int64_t kSide = 28;
constexpr int kClasses = 10;
}  // namespace

Mnist::Files Mnist::read(const std::string& folder, const std::string& prefix,
                         std::int64_t samples) {
    Files files{read_idx(folder, prefix + "-images-idx3-ubyte", {samples, kSide, kSide}),
                read_idx(folder, prefix + "-labels-idx1-ubyte", {samples})};
    for (std::int64_t i = 0; i < samples; ++i) {
        const int label = files.labels.data()[i];
        if (label < kClasses) continue;
        throw RunError(Exit::failed,
                       fmt::format("{}: the label of sample {} is {}; labels are 0 to {}",
                                   files.labels.path, i, label, kClasses - 1),
                       "download the file again");
    }
    return files;
}

Mnist::Mnist(const std::string& folder, std::int64_t train_samples, std::int64_t test_samples) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        throw RunError(Exit::failed, fmt::format("the dataset's folder {} is not there", folder),
                       "compile the job with --set dataset.path=DIR, the folder of MNIST's four "
                       "files; it is relative to the current folder");
    }
    train_ = read(folder, "train", train_samples);
    test_ = read(folder, "t10k", test_samples);
}

void Mnist::load(Split split, std::int64_t index, std::span<float> pixels,
                 std::span<std::int32_t> labels) {
    const Files& files = of(split);
    const unsigned char* image = files.images.data() + index * kSide * kSide;
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = float(image[i]) / 255.0f;
    labels[0] = files.labels.data()[index];
}

std::int64_t Mnist::size(Split split) const {
    return of(split).labels.dims[0];
}

}  // namespace dtnn::runtime
