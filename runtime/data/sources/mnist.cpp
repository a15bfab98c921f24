#include "runtime/data/sources/mnist.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::int64_t kMnistSide = 28;
constexpr int kClasses = 10;
}  // namespace

Mnist::Files Mnist::read(const std::string& folder, const std::string& prefix, std::int64_t samples,
                         bool at_most) {
    Files files{
        read_idx(folder, prefix + "-images-idx3-ubyte", {samples, kMnistSide, kMnistSide}, at_most),
        {}};
    samples = files.images.dims[0];
    files.labels = read_idx(folder, prefix + "-labels-idx1-ubyte", {samples});
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

Mnist::Mnist(const std::string& folder, std::int64_t train_samples, std::int64_t test_samples,
             bool at_most) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        throw RunError(Exit::failed, fmt::format("the dataset's folder {} is not there", folder),
                       "compile the job with --set dataset.path=DIR, the folder of MNIST's four "
                       "files; it is relative to the current folder");
    }
    train_ = read(folder, "train", train_samples, at_most);
    test_ = read(folder, "t10k", test_samples, at_most);
}

void Mnist::load(Split split, std::int64_t index, Sample& sample) const {
    const Files& files = of(split);
    sample.input().set_image({1, kMnistSide, kMnistSide},
                             files.images.data() + index * kMnistSide * kMnistSide);
    sample.target().set_class(files.labels.data()[index]);
}

std::int64_t Mnist::size(Split split) const {
    return of(split).labels.dims[0];
}

std::uint64_t Mnist::content_hash() const {
    ContentHash hash;
    for (const Files* files : {&train_, &test_})
        hash.add(files->images.bytes).add(files->labels.bytes);
    return hash.value();
}

std::int64_t Mnist::resident_bytes() const {
    std::size_t bytes = 0;
    for (const Files* files : {&train_, &test_})
        bytes += files->images.bytes.size() + files->labels.bytes.size();
    return std::int64_t(bytes);
}

std::vector<std::string> Mnist::class_names() const {
    std::vector<std::string> names;
    for (int digit = 0; digit < kClasses; ++digit)
        names.push_back(std::to_string(digit));
    return names;
}

namespace {

RecognisedData recognise_mnist(const std::string& path) {
    // Datasets in the form of MNIST may have fewer samples.
    constexpr std::int64_t kTrain = 60'000, kTest = 10'000;
    const Mnist source(path, kTrain, kTest, true);
    RecognisedData data{.type = "mnist", .fields = {{"path", path}}};
    if (source.size(Split::train) != kTrain || source.size(Split::test) != kTest) {
        data.fields.emplace_back("train_samples", source.size(Split::train));
        data.fields.emplace_back("test_samples", source.size(Split::test));
    }
    return data;
}

}  // namespace

SourceType mnist_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked& asked) -> Source {
                check_fixed(dataset, {1, kMnistSide, kMnistSide}, kClasses);
                return std::make_unique<Mnist>(path_of(dataset), source_train_samples(dataset),
                                               dataset.test_samples,
                                               asked.counts == Counts::at_most);
            },
            .marks = {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"},
            .recognise = recognise_mnist};
}

}  // namespace dtnn::runtime
