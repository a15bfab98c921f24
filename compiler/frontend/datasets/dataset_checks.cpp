#include "compiler/frontend/datasets/dataset_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/frontend/read/validation.hpp"
#include "compiler/ir/graph.hpp"
#include "plan/dataset_choices.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/lengths.hpp"

namespace dtnn::compiler {
namespace {

/// Reports what a field says at the place where it is written.
struct Refusal {
    const FieldValues& fields;
    const DatasetSpec& spec;
    Diagnostics& diagnostics;

    void operator()(Code code, const char* field, const std::string& text,
                    const std::string& help) const {
        diagnostics.error(code, span_or(fields.spans, field, spec.span), text).help = help;
    }
};

/// The shape of images: one or three channels, of arrays any number of them; extents that may be
/// zero, both or none.
void check_image_shape(const Dims& shape, bool arrays, const Span& span, Diagnostics& diagnostics) {
    if (!check_image_extents(shape, span, "dataset", diagnostics)) return;
    if (arrays && shape[0] == 0) {
        diagnostics.error(Code::out_of_range, span, "`shape` of dataset has no channels");
        return;
    }
    if (!arrays && shape[0] != 1 && shape[0] != 3) {
        diagnostics.error(
            Code::out_of_range, span,
            fmt::format("`shape` of dataset has {} channels; images have 1 (gray) or "
                        "3 (colours)",
                        shape[0]),
            shape[2] == 1 || shape[2] == 3
                ? fmt::format("channels come first: [{}, {}, {}]", shape[2], shape[0], shape[1])
                : std::string());
        return;
    }
    const bool differ = shape[1] == 0 && shape[2] == 0;
    if (!differ && (shape[1] == 0 || shape[2] == 0)) {
        diagnostics.error(Code::out_of_range, span,
                          "`shape` of dataset has a zero; height and width are both zero, for "
                          "images of several sizes, or neither");
        return;
    }
    // Images of several sizes are checked behind the transforms, which make them one.
    check_sample_shape(differ ? Dims{shape[0], 1, 1} : shape, span, "dataset", diagnostics);
}

/// The model says what its inputs are that are no images.
void check_array_shape(const FieldValues& fields, const DatasetSpec& spec,
                       Diagnostics& diagnostics) {
    const Dims& wanted = spec.dataset.input().dims;
    const Dims shape = fields.dims("shape");
    if (!fields.values.contains("shape") || wanted.empty() || shape == wanted) return;
    Refusal{fields, spec, diagnostics}(
        Code::shape_mismatch, "shape",
        fmt::format("`shape` of dataset is [{}], and the model's first input is [{}]",
                    fmt::join(shape, ", "), fmt::join(wanted, ", ")),
        "leave it out: the model says it");
}

}  // namespace

void settle_known_form(DatasetSpec& spec) {
    const plan::DatasetType& type = *plan::find_dataset_type(spec.dataset.type);
    spec.dataset.input().dims.assign(type.shape.begin(), type.shape.end());
    spec.dataset.target().classes = type.classes;
}

void settle_shape(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    if (!plan::has_image(spec.dataset)) return check_array_shape(fields, spec, diagnostics);
    spec.dataset.input().dims = fields.dims("shape");
    if (fields.values.contains("shape"))
        check_sample_shape(spec.dataset.input().dims, span_or(fields.spans, "shape", spec.span),
                           "dataset", diagnostics);
}

void settle_image_shape(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    if (!plan::has_image(spec.dataset)) return check_array_shape(fields, spec, diagnostics);
    spec.dataset.input().dims = fields.dims("shape");
    if (fields.values.contains("shape"))
        check_image_shape(spec.dataset.input().dims, plan::holds_arrays(spec.dataset),
                          span_or(fields.spans, "shape", spec.span), diagnostics);
}

void settle_classes(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    plan::Dataset& dataset = spec.dataset;
    dataset.target().classes = fields.integer("classes");
    if (fields.values.contains("classes") && dataset.target().classes < 2 &&
        dataset.target().kind == plan::LabelKind::classes)
        diagnostics.error(
            Code::out_of_range, span_or(fields.spans, "classes", spec.span),
            spec.found.contains("classes")
                ? "the dataset's files have one class; there must be two to tell apart"
                : "`classes` of dataset is 1; there must be two to tell apart");
}

void settle_images(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_image_shape(fields, spec, diagnostics);
    settle_classes(fields, spec, diagnostics);
    check_paths(fields, spec, kFileOrFolder, diagnostics);
}

void check_most(const FieldValues& fields, const DatasetSpec& spec, const MostSamples& most,
                Diagnostics& diagnostics) {
    for (const auto& [name, count] :
         {std::pair{"train_samples", most.train}, std::pair{"test_samples", most.test}})
        if (fields.integer(name) > count)
            diagnostics.error(Code::out_of_range, span_or(fields.spans, name, spec.span),
                              fmt::format("`{}` of dataset is {}; {} has {}", name,
                                          fields.integer(name), spec.dataset.type, count));
}

void check_paths(const FieldValues& fields, const DatasetSpec& spec, std::string_view what,
                 Diagnostics& diagnostics) {
    const Refusal refuse{fields, spec, diagnostics};
    for (const char* field : {"path", "test_path", "validation_path"}) {
        if (!fields.values.contains(field)) continue;
        const std::string path = fields.text(field);
        if (path.empty())
            refuse(Code::out_of_range, field,
                   fmt::format("`{}` of dataset is empty; it must name {}", field, what), "");
        else if (path[0] == '~' || (path[0] == '$' && !path.starts_with("${")))
            refuse(Code::out_of_range, field,
                   fmt::format("`{}` of dataset begins with `{}`, which shells replace, and specs "
                               "do not",
                               field, path[0]),
                   fmt::format("write the whole path, or one from this file's folder; `./{}` for "
                               "what is called so",
                               path));
    }
}

bool labels_places(const FieldValues& fields, const plan::Dataset& dataset) {
    const plan::DatasetType* type = plan::find_dataset_type(dataset.type);
    return (type && (type->masks || type->next_tokens)) ||
           fields.says("labels", plan::LabelPlace::pixel) ||
           fields.says("labels", plan::LabelPlace::step);
}

void check_label_places(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics) {
    const std::string word = fields.text("labels");
    const bool image = plan::has_image(spec.dataset);
    const Axes& axes = spec.dataset.input().axes;
    const bool places = axes.size() > (feature_axis(axes) < 0 ? 0 : 1);
    if (word.empty() || (places && image == fields.says("labels", plan::LabelPlace::pixel))) return;
    Refusal{fields, spec, diagnostics}(
        Code::conflicting_fields, "labels",
        fmt::format("`labels: {0}` of dataset gives every {0} a class, and samples {1}", word,
                    image ? "are images" : fmt::format("have no {}s", word)),
        image ? "`labels: pixel` is for images"
              : "`labels: step` is for samples of the axes [step, feature], or [step] of integers");
}

void check_pixel_labels(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics) {
    if (!labels_places(fields, spec.dataset)) return;
    const Refusal refuse{fields, spec, diagnostics};
    const std::string word = fields.text("labels");
    if (!plan::holds_arrays(spec.dataset))
        refuse(Code::conflicting_fields, "labels",
               fmt::format("`labels: {}` of dataset is for arrays; an archive of images has a "
                           "class for each",
                           word),
               "images with masks are read by `type: segmentation`, unpacked");
    else if (!fields.says("label_kind", plan::LabelKind::classes))
        refuse(Code::conflicting_fields, "labels",
               fmt::format("`labels: {0}` of dataset gives every {0} a class; `label_kind` says "
                           "otherwise",
                           word),
               "leave one of them out");
}

void check_label_sequences(const FieldValues& fields, const DatasetSpec& spec,
                           Diagnostics& diagnostics) {
    const Refusal refuse{fields, spec, diagnostics};
    if (!fields.says("labels", plan::LabelPlace::sequence)) {
        if (fields.values.contains(plan::kMostLabels))
            refuse(Code::conflicting_fields, plan::kMostLabels,
                   "`most_labels` of dataset is of sequences of labels, and samples have none",
                   "`labels: sequence` says that they have");
        return;
    }
    if (!plan::holds_arrays(spec.dataset))
        refuse(Code::conflicting_fields, "labels",
               "`labels: sequence` of dataset is for arrays; an archive of images has a class for "
               "each",
               "save samples and their rows of labels as an .npz file");
    else if (!fields.says("label_kind", plan::LabelKind::classes))
        refuse(Code::conflicting_fields, "labels",
               "`labels: sequence` of dataset gives every sample a row of classes; `label_kind` "
               "says otherwise",
               "leave one of them out");
    else if (!plan::has_sequences(spec.dataset))
        refuse(Code::conflicting_fields, "labels",
               "`labels: sequence` of dataset gives every sample a row of classes, and with "
               "`target: input` it is its own label",
               "leave one of them out");
}

void check_ignored_value(const FieldValues& fields, const DatasetSpec& spec,
                         Diagnostics& diagnostics) {
    if (!fields.values.contains("ignored_value")) return;
    const plan::Dataset& dataset = spec.dataset;
    const Refusal refuse{fields, spec, diagnostics};
    const std::int64_t value = fields.integer("ignored_value");
    const Dims numbers = fields.dims("mask_values");
    const std::string taken = fmt::format("`ignored_value` of dataset is {}, which is ", value);
    if (!labels_places(fields, dataset) && !plan::has_sequences(dataset))
        refuse(Code::conflicting_fields, "ignored_value",
               "`ignored_value` of dataset is of pixels, and samples have one class each",
               "masks have it, and arrays with `labels: pixel`");
    else if (std::find(numbers.begin(), numbers.end(), value) != numbers.end())
        refuse(Code::conflicting_fields, "ignored_value", taken + "a class by `mask_values`",
               "leave it out of one of them");
    else if (numbers.empty() && dataset.target().classes > 0 && value >= 0 &&
             value < dataset.target().classes)
        refuse(Code::conflicting_fields, "ignored_value",
               taken + fmt::format("one of the {} classes", dataset.target().classes),
               "`mask_values` says which numbers are classes, where it is not 0, 1, 2 ...");
}

void check_lengths(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics) {
    if (!fields.values.contains("lengths")) return;
    const plan::Dataset& dataset = spec.dataset;
    const Refusal refuse{fields, spec, diagnostics};
    const std::string name = fields.text("lengths");
    const auto inputs = std::count_if(dataset.inputs.begin(), dataset.inputs.end(),
                                      [&](const plan::Feature& input) {
                                          return (input.name.empty() ? "x" : input.name) == name;
                                      });
    // One of them is the array itself, where the model reads steps.
    const auto own = std::ptrdiff_t(!plan::lengths_array(dataset).empty());
    if (name.empty())
        refuse(Code::out_of_range, "lengths",
               "`lengths` of dataset is empty; it must name an array",
               "such as `lengths: n`, for n_train and n_test");
    else if (!plan::holds_arrays(dataset))
        refuse(Code::conflicting_fields, "lengths",
               "`lengths` of dataset is for arrays, and an archive of images has none",
               "leave it out, or name an .npz file");
    else if (inputs > own || name == "y" || is_reserved_input(name))
        refuse(
            Code::conflicting_fields, "lengths",
            fmt::format("`lengths` of dataset is `{}`, which is the name of something else", name),
            "give the array another name, such as `n`");
    else if (dataset.target().kind == plan::LabelKind::input)
        refuse(Code::conflicting_fields, "lengths",
               "`lengths` of dataset leaves steps out, and with `target: input` every number of a "
               "sample counts",
               "leave one of them out");
}

void settle_target_scaling(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    plan::Feature& target = spec.dataset.target();
    const Refusal refuse{fields, spec, diagnostics};
    const bool scaled = fields.says("target_scaling", plan::TargetScaling::standard);
    if (scaled && target.kind != plan::LabelKind::values)
        return refuse(Code::conflicting_fields, "target_scaling",
                      "`target_scaling: standard` of dataset is for targets that are numbers",
                      "`label_kind: values` says that they are");
    for (const auto& [name, member] : {std::pair{"target_mean", &plan::Feature::mean},
                                       std::pair{"target_deviation", &plan::Feature::deviation}}) {
        const auto found = fields.values.find(name);
        const auto* list = found == fields.values.end()
                               ? nullptr
                               : std::get_if<std::vector<double>>(&found->second);
        if (list == nullptr) continue;
        if (!scaled) {
            refuse(Code::conflicting_fields, name,
                   fmt::format("`{}` of dataset scales nothing", name),
                   "`target_scaling: standard` scales the targets");
            continue;
        }
        if (std::int64_t(list->size()) != target.classes)
            refuse(Code::out_of_range, name,
                   fmt::format("`{}` of dataset are {}, and a target has {} numbers; there must be "
                               "one for each",
                               name, list->size(), target.classes),
                   "");
        target.*member = *list;
    }
}

void check_mask_values(const FieldValues& fields, const DatasetSpec& spec,
                       Diagnostics& diagnostics) {
    if (!fields.values.contains("mask_values")) return;
    const plan::Dataset& dataset = spec.dataset;
    const Refusal refuse{fields, spec, diagnostics};
    const Dims values = fields.dims("mask_values");
    const std::set<std::int64_t> distinct(values.begin(), values.end());
    const auto count = std::int64_t(values.size());
    if (count < 2 || std::int64_t(distinct.size()) != count)
        refuse(Code::out_of_range, "mask_values",
               "`mask_values` of dataset must be two different numbers or more", "");
    else if (dataset.target().classes > 0 && dataset.target().classes != count)
        refuse(Code::out_of_range, "mask_values",
               fmt::format("`mask_values` of dataset are {}, and `classes` is {}; there must be a "
                           "number for each",
                           count, dataset.target().classes),
               "");
}

}  // namespace dtnn::compiler
