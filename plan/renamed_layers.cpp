#include "plan/renamed_layers.hpp"

#include <unordered_set>

namespace dtnn::plan {

namespace {

using Names = std::map<std::string, std::string>;

std::vector<const Layer*> lone_layers(const Plan& plan, const Plan& other) {
    std::unordered_set<std::string> known;
    for (const Layer& layer : other.layers)
        known.insert(layer.name);
    std::vector<const Layer*> lone;
    for (const Layer& layer : plan.layers)
        if (!known.contains(layer.name)) lone.push_back(&layer);
    return lone;
}

void rename(std::string& name, const Names& names) {
    if (auto found = names.find(name); found != names.end()) name = found->second;
}

// "layer.parameter", "layer.operator", "layer.parameter.operator"; no layer's name has a dot.
void rename_first_part(std::string& name, const Names& names) {
    std::size_t dot = name.find('.');
    if (dot == std::string::npos) return;
    if (auto found = names.find(name.substr(0, dot)); found != names.end())
        name.replace(0, dot, found->second);
}

bool same_but_for_name(const Layer& a, const Layer& b, const Names& names) {
    if (a.type != b.type || a.attributes != b.attributes || a.output_shape != b.output_shape ||
        a.weights_shape != b.weights_shape)
        return false;
    std::vector<std::string> from = a.from;
    for (std::string& name : from)
        rename(name, names);
    return from == b.from;
}

}  // namespace

Names renamed_layers(const Plan& a, const Plan& b) {
    Names names;
    const std::vector<const Layer*> others = lone_layers(b, a);
    std::size_t next = 0;
    for (const Layer* layer : lone_layers(a, b))
        for (std::size_t i = next; i < others.size(); ++i)
            if (same_but_for_name(*layer, *others[i], names)) {
                names.emplace(layer->name, others[i]->name);
                next = i + 1;
                break;
            }
    return names;
}

Plan with_layer_names(const Plan& plan, const Names& names) {
    Plan result = plan;
    for (Layer& layer : result.layers) {
        rename(layer.name, names);
        for (std::string& name : layer.from)
            rename(name, names);
    }
    for (Parameter& parameter : result.parameters)
        rename_first_part(parameter.name, names);
    for (Program& program : result.programs)
        for (auto* steps : {&program.prologue, &program.steps})
            for (Step& step : *steps)
                rename_first_part(step.name, names);
    return result;
}

}  // namespace dtnn::plan
