// Datasets: the fields of their types, and what becomes of samples on their way to the network.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/datasets/dataset_checks.hpp"
#include "compiler/frontend/datasets/table_columns.hpp"
#include "compiler/frontend/read/found_data.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/read/validation_splits.hpp"
#include "compiler/frontend/tables/misplaced_fields.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "plan/dataset_choices.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/lengths.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::compiler {
namespace {

/// Fields of a type that a plan has in places of their own.
bool has_own_place(const std::string& field) {
    return field == "shape" || field == "classes" || field == "labels" ||
           field == "train_samples" || field == "test_samples" || field == "validation_samples" ||
           field == "target_mean" || field == "target_deviation" || field == "feature_mean" ||
           field == "feature_deviation";
}

/// Fields of other types than the dataset's: said, and taken out of the tree.
void refuse_fields_of_others(const SourceEntry& type_entry, const ComponentInfo& type,
                             SourceNode& tree, Diagnostics& diagnostics) {
    const std::vector<SourceEntry> entries = tree.entries;
    for (const SourceEntry& entry : entries) {
        if (find_field(*type.fields, entry.key) || find_field(dataset_head_table(), entry.key) ||
            find_field(dataset_tail_table(), entry.key) || !find_field(dataset_table(), entry.key))
            continue;
        Diagnostic& error = diagnostics.error(
            Code::misplaced_field, entry.key_span,
            fmt::format("`{}` is not a field of a dataset of type {}", entry.key, type.name));
        std::vector<std::string_view> takers;
        for (const ComponentInfo& other : dataset_types().members)
            if (find_field(*other.fields, entry.key)) takers.push_back(other.name);
        error.help = fmt::format("`{}` belongs to {}", entry.key, fmt::join(takers, ", "));
        if (!type_entry.value.span.place.file.empty())
            error.notes.push_back({type_entry.value.span, "the type is given here"});
        tree.erase(entry.key);
    }
}

/// The table of a type: the fields of all datasets around its own.
FieldTable table_of(const ComponentInfo& type) {
    FieldTable table = dataset_head_table();
    table.insert(table.end(), type.fields->begin(), type.fields->end());
    table.insert(table.end(), dataset_tail_table().begin(), dataset_tail_table().end());
    return table;
}

/// Without a type nothing can be said to be missing.
FieldTable table_without_type() {
    FieldTable table = dataset_table();
    for (Field& field : table)
        if (field.name != "type") field.optional = true;
    return table;
}

/// The texts of a list; none after a diagnostic.
std::vector<std::string> text_list(const FieldValues& fields, const FieldTable& table,
                                   const char* name, Diagnostics& diagnostics) {
    std::vector<std::string> list;
    const SourceNode* node = fields.node(name);
    const Field* field = find_field(table, name);
    if (node == nullptr || field == nullptr) return list;
    if (const auto texts = read_texts(*node, *field, "dataset", diagnostics))
        for (const LocatedText& one : *texts)
            list.push_back(one.text);
    return list;
}

void check_class_names(const FieldValues& fields, const DatasetSpec& spec,
                       Diagnostics& diagnostics) {
    const plan::Dataset& dataset = spec.dataset;
    if (dataset.target().names.empty() || dataset.target().classes == 0) return;
    const Span& span = span_or(fields.spans, "class_names", spec.span);
    const std::set<std::string> different(dataset.target().names.begin(),
                                          dataset.target().names.end());
    const auto count = std::int64_t(dataset.target().names.size());
    if (count != dataset.target().classes)
        diagnostics.error(Code::out_of_range, span,
                          fmt::format("`class_names` of dataset are {}, and there are {} classes",
                                      count, dataset.target().classes));
    else if (std::int64_t(different.size()) != count)
        diagnostics.error(Code::out_of_range, span,
                          "`class_names` of dataset has a name twice; classes could not be told "
                          "apart");
}

void check_content_hash(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics) {
    const std::string text = fields.text("content_hash");
    constexpr std::string_view kStart = "xxh3:";
    const bool sound = text.starts_with(kStart) && text.size() == kStart.size() + 16 &&
                       text.find_first_not_of("0123456789abcdef", kStart.size()) == text.npos;
    if (text.empty() || sound) return;
    diagnostics
        .error(Code::out_of_range, span_or(fields.spans, "content_hash", spec.span),
               fmt::format("`content_hash` of dataset is `{}`; it must be `xxh3:` and 16 "
                           "hexadecimal digits",
                           text))
        .help = "copy it from what `dtnnc data` says, or leave it out";
}

/// Samples of several sizes must have become one size: programs have no shapes of their own.
void check_one_size(const FieldValues& fields, const DatasetSpec& spec, std::int64_t usual_side,
                    Diagnostics& diagnostics) {
    const Dims& shape = spec.dataset.input().dims;
    if (!plan::has_image(spec.dataset) || shape.empty() || (shape[1] > 0 && shape[2] > 0)) return;
    diagnostics
        .error(Code::out_of_range, span_or(fields.spans, "shape", spec.span),
               fmt::format("{} that images have several sizes, and no transform makes them one",
                           spec.found.contains("shape") ? "the dataset's files say"
                                                        : "`shape` of dataset says"))
        .help = fmt::format("such as `transforms: [{{resize: {{size: [{0}, {0}]}}}}]`", usual_side);
}

/// What the spec's fields say that samples have, or else the type.
plan::LabelKind label_kind_of(const FieldValues& fields, const plan::Dataset& dataset) {
    if (fields.says("target", plan::TargetSource::input)) return plan::LabelKind::input;
    if (fields.says("labels", plan::LabelPlace::sequence)) return plan::LabelKind::sequence;
    plan::LabelKind kind = {};
    if (parse_name(fields.text("label_kind"), kind)) return kind;
    const plan::DatasetType* type = plan::find_dataset_type(dataset.type);
    return type ? type->labels : plan::LabelKind::classes;
}

/// Follows the shape of a sample through transforms and augmentations.
struct ShapeChain {
    Dims& shape;
    const char* unmixed;  ///< why samples cannot be mixed; null: they can
    bool known;           ///< an image's shape, after no diagnostic
    std::vector<ReadComponent> normalizations = {};  ///< which come last, wherever they stand

