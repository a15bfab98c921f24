#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/image_readers.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/cifar.hpp"
#include "runtime/data/sources/csv_source.hpp"
#include "runtime/data/sources/digits.hpp"
#include "runtime/data/sources/held_out.hpp"
#include "runtime/data/sources/made_up_arrays.hpp"
#include "runtime/data/sources/mask_source.hpp"
#include "runtime/data/sources/mnist.hpp"
#include "runtime/data/sources/synthetic.hpp"
#include "runtime/data/sources/with_validation.hpp"

namespace dtnn::runtime {
namespace {

/// The attribute of datasets whose files have no split of their own.
const char* const kShare = "test_share";

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
const Dims& stored_shape(const plan::Dataset& dataset) {
    return dataset.input().stored_dims.empty() ? dataset.input().dims : dataset.input().stored_dims;
}

void check_fixed(const plan::Dataset& dataset, const Dims& shape, std::int64_t classes) {
    const bool labelled = dataset.target().kind != plan::LabelKind::input;
    if (stored_shape(dataset) == shape && (dataset.target().classes == classes || !labelled))
        return;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has the shape [{}] and {} classes, {} has "
                    "[{}] and {}",
                    dataset.name, fmt::join(stored_shape(dataset), ","), dataset.target().classes,
                    dataset.type, fmt::join(shape, ","), classes),
        kCompileAgain);
}

/// Whether the samples have a class for every pixel or step.
bool labels_pixels(const plan::Dataset& dataset) {
    return dataset.target().kind == plan::LabelKind::classes && !dataset.target().dims.empty();
}

void check_labels(const plan::Dataset& dataset) {
    const plan::DatasetType* const type = plan::find_dataset_type(dataset.type);
    const bool known = type != nullptr && type->pixel_labels;
    plan::Feature places;
    plan::label_places(dataset.input(), places);
    if (dataset.target().dims.empty() ||
        ((known || dataset.target().kind == plan::LabelKind::input) &&
         dataset.target().dims == places.dims))
        return;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has labels of the shape [{}], which {} does "
                    "not have",
                    dataset.name, fmt::join(dataset.target().dims, ","), dataset.type),
        kCompileAgain);
}

using Source = std::unique_ptr<SampleSource>;

/// What is asked of a source besides the plan's dataset.
struct Asked {
    Counts counts = Counts::exact;
    DType numbers = DType::f32;
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

Source open_cifar(const plan::Dataset& dataset, Cifar::Kind kind) {
    check_fixed(dataset, {3, 32, 32}, Cifar::classes_of(kind));
    return std::make_unique<Cifar>(kind, attribute<std::string>(dataset, "path"),
                                   source_train_samples(dataset), dataset.test_samples);
}

Source open_cifar10(const plan::Dataset& dataset, const Asked&) {
    return open_cifar(dataset, Cifar::Kind::ten);
}

Source open_cifar100(const plan::Dataset& dataset, const Asked&) {
    const bool coarse = says(dataset.attributes, "level", plan::LabelLevel::coarse);
    return open_cifar(dataset, coarse ? Cifar::Kind::coarse : Cifar::Kind::fine);
}

std::int64_t cache_of(const plan::Dataset& dataset) {
    return attribute<std::int64_t>(dataset, "cache");
}

/// Sources that have labels of one kind only.
void check_label_kind(const plan::Dataset& dataset, plan::LabelKind kind) {
    if (dataset.target().kind == kind || dataset.target().kind == plan::LabelKind::input) return;
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's dataset `{}` has labels of another kind than its "
                    "samples, which have {}",
                    dataset.name,
                    kind == plan::LabelKind::classes ? "a class each" : "several labels each"),
        "compile the job with dataset.label_kind=classes; rows of labels are for .npz "
        "and csv");
}

/// How many classes there must be; 0: any.
std::int64_t classes_of(const plan::Dataset& dataset) {
    return dataset.target().kind == plan::LabelKind::input ? 0 : dataset.target().classes;
}

