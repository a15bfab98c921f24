#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/rules/resident.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/image_readers.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/cifar.hpp"
#include "runtime/data/sources/csv_source.hpp"
#include "runtime/data/sources/digits.hpp"
#include "runtime/data/sources/mnist.hpp"
#include "runtime/data/sources/synthetic.hpp"

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

/// What is asked of a source besides the plan's dataset.
struct Asked {
    Counts counts = Counts::exact;
    plan::DType numbers = plan::DType::f32;
};

Source open_digits(const plan::Dataset& dataset, const Asked&) {
    check_fixed(dataset, {1, kGlyphSide, kGlyphSide}, 10);
    return std::make_unique<Digits>(seed_of(dataset), source_train_samples(dataset),
                                    dataset.test_samples);
}

Source open_mnist(const plan::Dataset& dataset, const Asked& asked) {
    check_fixed(dataset, {1, 28, 28}, 10);
    return std::make_unique<Mnist>(attribute<std::string>(dataset, "path"),
                                   source_train_samples(dataset), dataset.test_samples,
                                   asked.counts == Counts::at_most);
}

Source open_cifar(const plan::Dataset& dataset, const Asked&) {
    Cifar::Kind kind = Cifar::Kind::ten;
    if (dataset.type == "cifar100") {
        kind = attribute<std::string>(dataset, "level") == "coarse" ? Cifar::Kind::coarse
                                                                    : Cifar::Kind::fine;
    }
    check_fixed(dataset, {3, 32, 32}, Cifar::classes_of(kind));
    return std::make_unique<Cifar>(kind, attribute<std::string>(dataset, "path"),
                                   source_train_samples(dataset), dataset.test_samples);
}

std::int64_t cache_of(const plan::Dataset& dataset) {
    return attribute<std::int64_t>(dataset, "cache");
}

/// Sources that have labels of one kind only.
void check_label_kind(const plan::Dataset& dataset, plan::LabelKind kind) {
    if (dataset.label_kind == kind) return;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has labels of another kind than its "
                    "samples, which have {}",
                    dataset.name,
                    kind == plan::LabelKind::classes ? "a class each" : "several labels each"),
        "compile the job with dataset.label_kind=classes; rows of labels are for .npz "
        "and csv");
}

ImageIndex::Expected images_of(const plan::Dataset& dataset, const Asked& asked) {
    if (const std::int64_t channels = stored_shape(dataset).at(0); channels != 1 && channels != 3) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset `{}` has {} channels; images have 1 or 3",
                                   dataset.name, channels),
                       "samples of other channels are arrays: name an .npz file");
    }
    return {dataset.classes,
            source_train_samples(dataset),
            dataset.test_samples,
            stored_shape(dataset),
            attribute<std::int64_t>(dataset, "most_pixels"),
            cache_of(dataset),
            asked.counts == Counts::at_most};
}

ArraySource::Expected arrays_of(const plan::Dataset& dataset, const Asked& asked) {
    return {stored_shape(dataset),          dataset.classes,      dataset.label_kind,
            source_train_samples(dataset),  dataset.test_samples, cache_of(dataset),
            asked.counts == Counts::at_most};
}

SplitFolders list_folder(const plan::Dataset& dataset) {
    check_label_kind(dataset, plan::LabelKind::classes);
    return list_image_folder(attribute<std::string>(dataset, "path"));
}

Source open_folder(const plan::Dataset& dataset, const Asked& asked, const SplitFolders& folders) {
    return open_image_folder(attribute<std::string>(dataset, "path"), images_of(dataset, asked),
                             folders);
}

Source open_archive(const plan::Dataset& dataset, const Asked& asked) {
    const std::string& path = attribute<std::string>(dataset, "path");
    // Both are zip files; what an archive of arrays is called, NumPy decides.
    if (path.ends_with(".npz")) return ArraySource::open_archive(path, arrays_of(dataset, asked));
    check_label_kind(dataset, plan::LabelKind::classes);
    return open_image_archive(path, images_of(dataset, asked));
}

SplitFolders list_imagenet_form(const plan::Dataset& dataset) {
    const std::string& path = attribute<std::string>(dataset, "path");
    check_label_kind(dataset, plan::LabelKind::classes);
    return ArraySource::has_shards(path) ? SplitFolders() : list_imagenet(path);
}

Source open_imagenet_form(const plan::Dataset& dataset, const Asked& asked,
                          const SplitFolders& folders) {
    const std::string& path = attribute<std::string>(dataset, "path");
    if (ArraySource::has_shards(path))
        return ArraySource::open_shards(path, arrays_of(dataset, asked));
    return open_imagenet(path, images_of(dataset, asked), folders);
}