    void follow(const ReadComponent& one, const ComponentInfo& member, Diagnostics& diagnostics) {
        if (unmixed != nullptr && plan::mixes_samples(one.component))
            diagnostics.error(Code::conflicting_fields, one.span, unmixed);
        if (member.centres)
            normalizations.push_back(one);
        else if (known && member.shape)
            known = member.shape(one, shape, diagnostics);
    }
    void end(Diagnostics& diagnostics) {
        for (const ReadComponent& one : normalizations)
            if (known) transforms().find("normalize")->shape(one, shape, diagnostics);
    }
};

/// Reads transforms or augmentations.
void read_chain(const char* name, FieldValues& fields, ShapeChain& chain,
                std::vector<plan::Component>& list, Diagnostics& diagnostics) {
    const SourceNode* node = fields.node(name);
    if (!node) return;
    const Field& field = *find_field(dataset_tail_table(), name);
    const ReadComponents read =
        read_member_list(*node, field, "dataset", fields.spans, diagnostics);
    chain.known = chain.known && read.sound;
    bool mixes = false;
    for (const ReadComponent& one : read.list) {
        chain.follow(one, *field.components->find(one.component.type), diagnostics);
        if (mixes && plan::mixes_samples(one.component))
            diagnostics.error(Code::conflicting_fields, one.span,
                              "mixup is given twice; batches are mixed once");
        mixes = mixes || plan::mixes_samples(one.component);
        list.push_back(one.component);
    }
}

/// An image has the shape that the dataset gives it; other inputs are as the model wants them.
/// Where these have steps, `lengths` is one more.
void take_inputs(const std::vector<InputSpec>& inputs, plan::Dataset& dataset) {
    if (!inputs.empty()) dataset.inputs.resize(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        plan::Feature& feature = dataset.inputs[i];
        feature.name = inputs[i].name;
        feature.kind = inputs[i].integers() ? plan::LabelKind::classes : plan::LabelKind::values;
        feature.classes = inputs[i].values;
        if (!inputs[i].axes.empty()) feature.axes = inputs[i].axes;
        if (i > 0 || !inputs[i].is_image()) feature.dims = feature.stored_dims = inputs[i].shape;
    }
    const auto name = dataset.attributes.find("lengths");
    const auto steps = std::find_if(
        dataset.inputs.begin(), dataset.inputs.end(),
        [](const plan::Feature& input) { return plan::has_steps(input) && !input.dims.empty(); });
    if (name == dataset.attributes.end() || inputs.empty() || steps == dataset.inputs.end()) return;
    dataset.inputs.push_back(
        plan::a_length(std::get<std::string>(name->second), steps->dims.front()));
}

}  // namespace