ImageIndex::Expected images_of(const plan::Dataset& dataset, const Asked& asked) {
    // Who asks what the images are like does not know it.
    const Dims shape = stored_shape(dataset).empty() ? Dims{3, 0, 0} : stored_shape(dataset);
    if (const std::int64_t channels = shape.at(0); channels != 1 && channels != 3) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset `{}` has {} channels; images have 1 or 3",
                                   dataset.name, channels),
                       "samples of other channels are arrays: name an .npz file");
    }
    return {classes_of(dataset),
            source_train_samples(dataset),
            dataset.test_samples,
            shape,
            attribute<std::int64_t>(dataset, "most_pixels"),
            cache_of(dataset),
            asked.counts};
}

constexpr const char* kValidationFolder = "validation_folder";
constexpr const char* kValidationPath = "validation_path";
constexpr const char* kValidationName = "validation_name";
/// What an archive calls the samples, where they are those of validation: no field of specs.
constexpr const char* kPart = "part";

std::string part_of(const plan::Dataset& dataset) {
    return dataset.attributes.contains(kPart) ? attribute<std::string>(dataset, kPart) : "";
}

ArraySource::Expected arrays_of(const plan::Dataset& dataset, const Asked& asked) {
    std::vector<plan::Feature> inputs = dataset.inputs;
    inputs[0].stored_dims = stored_shape(dataset);
    return {std::move(inputs),
            dataset.target().classes,
            dataset.target().kind,
            source_train_samples(dataset),
            dataset.test_samples,
            cache_of(dataset),
            asked.counts,
            !dataset.attributes.contains(kShare) && part_of(dataset).empty(),
            part_of(dataset),
            labels_pixels(dataset),
            plan::ignored_value(dataset)};
}

/// The folders of a dataset's splits; plans made by hand have train and test.
ImageFolders folders_of(const plan::Dataset& dataset) {
    ImageFolders names;
    if (dataset.attributes.contains("train_folder"))
        names.train = attribute<std::string>(dataset, "train_folder");
    if (dataset.attributes.contains("test_folder"))
        names.test = attribute<std::string>(dataset, "test_folder");
    if (dataset.attributes.contains(kShare)) names.test.clear();
    if (dataset.attributes.contains(kValidationFolder))
        names.validation = attribute<std::string>(dataset, kValidationFolder);
    return names;
}

SplitFolders list_folder(const plan::Dataset& dataset) {
    check_label_kind(dataset, plan::LabelKind::classes);
    return list_image_folder(attribute<std::string>(dataset, "path"), folders_of(dataset));
}

Source open_folder(const plan::Dataset& dataset, const Asked& asked, const SplitFolders& folders) {
    return open_image_folder(attribute<std::string>(dataset, "path"), folders_of(dataset),
                             images_of(dataset, asked), folders);
}

Source open_segmentation(const plan::Dataset& dataset, const Asked& asked) {
    check_label_kind(dataset, plan::LabelKind::classes);
    const ImageFolders splits = folders_of(dataset);
    ImageIndex::Expected expected = images_of(dataset, asked);
    std::vector<std::int64_t> values;
    if (dataset.attributes.contains("mask_values"))
        values = attribute<std::vector<std::int64_t>>(dataset, "mask_values");
    return std::make_unique<MaskSource>(
        attribute<std::string>(dataset, "path"),
        MaskFolders{splits.train, splits.test, attribute<std::string>(dataset, "image_folder"),
                    attribute<std::string>(dataset, "mask_folder")},
        expected, values, plan::ignored_value(dataset));
}

