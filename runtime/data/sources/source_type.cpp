#include "runtime/data/sources/source_type.hpp"

#include <utility>

#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/label_sequences.hpp"

namespace dtnn::runtime {

std::string test_path_of(const plan::Dataset& dataset) {
    return dataset.attributes.contains(kShare) ? "" : attribute<std::string>(dataset, "test_path");
}

std::string part_of(const plan::Dataset& dataset) {
    return dataset.attributes.contains(kPart) ? attribute<std::string>(dataset, kPart) : "";
}

std::uint64_t seed_of(const plan::Dataset& dataset) {
    return dataset.attributes.contains("seed")
               ? std::uint64_t(attribute<std::int64_t>(dataset, "seed"))
               : 0;
}

std::int64_t cache_of(const plan::Dataset& dataset) {
    return attribute<std::int64_t>(dataset, "cache");
}

std::int64_t classes_of(const plan::Dataset& dataset) {
    return dataset.target().kind == plan::LabelKind::input ? 0 : dataset.target().classes;
}

const Dims& stored_shape(const plan::Dataset& dataset) {
    return dataset.input().stored_dims.empty() ? dataset.input().dims : dataset.input().stored_dims;
}

bool labels_pixels(const plan::Dataset& dataset) {
    return dataset.target().kind == plan::LabelKind::classes && !dataset.target().dims.empty();
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

namespace {

std::optional<ArraySource::Sequences> sequences_of(const plan::Dataset& dataset) {
    if (!plan::has_sequences(dataset)) return std::nullopt;
    const auto first = [](const Dims& dims) { return dims.empty() ? 0 : dims.front(); };
    return ArraySource::Sequences{first(dataset.target().dims), first(dataset.target().stored_dims),
                                  plan::blank_of(dataset)};
}

}  // namespace

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
            sequences_of(dataset),
            plan::ignored_value(dataset),
            plan::lengths_input(dataset).has_value()};
}

}  // namespace dtnn::runtime
