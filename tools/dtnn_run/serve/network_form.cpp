#include "tools/dtnn_run/serve/network_form.hpp"

#include <utility>

#include "base/json.hpp"
#include "plan/rules/lengths.hpp"
#include "tools/dtnn_run/serve/tensor_types.hpp"

namespace dtnn::serve {
namespace {

/// With an axis of samples; -1 is an extent of any size.
Json shape_of(const Dims& dims) {
    Json shape = Json::array({-1});
    for (const std::int64_t extent : dims)
        shape.push_back(extent == 0 ? -1 : extent);
    return shape;
}

const char* meaning_of(const runtime::PredictionForm& form) {
    if (form.kind == plan::LabelKind::values || form.kind == plan::LabelKind::input)
        return "values";
    if (!form.probabilities) return "scores";
    return form.kind == plan::LabelKind::multiple ? "probabilities of labels"
                                                  : "probabilities of classes";
}

}  // namespace

NetworkForm::NetworkForm(std::string its_name, const plan::Plan& plan, std::string its_checksum,
                         std::vector<std::string> its_classes)
    : name(std::move(its_name)),
      checksum(std::move(its_checksum)),
      inputs(plan.dataset.inputs),
      lengths(plan::lengths_input(plan.dataset).has_value()),
      output(runtime::prediction_form(plan)),
      dtype(plan.target.dtype),
      classes(std::move(its_classes)),
      batch(plan.training.batch_size) {
    for (plan::Feature& input : inputs) {
        if (input.name.empty()) input.name = "x";
        if (input.stored_dims.empty()) input.stored_dims = input.dims;
        numbers_per_sample += element_count(input.dims);
    }
}

Answer NetworkForm::metadata() const {
    Json json = {{"name", name}, {"versions", Json::array()}, {"platform", "dtnn"}};
    for (const plan::Feature& input : inputs)
        json["inputs"].push_back(
            {{"name", input.name},
             {"datatype",
              tensor_type_of(input.kind == plan::LabelKind::classes ? DType::i32 : DType::f32)},
             {"shape", shape_of(input.stored_dims)}});
    json["outputs"].push_back({{"name", kOutputName},
                               {"datatype", tensor_type_of(dtype)},
                               {"shape", shape_of(output.dims)}});
    json["parameters"] = {
        {"plan", checksum}, {"meaning", meaning_of(output)}, {"batch_size", batch}};
    if (!classes.empty()) json["parameters"]["classes"] = classes;
    return {.status = Status::ok, .body = write_json(json)};
}

Answer error_answer(Status status, const std::string& reason) {
    return {.status = status, .body = write_json({{"error", reason}})};
}

}  // namespace dtnn::serve
