#include "compiler/frontend/read/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {

void fit_shape(const ModelSpec& model, SourceNode& tree) {
    const SourceEntry* type = tree.find("type");
    const ComponentInfo* info = type ? dataset_types().find(type->value.text) : nullptr;
    if (info && find_field(*info->fields, "steps") && !tree.find("steps") &&
        model.input().axes == Axes{AxisKind::step})
        tree.entries.push_back(
            {"steps", Span{}, make_scalar(fmt::format("{}", model.input().shape.front()))});
    if (tree.find("shape") || !info || !find_field(*info->fields, "shape")) return;
    SourceNode shape;
    shape.kind = SourceNode::Kind::list;
    for (const std::int64_t extent : model.input().shape)
        shape.items.push_back(make_scalar(fmt::format("{}", extent)));
    // After a diagnostic an image may lack extents.
    if (model.input().is_image()) shape.items.resize(3, make_scalar("1"));
    tree.entries.push_back({"shape", Span{}, std::move(shape)});
}

void fit_dataset(JobSpec& job, SourceNode& tree, bool model_sound) {
    const auto set = [&](const char* key, SourceNode value) {
        if (!tree.find(key)) tree.entries.push_back({key, Span{}, std::move(value)});
    };
    const SourceEntry* type = tree.find("type");
    if (type && !(type->value.is_scalar() && type->value.text == "synthetic")) return;
    set("type", make_scalar("synthetic"));
    fit_shape(job.model, tree);
    std::int64_t classes = 10;
    if (model_sound && !job.model.layers.empty()) {
        const LayerSpec& last = job.model.layers.back();
        const InputSpec& input = job.model.input();
        plan::Feature read, given, places, cells;
        read.dims = input.shape, read.axes = input.axes;
        given.dims = last.shape, given.axes = last.axes;
        plan::label_places(read, places);
        plan::label_places(given, cells);
        const std::int64_t features = element_count(given.dims) / element_count(cells.dims);
        const bool rows = last.axes == Axes{AxisKind::feature};
        const bool labelled = cells.axes == places.axes && cells.dims == places.dims &&
                              element_count(places.dims) > 1;
        if ((rows || labelled) && features >= 2) classes = features;
        if (labelled && features >= 2)
            set("labels", make_scalar(input.is_image() ? "pixel" : "step"));
    }
    set("classes", make_scalar(fmt::format("{}", classes)));
}

bool leaves_input(const SourceNode& model) {
    std::vector<std::string> names;
    for (const Field& field : model_table())
        names.emplace_back(field.name);
    return std::none_of(model.entries.begin(), model.entries.end(), [&](const SourceEntry& entry) {
        const bool known = find_field(model_table(), entry.key) != nullptr;
        const std::string meant = known ? entry.key : did_you_mean(entry.key, names).value_or("");
        return meant == "input" || meant == "inputs";
    });
}

void fit_model(const DatasetSpec& dataset, SourceNode& model) {
    const plan::Feature& input = dataset.dataset.input();
    SourceNode shape;
    shape.kind = SourceNode::Kind::list;
    for (const std::int64_t extent : input.dims)
        shape.items.push_back(make_scalar(fmt::format("{}", extent)));
    SourceNode fields = make_map(span_of(model));
    fields.entries.push_back({"shape", Span{}, std::move(shape)});
    if (input.kind == plan::LabelKind::classes) {
        fields.entries.push_back({"dtype", Span{}, make_scalar("i32")});
        fields.entries.push_back({"values", Span{}, make_scalar(fmt::format("{}", input.classes))});
        SourceNode named = make_map(span_of(model));
        named.entries.push_back({input.name, Span{}, std::move(fields)});
        model.entries.push_back({"inputs", Span{}, std::move(named)});
    } else {
        model.entries.push_back({"input", Span{}, std::move(fields)});
    }
    const plan::Feature& target = dataset.dataset.target();
    if (target.kind == plan::LabelKind::input || target.classes == 0) return;
    if (!model.find("parameters"))
        model.entries.push_back({"parameters", Span{}, make_map(span_of(model))});
    SourceNode& parameters = model.find("parameters")->value;
    if (parameters.is_map() && !parameters.find("classes"))
        parameters.entries.push_back(
            {"classes", Span{}, make_scalar(fmt::format("{}", target.classes))});
}

}  // namespace dtnn::compiler