void check_sample_lengths(const JobSpec& job, Diagnostics& diagnostics) {
    const plan::Dataset& dataset = job.dataset.dataset;
    if (!dataset.attributes.contains("lengths")) return;
    const auto refuse = [&](const std::string& fact, const std::string& help) {
        Diagnostic& error =
            diagnostics.error(Code::conflicting_fields,
                              span_or(job.dataset.spans, "lengths", job.dataset.span), fact, help);
        error.notes.push_back({job.model.input().span, "the model's inputs are here"});
    };
    if (plan::lengths_array(dataset).empty())
        return refuse(
            "`lengths` of dataset says how many steps a sample has, and the model reads "
            "samples without steps",
            "leave it out; a sequence is an input of the axes [step, feature], or [step] "
            "of integers");
    const std::int64_t steps = dataset.inputs.back().classes - 1;
    for (const plan::Feature& input : dataset.inputs)
        if (plan::has_steps(input) && input.dims.front() != steps)
            return refuse(fmt::format("`lengths` of dataset is of all inputs that have steps, and "
                                      "these have {} and {}",
                                      steps, input.dims.front()),
                          "give them as many steps, and fill the shorter arrays up");
    if (plan::mixes_samples(dataset))
        refuse("`lengths` of dataset says how many steps a sample has, and mixup mixes samples",
               "leave one of them out");
}

