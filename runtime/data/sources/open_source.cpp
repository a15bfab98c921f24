#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/held_out.hpp"
#include "runtime/data/sources/made_up_arrays.hpp"
#include "runtime/data/sources/source_type.hpp"
#include "runtime/data/sources/synthetic.hpp"
#include "runtime/data/sources/with_validation.hpp"

namespace dtnn::runtime {
namespace {

void check_labels(const plan::Dataset& dataset) {
    const plan::DatasetType* const type = plan::find_dataset_type(dataset.type);
    const bool known = type != nullptr && type->pixel_labels;
    plan::Feature places;
    plan::label_places(dataset.input(), places);
    if (dataset.target().dims.empty() ||
        (plan::has_sequences(dataset) && plan::holds_arrays(dataset)) ||
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

Source open_files(const SourceType& type, const plan::Dataset& dataset, const Asked& asked,
                  std::span<const std::byte> files) {
    if (type.list == nullptr) return type.open(dataset, asked);
    if (files.empty()) return type.open_listed(dataset, asked, type.list(dataset));
    const SplitFolders folders = split_folders_of(files);
    check_some_files(attribute<std::string>(dataset, "path"), folders);
    return type.open_listed(dataset, asked, folders);
}

/// The files, and where they have no split of their own, what a share of them makes.
Source open_split(const SourceType& type, const plan::Dataset& dataset, const Asked& asked,
                  std::span<const std::byte> files) {
    if (!dataset.attributes.contains(kShare) || type.shares)
        return open_files(type, dataset, asked, files);
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
Source open_all(const SourceType& type, const plan::Dataset& dataset, const Asked& asked,
                std::span<const std::byte> files) {
    if (!dataset.validation_files || plan::is_series(dataset))
        return open_split(type, dataset, asked, files);
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

const std::vector<std::pair<std::string_view, SourceType>>& source_types() {
    static const std::vector<std::pair<std::string_view, SourceType>> types = {
#define DATASET_TYPE(name, ...) {#name, name##_source()},
#include "plan/dataset_types.def"
#undef DATASET_TYPE
    };
    return types;
}

const SourceType* find_source_type(std::string_view name) {
    const auto& types = source_types();
    const auto found = std::find_if(types.begin(), types.end(),
                                    [&](const auto& type) { return type.first == name; });
    return found == types.end() ? nullptr : &found->second;
}

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
    if (plan::has_image(dataset) && dataset.inputs.size() == 1 && !plan::has_sequences(dataset))
        return images;
    return std::make_unique<MadeUpArrays>(std::move(images), dataset, seed_of(dataset));
}

std::vector<std::byte> list_files(const plan::Dataset& dataset) {
    check_labels(dataset);
    const SourceType* const type = find_source_type(dataset.type);
    if (type == nullptr || type->list == nullptr) return {};
    return bytes_of(type->list(dataset));
}

std::unique_ptr<SampleSource> open_source(const plan::Dataset& dataset, Counts counts,
                                          DType numbers, std::span<const std::byte> files) {
    // Who asks what the samples are like does not know their shape.
    if (counts != Counts::any) check_labels(dataset);
    const SourceType* const type = find_source_type(dataset.type);
    if (type == nullptr) {
        std::string names;
        for (const auto& [name, one] : source_types())
            names += (names.empty() ? "" : ", ") + std::string(name);
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
