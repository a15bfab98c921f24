#include "compiler/frontend/read/validation_splits.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/dataset_types.hpp"

namespace dtnn::compiler {
namespace {

/// The field of a type that says where samples of validation are.
const char* validation_field(const FieldTable& type) {
    for (const char* name : {"validation_path", "validation_name", "validation_share"})
        if (find_field(type, name)) return name;
    return "validation_folder";
}

/// The names or folders of other samples of the dataset, each by the field that says it; an
/// archive's have names of their own.
std::vector<std::pair<std::string, std::string>> other_places(const FieldValues& fields,
                                                              std::string_view validation,
                                                              bool share) {
    if (validation == "validation_name") return {{"", "train"}, {"", "test"}};
    const auto place = [&](const char* field, const char* fallback) {
        return std::pair{std::string(field), fields.values.contains(field) ? fields.text(field)
                                                                           : std::string(fallback)};
    };
    if (validation == "validation_path") return {place("path", ""), place("test_path", "")};
    return {place("train_folder", share ? "." : "train"), place("test_folder", "test")};
}

/// Finds the samples of validation, if they are files of their own.
void settle_validation(const FieldValues& fields, const FieldTable& type, DatasetSpec& spec,
                       Diagnostics& diagnostics) {
    plan::Dataset& dataset = spec.dataset;
    const auto refuse = [&](const char* field, const std::string& text, const std::string& help) {
        diagnostics.error(Code::conflicting_fields, span_or(fields.spans, field, spec.span), text,
                          help);
    };
    const char* const validation = validation_field(type);
    dataset.validation_files = fields.values.contains(validation);
    if (fields.values.contains("validation_samples") && !dataset.validation_files)
        refuse("validation_samples",
               fmt::format("`validation_samples` of dataset counts the files of `{}`, which is not "
                           "given",
                           validation),
               find_field(type, "validation_share")
                   ? "`validation_share: 0.1` keeps the lines before the test's for validation"
                   : "a part of the training samples is kept for validation by `validation_split` "
                     "of the training");
    if (!dataset.validation_files) return;
    if (fields.flag("test_as_validation"))
        refuse(validation,
               fmt::format("`{}` and `test_as_validation` of dataset both say which samples are of "
                           "validation",
                           validation),
               "leave one of them out");
    const bool share = find_field(type, validation)->type != FieldType::text;
    if (share) return;  // It is called nothing.
    const std::string given = fields.text(validation);
    for (const auto& [field, other] :
         other_places(fields, validation, fields.values.contains("test_share"))) {
        const bool around = field.ends_with("folder") && other == ".";
        if (given != other && !around) continue;
        const std::string whose = field.empty() ? fmt::format("others are called `{}`", other)
                                                : fmt::format("`{}` is `{}`", field, other);
        refuse(validation,
               fmt::format("`{}` of dataset is `{}`, and {}: samples of validation would be others "
                           "too",
                           validation, given, whose),
               "samples of validation have a place of their own");
    }
    if (std::string_view(validation) == "validation_name" &&
        (given.empty() || given.find_first_of("/\\. ") != std::string::npos))
        refuse(
            validation,
            fmt::format("`validation_name` of dataset is `{}`; it must be a name without slashes, "
                        "points and blanks",
                        given),
            "such as `val`, of the arrays x_val and y_val, or of val/CLASS/IMAGE");
}

}  // namespace

void settle_splits(const FieldValues& fields, const FieldTable& type, DatasetSpec& spec,
                   Diagnostics& diagnostics) {
    plan::Dataset& dataset = spec.dataset;
    const bool share = fields.values.contains("test_share");
    const auto refuse = [&](const char* field, const std::string& text, const std::string& help) {
        diagnostics.error(Code::conflicting_fields, span_or(fields.spans, field, spec.span), text,
                          help);
    };
    if (find_field(type, "test_path") && share == fields.values.contains("test_path")) {
        refuse(share ? "test_share" : "path",
               share ? "dataset has `test_path` and `test_share`; the test samples come from one "
                       "of them"
                     : "dataset has no `test_path` and no `test_share`; one of them says which "
                       "samples are the test's",
               "name the file of the test samples (`test_path`), or keep a part of this one, "
               "`test_share: 0.2`");
    }
    const plan::DatasetType* known = plan::find_dataset_type(dataset.type);
    if (known && known->arrays && share && !plan::holds_arrays(dataset))
        refuse("test_share",
               "`test_share` of dataset is for arrays; archives of images have train/ and test/",
               "arrange the images so, or unpack the archive and read it by `type: folder`");
    settle_validation(fields, type, spec, diagnostics);
    if (find_field(type, "train_folder")) {
        if (share && fields.values.contains("test_folder"))
            refuse("test_share",
                   "dataset has `test_folder` and `test_share`; the test samples come from one of "
                   "them",
                   "leave one of them out");
        const auto set = [&](const char* name, const char* fallback) {
            if (!fields.values.contains(name)) dataset.attributes[name] = std::string(fallback);
        };
        set("train_folder", share ? "." : "train");
        if (!share) set("test_folder", "test");
    }
}

}  // namespace dtnn::compiler