Source open_xrays(const plan::Dataset& dataset, const Asked& asked) {
    check_label_kind(dataset, plan::LabelKind::multiple);
    return open_chestxray(attribute<std::string>(dataset, "path"), images_of(dataset, asked));
}

Source open_csv(const plan::Dataset& dataset, const Asked& asked) {
    CsvSource::Form form;
    form.shape = stored_shape(dataset);
    form.classes = dataset.classes;
    form.kind = dataset.label_kind;
    form.label_columns = attribute<std::vector<std::int64_t>>(dataset, "label_columns");
    form.header = attribute<bool>(dataset, "header");
    const std::string& separator = attribute<std::string>(dataset, "separator");
    form.separator = separator == "semicolon" ? ';' : separator == "tab" ? '\t' : ',';
    form.train_samples = source_train_samples(dataset);
    form.test_samples = dataset.test_samples;
    form.cache = cache_of(dataset);
    form.at_most = asked.counts == Counts::at_most;
    form.wide = asked.numbers == plan::DType::f64;
    return std::make_unique<CsvSource>(attribute<std::string>(dataset, "path"),
                                       attribute<std::string>(dataset, "test_path"), form);
}

Source open_synthetic(const plan::Dataset& dataset, const Asked&) {
    return made_up_source(dataset);
}

struct Type {
    const char* name;
    Source (*open)(const plan::Dataset&, const Asked&) = nullptr;
    /// Where images lie in folders: looking is apart from opening.
    SplitFolders (*list)(const plan::Dataset&) = nullptr;
    Source (*open_listed)(const plan::Dataset&, const Asked&, const SplitFolders&) = nullptr;
};
constexpr std::array kTypes = {
    Type{"digits", open_digits},
    Type{"mnist", open_mnist},
    Type{"cifar10", open_cifar},
    Type{"cifar100", open_cifar},
    Type{"folder", nullptr, list_folder, open_folder},
    Type{"archive", open_archive},
    Type{"imagenet", nullptr, list_imagenet_form, open_imagenet_form},
    Type{"chestxray", open_xrays},
    Type{"csv", open_csv},
    Type{"synthetic", open_synthetic},
};

/// Null: there is no such type.
const Type* type_of(const plan::Dataset& dataset) {
    const auto* const found = std::find_if(
        kTypes.begin(), kTypes.end(), [&](const Type& type) { return type.name == dataset.type; });
    return found == kTypes.end() ? nullptr : found;
}

}  // namespace

std::unique_ptr<SampleSource> made_up_source(const plan::Dataset& dataset) {
    check_labels(dataset);
    // Where images have several sizes, they are made in the size that the transforms give.
    plan::Dims shape = stored_shape(dataset);
    for (std::size_t axis = 1; axis < shape.size(); ++axis)
        if (shape[axis] == 0) shape[axis] = dataset.shape[axis];
    return std::make_unique<Synthetic>(shape, dataset.classes, dataset.label_shape,
                                       seed_of(dataset), source_train_samples(dataset),
                                       dataset.test_samples, dataset.label_kind);
}

std::vector<std::byte> list_files(const plan::Dataset& dataset) {
    check_labels(dataset);
    const Type* const type = type_of(dataset);
    if (type == nullptr || type->list == nullptr) return {};
    return bytes_of(type->list(dataset));
}

std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset, Counts counts,
                                          plan::DType numbers, std::span<const std::byte> files) {
    check_labels(dataset);
    const Asked asked{counts, numbers};
    if (const Type* const type = type_of(dataset)) {
        Source source;
        if (type->list == nullptr) {
            source = type->open(dataset, asked);
        } else if (files.empty()) {
            source = type->open_listed(dataset, asked, type->list(dataset));
        } else {
            const SplitFolders folders = split_folders_of(files);
            check_some_files(attribute<std::string>(dataset, "path"), folders);
            source = type->open_listed(dataset, asked, folders);
        }
        const std::int64_t booked = plan::resident_bytes(dataset, numbers);
        if (source->resident_bytes() <= booked) return source;
        throw RunError(Exit::internal,
                       fmt::format("the dataset keeps {} bytes in memory, and the plan has booked "
                                   "{}",
                                   source->resident_bytes(), booked),
                       "this is a mistake of the program: please report it");
    }
    std::string names;
    for (const Type& type : kTypes)
        names += (names.empty() ? "" : ", ") + std::string(type.name);
    throw RunError(Exit::mismatch,
                   fmt::format("the plan's dataset `{}` is of the type `{}`, which is unknown",
                               dataset.name, dataset.type),
                   fmt::format("the types are {}; {}", names, kCompileAgain));
}

}  // namespace dtnn::runtime