Source open_archive(const plan::Dataset& dataset, const Asked& asked) {
    const std::string& path = attribute<std::string>(dataset, "path");
    if (plan::holds_arrays(dataset))
        return ArraySource::open_archive(path, arrays_of(dataset, asked));
    check_label_kind(dataset, plan::LabelKind::classes);
    ImageFolders names;
    if (const std::string part = part_of(dataset); !part.empty()) names = {part, "", ""};
    if (dataset.attributes.contains(kValidationName))
        names.validation = attribute<std::string>(dataset, kValidationName);
    return open_image_archive(path, names, images_of(dataset, asked));
}

SplitFolders list_imagenet(const plan::Dataset& dataset) {
    const std::string& path = attribute<std::string>(dataset, "path");
    check_label_kind(dataset, plan::LabelKind::classes);
    return ArraySource::has_shards(path) ? SplitFolders() : runtime::list_imagenet(path);
}

Source open_imagenet(const plan::Dataset& dataset, const Asked& asked,
                     const SplitFolders& folders) {
    const std::string& path = attribute<std::string>(dataset, "path");
    if (ArraySource::has_shards(path))
        return ArraySource::open_shards(path, arrays_of(dataset, asked));
    return runtime::open_imagenet(path, images_of(dataset, asked), folders);
}

Source open_chestxray(const plan::Dataset& dataset, const Asked& asked) {
    check_label_kind(dataset, plan::LabelKind::multiple);
    return runtime::open_chestxray(attribute<std::string>(dataset, "path"),
                                   images_of(dataset, asked));
}

Source open_csv(const plan::Dataset& dataset, const Asked& asked) {
    CsvSource::Form form = table_form(dataset);
    form.shape = stored_shape(dataset);
    form.classes = classes_of(dataset);
    form.kind = dataset.target().kind;
    form.train_samples = source_train_samples(dataset);
    form.test_samples = dataset.test_samples;
    form.cache = cache_of(dataset);
    form.counts = asked.counts;
    form.encoding.wide = asked.numbers == DType::f64;
    return std::make_unique<CsvSource>(
        attribute<std::string>(dataset, "path"),
        dataset.attributes.contains(kShare) ? "" : attribute<std::string>(dataset, "test_path"),
        form);
}

Source open_synthetic(const plan::Dataset& dataset, const Asked&) {
    return made_up_source(dataset);
}

struct Type {
    const char* name = nullptr;
    Source (*open)(const plan::Dataset&, const Asked&) = nullptr;
    /// Where images lie in folders: looking is apart from opening.
    SplitFolders (*list)(const plan::Dataset&) = nullptr;
    Source (*open_listed)(const plan::Dataset&, const Asked&, const SplitFolders&) = nullptr;
};
constexpr Type type(const char* name, Source (*open)(const plan::Dataset&, const Asked&)) {
    return {name, open};
}
constexpr Type type(const char* name,
                    Source (*open)(const plan::Dataset&, const Asked&, const SplitFolders&)) {
    return {name, nullptr, open == open_folder ? list_folder : list_imagenet, open};
}
/// Every type that there is, opened by open_NAME.
constexpr std::array kTypes = {
#define DATASET_TYPE(name, ...) type(#name, open_##name),
#include "plan/dataset_types.def"
#undef DATASET_TYPE
};

/// Null: there is no such type.
const Type* type_of(const plan::Dataset& dataset) {
    const auto* const found = std::find_if(
        kTypes.begin(), kTypes.end(), [&](const Type& type) { return type.name == dataset.type; });
    return found == kTypes.end() ? nullptr : found;
}

Source open_files(const Type& type, const plan::Dataset& dataset, const Asked& asked,
                  std::span<const std::byte> files) {
    if (type.list == nullptr) return type.open(dataset, asked);
    if (files.empty()) return type.open_listed(dataset, asked, type.list(dataset));
    const SplitFolders folders = split_folders_of(files);
    check_some_files(attribute<std::string>(dataset, "path"), folders);
    return type.open_listed(dataset, asked, folders);
}

