#include <fmt/format.h>

#include <array>

#include "runtime/base/run_error.hpp"
#include "runtime/data/cifar.hpp"
#include "runtime/data/digits.hpp"
#include "runtime/data/mnist.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/synthetic.hpp"

namespace dtnn::runtime {
namespace {

const char* const kCompileAgain = "compile the job again with the dtnnc of this version";

/// Attributes of the dataset's type, which the compiler gives all.
template <class Value>
const Value& attribute(const plan::Dataset& dataset, const char* name) {
    const auto found = dataset.attributes.find(name);
    const Value* value =
        found == dataset.attributes.end() ? nullptr : std::get_if<Value>(&found->second);
    if (value == nullptr) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset {} has no `{}`", dataset.type, name),
                       kCompileAgain);
    }
    return *value;
}

std::uint64_t seed_of(const plan::Dataset& dataset) {
    return dataset.attributes.contains("seed")
               ? std::uint64_t(attribute<std::int64_t>(dataset, "seed"))
               : 0;
}

/// The shape as the source gives it; plans made by hand have the network's alone.
const plan::Dims& stored_shape(const plan::Dataset& dataset) {
    return dataset.stored_shape.empty() ? dataset.shape : dataset.stored_shape;
}

void check_fixed(const plan::Dataset& dataset, const plan::Dims& shape, std::int64_t classes) {
    if (stored_shape(dataset) == shape && dataset.classes == classes) return;
    throw RunError(Exit::mismatch,
                   fmt::format("the plan's dataset `{}` has the shape [{}] and {} classes, {} has "
                               "[{}] and {}",
                               dataset.name, fmt::join(stored_shape(dataset), ","), dataset.classes,
                               dataset.type, fmt::join(shape, ","), classes),
                   kCompileAgain);
}

void check_labels(const plan::Dataset& dataset) {
    const plan::Dims& shape = stored_shape(dataset);
    const plan::Dims pixels(shape.begin() + 1, shape.end());
    if (dataset.label_shape.empty() ||
        (dataset.type == "synthetic" && dataset.label_shape == pixels))
        return;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has labels of the shape [{}], which {} does "
                    "not have",
                    dataset.name, fmt::join(dataset.label_shape, ","), dataset.type),
        kCompileAgain);
}

using Source = std::unique_ptr<SampleSource>;

Source open_digits(const plan::Dataset& dataset) {
    check_fixed(dataset, {1, kGlyphSide, kGlyphSide}, 10);
    return std::make_unique<Digits>(seed_of(dataset), source_train_samples(dataset),
                                    dataset.test_samples);
}

Source open_mnist(const plan::Dataset& dataset) {
    check_fixed(dataset, {1, 28, 28}, 10);
    return std::make_unique<Mnist>(attribute<std::string>(dataset, "path"),
                                   source_train_samples(dataset), dataset.test_samples);
}

Source open_cifar(const plan::Dataset& dataset) {
    Cifar::Kind kind = Cifar::Kind::ten;
    if (dataset.type == "cifar100") {
        kind = attribute<std::string>(dataset, "labels") == "coarse" ? Cifar::Kind::coarse
                                                                     : Cifar::Kind::fine;
    }
    check_fixed(dataset, {3, 32, 32}, Cifar::classes_of(kind));
    return std::make_unique<Cifar>(kind, attribute<std::string>(dataset, "path"),
                                   source_train_samples(dataset), dataset.test_samples);
}

struct Type {
    const char* name;
    Source (*open)(const plan::Dataset&);
};
constexpr std::array kTypes = {
    Type{"digits", open_digits},  Type{"mnist", open_mnist},         Type{"cifar10", open_cifar},
    Type{"cifar100", open_cifar}, Type{"synthetic", made_up_source},
};

}  // namespace

std::unique_ptr<SampleSource> made_up_source(const plan::Dataset& dataset) {
    return std::make_unique<Synthetic>(stored_shape(dataset), dataset.classes, dataset.label_shape,
                                       seed_of(dataset), source_train_samples(dataset),
                                       dataset.test_samples);
}

std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset) {
    check_labels(dataset);
    std::string names;
    for (const Type& type : kTypes) {
        if (type.name == dataset.type) return type.open(dataset);
        names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
    throw RunError(Exit::mismatch,
                   fmt::format("the plan's dataset `{}` is of the type `{}`, which is unknown",
                               dataset.name, dataset.type),
                   fmt::format("the types are {}; {}", names, kCompileAgain));
}

}  // namespace dtnn::runtime
