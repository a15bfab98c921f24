#include "compiler/frontend/read/found_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plan/dataset_types.hpp"
#include "plan/rules/label_sequences.hpp"

namespace dtnn::compiler {
namespace {

/// "`shape` and no `classes`"
std::string names_text(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += fmt::format("{}`{}`", text.empty() ? "" : " and no ", name);
    return text;
}

std::vector<double> reals_of(const FieldValues& fields, const char* name) {
    const auto found = fields.values.find(name);
    const auto* list =
        found == fields.values.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
    return list == nullptr ? std::vector<double>() : *list;
}

}  // namespace

void fill_from_files(FieldValues& fields, const ComponentInfo& type, const FindData& find,
                     DatasetSpec& spec, Diagnostics& diagnostics) {
    plan::Dataset& dataset = spec.dataset;
    std::vector<std::string> wanted;
    for (const Field& field : *type.fields) {
        const std::string name(field.name);
        // Samples that are their own labels need no classes.
        const bool needless =
            (name == "classes" && dataset.target().kind == plan::LabelKind::input) ||
            (name == "validation_samples" && !dataset.validation_files) ||
            (name == plan::kMostLabels && !plan::has_sequences(dataset)) ||
            (name == "test_rows" && !fields.values.contains("test_path")) ||
            ((name == "feature_mean" || name == "feature_deviation") &&
             !plan::scales_features(dataset)) ||
            (name == "columns" && (!dataset.columns.empty() || !plan::encodes_columns(dataset))) ||
            ((name == "target_mean" || name == "target_deviation") &&
             !plan::scales_targets(dataset));
        if (field.found && !needless && !fields.values.contains(name) &&
            !fields.mistyped.contains(name))
            wanted.push_back(name);
    }
    if (wanted.empty() || !fields.sound) return;
    const std::string path = fields.text("path");
    std::string fact = "; there is no default";
    std::string help = fmt::format(
        "write what is missing, or let `dtnnc data {} --write FILE` write the spec where the files "
        "are",
        path.empty() ? "PATH" : path);
    if (find && !path.empty()) {
        dataset.input().stored_dims = fields.dims("shape");
        dataset.target().classes = fields.integer("classes");
        dataset.train_samples = fields.integer("train_samples");
        dataset.test_samples = fields.integer("test_samples");
        dataset.validation_samples = fields.integer("validation_samples");
        dataset.target().mean = reals_of(fields, "target_mean");
        dataset.target().deviation = reals_of(fields, "target_deviation");
        const bool named = !dataset.target().names.empty();
        const std::optional<DataFault> fault = find(dataset);
        if (!fault) {
            for (const std::string& name : wanted) {
                spec.found.insert(name);
                if (name == "columns") continue;  // They are no attribute.
                if (const auto said = dataset.attributes.find(name);
                    said != dataset.attributes.end()) {
                    fields.values[name] = said->second;
                    continue;
                }
                fields.values[name] =
                    name == "shape"              ? AttributeValue(dataset.input().stored_dims)
                    : name == "classes"          ? AttributeValue(dataset.target().classes)
                    : name == "train_samples"    ? AttributeValue(dataset.train_samples)
                    : name == "test_samples"     ? AttributeValue(dataset.test_samples)
                    : name == "target_mean"      ? AttributeValue(dataset.target().mean)
                    : name == "target_deviation" ? AttributeValue(dataset.target().deviation)
                                                 : AttributeValue(dataset.validation_samples);
            }
            if (!named && !dataset.target().names.empty()) spec.found.insert("class_names");
            return;
        }
        fact = fmt::format(", and its files cannot say: {}", fault->fact);
        if (!fault->help.empty()) help = fmt::format("{}; or {}", fault->help, help);
    }
    fields.sound = false;
    diagnostics.error(Code::missing_field, spec.span,
                      fmt::format("dataset has no {}{}", names_text(wanted), fact), help);
}

}  // namespace dtnn::compiler
