#include <fmt/format.h>

#include "runtime/base/run_error.hpp"
#include "runtime/data/digits.hpp"
#include "runtime/data/mnist.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/synthetic.hpp"

namespace dtnn::runtime {
namespace {

std::uint64_t seed_of(const plan::Dataset& dataset) {
    const auto found = dataset.attributes.find("seed");
    if (found == dataset.attributes.end()) return 0;
    const auto* seed = std::get_if<std::int64_t>(&found->second);
    return seed == nullptr ? 0 : std::uint64_t(*seed);
}

}  // namespace

std::unique_ptr<SampleSource> made_up_source(const plan::Dataset& dataset) {
    return std::make_unique<Synthetic>(dataset.shape, dataset.classes, dataset.label_shape,
                                       seed_of(dataset), source_train_samples(dataset),
                                       dataset.test_samples);
}

std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset) {
    const auto wrong_shape = [&](const char* shape, int classes) {
        return RunError(Exit::mismatch,
                        fmt::format("the plan's dataset `{}` has the shape [{}] and {} classes, "
                                    "{} has [{}] and {}",
                                    dataset.name, fmt::join(dataset.shape, ","), dataset.classes,
                                    dataset.type, shape, classes),
                        "compile the job again with the dtnnc of this version");
    };
    const plan::Dims pixels(dataset.shape.begin() + 1, dataset.shape.end());
    const bool labels_fit = dataset.label_shape.empty() ||
                            (dataset.type == "synthetic" && dataset.label_shape == pixels);
    if (!labels_fit) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset `{}` has labels of the shape [{}], which {} "
                                   "does not have",
                                   dataset.name, fmt::join(dataset.label_shape, ","), dataset.type),
                       "compile the job again with the dtnnc of this version");
    }
    const bool glyphs = dataset.shape == plan::Dims{1, 28, 28} && dataset.classes == 10;
    if (dataset.type == "synthetic") return made_up_source(dataset);
    if (dataset.type == "digits") {
        if (!glyphs) throw wrong_shape("1,28,28", 10);
        return std::make_unique<Digits>(seed_of(dataset), source_train_samples(dataset),
                                        dataset.test_samples);
    }
    if (dataset.type == "mnist") {
        if (!glyphs) throw wrong_shape("1,28,28", 10);
        const auto found = dataset.attributes.find("path");
        const auto* path =
            found == dataset.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
        if (path == nullptr) {
            throw RunError(Exit::mismatch, "the plan's dataset mnist has no `path`",
                           "compile the job with --set dataset.path=DIR");
        }
        return std::make_unique<Mnist>(*path, source_train_samples(dataset), dataset.test_samples);
    }
    throw RunError(Exit::mismatch,
                   fmt::format("the plan's dataset `{}` is of the type `{}`, which is unknown",
                               dataset.name, dataset.type),
                   "the types are digits, mnist and synthetic; compile the job again with the "
                   "dtnnc of this version");
}

}  // namespace dtnn::runtime