/// The files, and where they have no split of their own, what a share of them makes.
Source open_split(const Type& type, const plan::Dataset& dataset, const Asked& asked,
                  std::span<const std::byte> files) {
    if (!dataset.attributes.contains(kShare)) return open_files(type, dataset, asked, files);
    const auto share = attribute<double>(dataset, kShare);
    if (!(share > 0) || !(share < 1))
        throw RunError(
            Exit::mismatch,
            fmt::format("the plan's dataset `{}` has a test_share of {}", dataset.name, share),
            kCompileAgain);
    plan::Dataset all = dataset;
    all.train_samples = all.source_train_samples =
        source_train_samples(dataset) + dataset.test_samples;
    all.test_samples = 0;
    const char* const help =
        "leave train_samples and test_samples out of the dataset: they follow from test_share";
    std::unique_ptr<HeldOut> source;
    try {
        source = std::make_unique<HeldOut>(open_files(type, all, asked, files), share);
    } catch (const RunError& error) {
        if (error.exit() != Exit::mismatch) throw;
        throw RunError(
            Exit::mismatch, error.what(),
            fmt::format("{}; train_samples and test_samples follow from test_share", error.help()));
    }
    if (asked.counts == Counts::exact &&
        (source->size(Split::train) != source_train_samples(dataset) ||
         source->size(Split::test) != dataset.test_samples)) {
        throw RunError(
            Exit::mismatch,
            fmt::format("a test_share of {} makes {} training and {} test samples of the "
                        "dataset `{}`; the plan expects {} and {}",
                        share, source->size(Split::train), source->size(Split::test), dataset.name,
                        source_train_samples(dataset), dataset.test_samples),
            help);
    }
    return source;
}

/// The files but for those of validation, and with them.
Source open_all(const Type& type, const plan::Dataset& dataset, const Asked& asked,
                std::span<const std::byte> files) {
    if (!dataset.validation_files) return open_split(type, dataset, asked, files);
    plan::Dataset trained = dataset;
    trained.validation_files = false;
    trained.source_train_samples =
        std::max<std::int64_t>(0, source_train_samples(dataset) - dataset.validation_samples);
    trained.train_samples = trained.source_train_samples;
    trained.validation_samples = 0;
    trained.attributes.erase(kValidationFolder);
    plan::Dataset held = trained;
    held.train_samples = held.source_train_samples = dataset.validation_samples;
    held.test_samples = 0;
    held.attributes.erase(kShare);
    held.attributes.erase(kValidationName);
    if (dataset.attributes.contains(kValidationName)) {
        held.attributes[kPart] = attribute<std::string>(dataset, kValidationName);
    } else if (dataset.attributes.contains(kValidationPath)) {
        held.attributes["path"] = attribute<std::string>(dataset, kValidationPath);
        held.attributes["test_path"] = std::string();
    } else {
        held.attributes["train_folder"] = attribute<std::string>(dataset, kValidationFolder);
        held.attributes["test_folder"] = std::string();
    }
    // Some classes may be missing there.
    const bool named = dataset.target().kind == plan::LabelKind::classes && !labels_pixels(dataset);
    Source source = open_split(type, trained, asked, files);
    // Arrays have one shape, and as many numbers a label, which the first of them say.
    if (plan::holds_arrays(dataset) && held.input().stored_dims.empty())
        held.input().stored_dims = source->found_shape();
    if (named)
        held.target().classes = 0;
    else if (plan::holds_arrays(dataset) && held.target().classes == 0)
        held.target().classes = source->found_classes();
    Source other = open_split(type, held, asked, files);
    return std::make_unique<WithValidation>(std::move(source), std::move(other), named);
}