DatasetSpec read_dataset(const SourceNode& tree, const std::string& default_name,
                         const FindData& find, Diagnostics& diagnostics,
                         const std::vector<InputSpec>& inputs) {
    DatasetSpec spec;
    plan::Dataset& dataset = spec.dataset;
    spec.span = span_of(tree);

    // Which fields there are depends on the type, so the type is read first.
    const SourceEntry* type = tree.find("type");
    SourceNode known = tree;
    if (type && type->value.is_scalar()) dataset.type = type->value.text;
    const ComponentInfo* info = dataset_types().find(dataset.type);
    if (type && info) refuse_fields_of_others(*type, *info, known, diagnostics);

    const int errors_before = diagnostics.error_count();
    FieldValues fields =
        read_fields(known, info ? table_of(*info) : table_without_type(),
                    {.what = "dataset",
                     .span = spec.span,
                     .more_elsewhere = [] { return help_for_misplaced("dataset"); }},
                    diagnostics);
    check_spec_name(fields, "dataset", diagnostics);
    read_allowed(fields, "dataset", diagnostics);
    dataset.name = fields.values.contains("name") ? fields.text("name") : default_name;
    dataset.target().kind = label_kind_of(fields, dataset);
    dataset.target().names = text_list(fields, dataset_tail_table(), "class_names", diagnostics);
    if (fields.values.contains("content_hash"))
        dataset.attributes["content_hash"] = fields.text("content_hash");
    check_content_hash(fields, spec, diagnostics);
    if (info) {
        for (const plan::DatasetTexts& one : plan::kDatasetTexts)
            dataset.*one.member = text_list(fields, *info->fields, one.name, diagnostics);
        dataset.input().names = text_list(fields, *info->fields, plan::kFeatureNames, diagnostics);
        const auto take = [&](const Field& field) {
            const std::string name(field.name);
            const auto value = fields.values.find(name);
            if (value == fields.values.end()) return;
            if (name != "label_columns" || dataset.label_names.empty())
                spec.type_fields[name] = value->second;
            if (!has_own_place(name)) dataset.attributes[name] = value->second;
        };
        std::for_each(info->fields->begin(), info->fields->end(), take);
        read_columns(fields, spec, diagnostics);
        settle_splits(fields, *info->fields, spec, diagnostics);
        // That there are labels of places; where these are follows from the transforms.
        take_inputs(inputs, dataset);
        if (labels_places(fields, dataset)) {
            dataset.target().dims = {1, 1};
            check_label_places(fields, spec, diagnostics);
        }
        if (plan::has_sequences(dataset)) {
            fields.values.try_emplace("ignored_value", plan::kUsualIgnoredValue);
            dataset.attributes["ignored_value"] = fields.values.at("ignored_value");
            // Nothing where the files are to say it.
            if (const std::int64_t most = fields.integer(plan::kMostLabels); most > 0)
                dataset.target().dims = {most};
        }
        fields.sound = fields.sound && diagnostics.error_count() == errors_before;
        fill_from_files(fields, *info, find, spec, diagnostics);
        std::for_each(info->fields->begin(), info->fields->end(), take);
        dataset.train_samples = fields.integer("train_samples");
        dataset.test_samples = fields.integer("test_samples");
        dataset.validation_samples = fields.integer("validation_samples");
        dataset.source_train_samples = dataset.train_samples + dataset.validation_samples;
        info->settle(fields, spec, diagnostics);
    }
    dataset.input().stored_dims = dataset.input().dims;
    take_inputs(inputs, dataset);
    dataset.test_as_validation = fields.flag("test_as_validation");
    if (fields.values.contains("sample_percentage"))
        spec.sample_percentage = fields.real("sample_percentage");
    // The compiler takes it into the number of samples of an epoch; the source's own stay.
    if (spec.sample_percentage != 100)
        dataset.attributes["sample_percentage"] = spec.sample_percentage;
    const int errors = diagnostics.error_count();
    // After a diagnostic an image may lack extents.
    const bool image =
        plan::has_image(dataset) && dataset.input().dims.size() == dataset.input().axes.size();
    const char* const unmixed =
        labels_places(fields, dataset) ? "mixup mixes samples, whose pixels have a class each"
        : plan::has_sequences(dataset) ? "mixup mixes samples, which have sequences of labels of "
                                         "their own"
                                       : nullptr;
    ShapeChain chain{dataset.input().dims, unmixed, image};
    read_chain("transforms", fields, chain, dataset.transforms, diagnostics);
    read_chain("augmentations", fields, chain, dataset.augmentations, diagnostics);
    chain.end(diagnostics);
    if (diagnostics.error_count() == errors)
        check_one_size(fields, spec, info ? info->usual_side : 0, diagnostics);
    if (labels_places(fields, dataset) &&
        dataset.input().dims.size() == dataset.input().axes.size())
        plan::label_places(dataset.input(), dataset.target());
    if (plan::has_sequences(dataset)) {
        // At least one, after a diagnostic too.
        dataset.target().dims = {std::max<std::int64_t>(fields.integer(plan::kMostLabels), 1)};
        dataset.target().axes = {AxisKind::step};
    }
    if (dataset.target().kind == plan::LabelKind::input) {
        // The job settles their form by what its model gives.
        dataset.target().dims = {};
        dataset.target().axes = {};
        dataset.target().classes = element_count(dataset.input().dims);
        dataset.target().names.clear();
        spec.found.erase("class_names");
    }
    check_class_names(fields, spec, diagnostics);
    forget_made(fields.spans);
    spec.spans = std::move(fields.spans);
    return spec;
}

}  // namespace dtnn::compiler
