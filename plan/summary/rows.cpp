#include "plan/summary/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "plan/summary/receptive_field.hpp"

namespace dtnn::plan {

namespace {

std::size_t at(int index) {
    return std::size_t(index);
}

// The bytes that each layer keeps in persistent buffers, each buffer once.
void add_persistent(const Plan& plan, std::vector<LayerFacts>& facts) {
    std::vector<bool> counted(plan.buffers.size());
    for (const Parameter& parameter : plan.parameters) {
        if (parameter.layer < 0 || parameter.buffer < 0) continue;
        if (counted[at(parameter.buffer)]) continue;
        counted[at(parameter.buffer)] = true;
        facts[at(parameter.layer)].memory += plan.buffers[at(parameter.buffer)].bytes;
    }
}

void add_training(const Plan& plan, const Program& train, std::vector<LayerFacts>& facts) {
    std::vector<bool> counted(plan.buffers.size());
    for (std::size_t s = 0; s < train.steps.size(); ++s) {
        const Step& step = train.steps[s];
        const std::vector<int>& layers = step.layers;
        const int owner = step.layer >= 0 || layers.empty() ? step.layer : layers.front();
        if (owner < 0) continue;
        facts[at(owner)].bytes += step.bytes;
        if (step.phase != StepPhase::forward) continue;
        for (int tensor : step.destinations) {
            const int buffer = train.tensors[at(tensor)].buffer;
            if (buffer < 0 || counted[at(buffer)]) continue;
            counted[at(buffer)] = true;
            if (plan.buffers[at(buffer)].role == BufferRole::transient)
                facts[at(owner)].memory += plan.buffers[at(buffer)].bytes;
        }
        for (int layer : layers) {
            facts[at(layer)].step = int(s);
            facts[at(layer)].kernel = step.op + "." + step.kernel;
            facts[at(layer)].together = &layers;
        }
    }
}

void add_frozen(const Plan& plan, std::vector<LayerFacts>& facts) {
    for (const Parameter& parameter : plan.parameters)
        if (parameter.layer >= 0 && is_frozen(parameter))
            facts[at(parameter.layer)].frozen += element_count(parameter.dims);
}

void add_inputs(const Plan& plan, std::vector<LayerFacts>& facts) {
    std::unordered_map<std::string_view, const Dims*> shapes;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const Layer& layer = plan.layers[i];
        for (const std::string& name : layer.from) {
            const auto found = shapes.find(name);
            // A source that is no layer is an input of the model.
            facts[i].inputs.push_back(found == shapes.end() ? input_of(plan.dataset, name).dims
                                                            : *found->second);
        }
        shapes.emplace(layer.name, &layer.output_shape);
    }
}

// The resolved values have every field, in the order of the operator's table, and say which were
// written down: "model.layers.NAME.FIELD".
void add_fields(const Plan& plan, std::vector<LayerFacts>& facts) {
    constexpr std::string_view kStart = "model.layers.";
    std::unordered_map<std::string_view, std::size_t> layers;
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        layers.emplace(plan.layers[i].name, i);
    for (const ResolvedValue& value : plan.values) {
        std::string_view path = value.path;
        if (!path.starts_with(kStart)) continue;
        path.remove_prefix(kStart.size());
        const std::size_t dot = path.rfind('.');
        if (dot == std::string_view::npos) continue;
        const auto found = layers.find(path.substr(0, dot));
        if (found == layers.end()) continue;
        facts[found->second].fields.emplace_back(path.substr(dot + 1));
        if (value.origin != OriginKind::fallback)
            facts[found->second].written.emplace(path.substr(dot + 1));
    }
}

}  // namespace

std::vector<LayerFacts> layer_facts(const Plan& plan) {
    std::vector<LayerFacts> facts(plan.layers.size());
    add_fields(plan, facts);
    add_inputs(plan, facts);
    add_frozen(plan, facts);
    add_persistent(plan, facts);
    if (const Program* train = find_program(plan, ProgramKind::train))
        add_training(plan, *train, facts);
    const auto fields = receptive_fields(plan);
    for (std::size_t i = 0; i < facts.size(); ++i)
        facts[i].receptive_field = fields[i];
    return facts;
}

std::string attribute_words(const AttributeValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return shape_text(*list);
    return json_text(value);
}

AttributeWords attribute_words(const Layer& layer, const LayerFacts& facts) {
    AttributeWords words;
    const auto add = [](std::string& text, const std::string& name, const AttributeValue& value) {
        text += (text.empty() ? "" : " ") + name + "=" + attribute_words(value);
    };
    for (const std::string& name : facts.fields)
        if (const auto found = layer.attributes.find(name); found != layer.attributes.end())
            add(facts.written.contains(name) ? words.written : words.usual, name, found->second);
    // A plan that a test made has no resolved values.
    for (const auto& [name, value] : layer.attributes)
        if (std::find(facts.fields.begin(), facts.fields.end(), name) == facts.fields.end())
            add(words.usual, name, value);
    return words;
}

std::vector<std::string> name_parts(const std::string& name) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0;;) {
        const std::size_t slash = name.find('/', begin);
        parts.push_back(name.substr(begin, slash - begin));
        if (slash == std::string::npos) return parts;
        begin = slash + 1;
    }
}

std::vector<SummaryRow> summary_rows(const Plan& plan, int depth, bool headings) {
    std::vector<SummaryRow> rows;
    std::vector<std::string> open;  // the blocks that the layer before was in
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        std::vector<std::string> parts = name_parts(plan.layers[i].name);
        const std::string own = parts.back();
        parts.pop_back();
        std::size_t shared = 0;
        while (shared < parts.size() && shared < open.size() && parts[shared] == open[shared])
            ++shared;
        const std::size_t limit =
            depth > 0 ? std::min(parts.size(), std::size_t(depth)) : parts.size();
        std::string path;
        for (std::size_t level = 0; level < limit; ++level) {
            path += (level ? "/" : "") + parts[level];
            const bool collapsed = depth > 0 && level + 1 == std::size_t(depth);
            if (level < shared || (!collapsed && !headings)) continue;
            rows.push_back({collapsed ? SummaryRow::Kind::block : SummaryRow::Kind::heading, i, i,
                            path, parts[level], int(level)});
        }
        if (depth > 0 && parts.size() >= std::size_t(depth))
            rows.back().last = i;
        else
            rows.push_back(
                {SummaryRow::Kind::layer, i, i, plan.layers[i].name, own, int(parts.size())});
        open = std::move(parts);
    }
    return rows;
}

}  // namespace dtnn::plan
