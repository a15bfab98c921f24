#include "tests/diff/edited_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/json_text.hpp"

namespace dtnn {

namespace {

// An initializer with numbers is text in a plan ("normal: {mean: 0.0}") and a map in a spec.
std::string yaml_value(const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text && text->ends_with('}') ? "{" + *text + "}" : json_text(value);
}

}  // namespace

EditedJob EditedJob::of(const plan::Plan& plan, bool names) {
    EditedJob job;
    job.names = names;
    job.input = plan.dataset.input().dims;
    std::unordered_map<std::string, int> ids = {{"input", -1}};
    for (const plan::Layer& layer : plan.layers) {
        EditedLayer edited;
        edited.id = int(job.layers.size());
        edited.type = layer.type;
        // Without names, those that are needed must not be like made ones.
        edited.name = names ? layer.name : fmt::format("at-{}", edited.id);
        for (const std::string& from : layer.from)
            edited.sources.push_back(ids.at(from));
        edited.fields = layer.attributes;
        edited.shape = layer.output_shape;
        ids.emplace(layer.name, edited.id);
        job.layers.push_back(std::move(edited));
    }
    job.job = {{"name", "edited"},
               {"threads", "2"},
               {"data_workers", "1"},
               {"pin_threads", "false"},
               {"memory_budget", "64GiB"}};
    job.dataset = {{"name", "samples"},
                   {"type", "synthetic"},
                   {"shape", json_text(plan.dataset.input().dims)},
                   {"classes", std::to_string(plan.dataset.target().classes)},
                   {"train_samples", "64"},
                   {"test_samples", "16"},
                   {"seed", "3"},
                   {"transforms", "[{normalize: {mean: [0.0], deviation: [0.25]}}]"},
                   {"augmentations", "[flip]"},
                   {"sample_percentage", "100.0"},
                   {"test_as_validation", "false"}};
    job.training = {{"name", "short"},
                    {"loss", "categorical_cross_entropy"},
                    {"metrics", "[categorical_accuracy]"},
                    {"groups", "[{parameters: '*', weight_decay: 0.0}]"},
                    {"schedules", "[{cosine: {epochs: 2}}]"},
                    {"accumulation", "1"},
                    {"clip", "{norm: 1.0}"},
                    {"average", "{decay: 0.99}"},
                    {"checkpoint", "{every_epochs: 1, keep: 2}"},
                    {"epochs", "2"},
                    {"batch_size", "8"},
                    {"validation_split", "0.0"},
                    {"shuffle", "true"},
                    {"seed", "5"},
                    {"dtype", "f32"},
                    {"steps_per_epoch", "0"},
                    {"optimizer.learning_rate", "0.01"},
                    {"optimizer.momentum", "0.9"},
                    {"optimizer.nesterov", "false"},
                    {"optimizer.weight_decay", "0.0"}};
    return job;
}

int EditedJob::index_of(int id) const {
    auto found = std::find_if(layers.begin(), layers.end(),
                              [&](const EditedLayer& layer) { return layer.id == id; });
    return found == layers.end() ? -1 : int(found - layers.begin());
}

bool EditedJob::chained(std::size_t index) const {
    const int before = index == 0 ? -1 : layers[index - 1].id;
    return layers[index].sources == std::vector<int>{before};
}

std::vector<std::size_t> EditedJob::readers(int id) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < layers.size(); ++i)
        if (std::count(layers[i].sources.begin(), layers[i].sources.end(), id) > 0)
            result.push_back(i);
    return result;
}

int EditedJob::fresh_id() const {
    int id = 0;
    for (const EditedLayer& layer : layers)
        id = std::max(id, layer.id + 1);
    return id;
}

std::string EditedJob::text() const {
    std::unordered_map<int, std::string> name_of = {{-1, "input"}};
    std::unordered_map<int, bool> needed;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        name_of[layers[i].id] = layers[i].name;
        if (chained(i)) continue;
        for (int source : layers[i].sources)
            needed[source] = true;
    }
    std::string text = "kind: job\n";
    for (const auto& [name, value] : job)
        text += fmt::format("{}: {}\n", name, value);
    text += fmt::format("model:\n  name: network\n  input: {{shape: {}}}\n  layers:\n",
                        json_text(input));
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const EditedLayer& layer = layers[i];
        std::vector<std::string> fields;
        if (names || layer.keeps_name || needed[layer.id]) fields.push_back("name: " + layer.name);
        if (!chained(i)) {
            std::vector<std::string> from;
            for (int source : layer.sources)
                from.push_back(name_of.at(source));
            fields.push_back(fmt::format("from: [{}]", fmt::join(from, ", ")));
        }
        for (const auto& [name, value] : layer.fields)
            fields.push_back(fmt::format("{}: {}", name, yaml_value(value)));
        text += fields.empty()
                    ? fmt::format("    - {}\n", layer.type)
                    : fmt::format("    - {}: {{{}}}\n", layer.type, fmt::join(fields, ", "));
    }
    text += "dataset:\n";
    for (const auto& [name, value] : dataset)
        text += fmt::format("  {}: {}\n", name, value);
    text += "training:\n";
    std::vector<std::string> fields;
    for (const auto& [name, value] : training)
        if (name.starts_with("optimizer."))
            fields.push_back(fmt::format("{}: {}", name.substr(10), value));
        else
            text += fmt::format("  {}: {}\n", name, value);
    return text + fmt::format("  optimizer: {{{}: {{{}}}}}\n", optimizer, fmt::join(fields, ", "));
}

}  // namespace dtnn