/// What the plan knows of the content besides counts.
void check_found(const SampleSource& source, const plan::Dataset& dataset) {
    const std::vector<std::string> names = source.class_names();
    const char* const help =
        "if the files are right, compile the job again; `dtnnc data PATH --write FILE` writes a "
        "dataset's spec anew";
    if (!names.empty() && !dataset.target().names.empty() && names != dataset.target().names &&
        dataset.target().kind != plan::LabelKind::input) {
        std::size_t at = 0;
        while (at < names.size() && at < dataset.target().names.size() &&
               names[at] == dataset.target().names[at])
            ++at;
        const auto name = [at](const std::vector<std::string>& list) {
            return at < list.size() ? fmt::format("`{}`", printable(list[at])) : "not there";
        };
        throw RunError(Exit::mismatch,
                       fmt::format("class {} of the dataset `{}` is {} in its files, and {} in the "
                                   "plan",
                                   at, dataset.name, name(names), name(dataset.target().names)),
                       help);
    }
    const auto wanted = dataset.attributes.find("content_hash");
    if (wanted == dataset.attributes.end()) return;
    const std::string found = content_text(source.content_hash());
    const auto* text = std::get_if<std::string>(&wanted->second);
    if (text != nullptr && *text == found) return;
    throw RunError(
        Exit::mismatch,
        fmt::format("the content of the dataset `{}` is {}, and the plan expects {}", dataset.name,
                    found, text == nullptr ? "no text" : *text),
        fmt::format("{}; without `content_hash` any content will do. Of images that do not fit "
                    "dataset.cache it is the hash of their names and sizes alone",
                    help));
}

}  // namespace

std::string content_text(std::uint64_t hash) {
    return fmt::format("xxh3:{:016x}", hash);
}

std::unique_ptr<SampleSource> made_up_source(const plan::Dataset& dataset) {
    check_labels(dataset);
    // Where images have several sizes, they are made in the size that the transforms give.
    Dims shape = stored_shape(dataset);
    for (std::size_t axis = 1; axis < shape.size(); ++axis)
        if (shape[axis] == 0) shape[axis] = dataset.input().dims[axis];
    if (!plan::has_image(dataset)) shape = {1, 1, element_count(dataset.target().dims)};
    // Labels of pixels are made where pixels are, before any transform.
    const Dims label_shape = labels_pixels(dataset) ? Dims{shape[1], shape[2]} : Dims{};
    Source images = std::make_unique<Synthetic>(shape, dataset.target().classes, label_shape,
                                                seed_of(dataset), source_train_samples(dataset),
                                                dataset.test_samples, dataset.target().kind);
    if (plan::has_image(dataset) && dataset.inputs.size() == 1) return images;
    return std::make_unique<MadeUpArrays>(std::move(images), dataset, seed_of(dataset));
}

std::vector<std::byte> list_files(const plan::Dataset& dataset) {
    check_labels(dataset);
    const Type* const type = type_of(dataset);
    if (type == nullptr || type->list == nullptr) return {};
    return bytes_of(type->list(dataset));
}

std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset, Counts counts,
                                          DType numbers, std::span<const std::byte> files) {
    // Who asks what the samples are like does not know their shape.
    if (counts != Counts::any) check_labels(dataset);
    const Type* const type = type_of(dataset);
    if (type == nullptr) {
        std::string names;
        for (const Type& one : kTypes)
            names += (names.empty() ? "" : ", ") + std::string(one.name);
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset `{}` is of the type `{}`, which is unknown",
                                   dataset.name, dataset.type),
                       fmt::format("the types are {}; {}", names, kCompileAgain));
    }
    Source source = open_all(*type, dataset, {counts, numbers}, files);
    if (counts == Counts::any) return source;
    if (counts == Counts::exact) check_found(*source, dataset);
    const std::int64_t booked = plan::resident_bytes(dataset, numbers);
    if (source->resident_bytes() <= booked) return source;
    throw RunError(Exit::internal,
                   fmt::format("the dataset keeps {} bytes in memory, and the plan has booked {}",
                               source->resident_bytes(), booked),
                   "this is a mistake of the program: please report it");
}

}  // namespace dtnn::runtime
