#include "plan/rules/executed_layers.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace dtnn::plan {

namespace {

class LayerWalk {
  public:
    LayerWalk(const Plan& plan, const Program& program) : plan_(plan), program_(program) {
        for (std::size_t i = 0; i < plan.layers.size(); ++i)
            layer_named_.emplace(plan.layers[i].name, static_cast<int>(i));
        result_.step_of.assign(plan.layers.size(), -1);
        result_.layers_of.resize(program.steps.size());
        writer_of_.assign(plan.layers.size(), -1);
    }

    ExecutedLayers run() {
        for (std::size_t s = 0; s < program_.steps.size(); ++s) {
            if (program_.steps[s].phase != "forward") continue;
            for (int tensor : program_.steps[s].destinations)
                if (int layer = find_layer(tensor_name(tensor)); layer >= 0)
                    writer_of_[static_cast<std::size_t>(layer)] = static_cast<int>(s);
        }
        for (std::size_t layer = 0; layer < writer_of_.size(); ++layer)
            if (writer_of_[layer] >= 0) claim(static_cast<int>(layer), writer_of_[layer]);
        // Steps whose result is not named after a layer (a loss that took the last one in).
        for (std::size_t s = 0; s < program_.steps.size(); ++s) {
            const Step& step = program_.steps[s];
            if (step.phase == "forward" && step.layer >= 0 &&
                step.layer < static_cast<int>(plan_.layers.size()))
                claim(step.layer, static_cast<int>(s));
        }
        for (std::vector<int>& layers : result_.layers_of)
            std::sort(layers.begin(), layers.end());
        return std::move(result_);
    }

  private:
    std::string_view tensor_name(int tensor) const {
        return program_.tensors[static_cast<std::size_t>(tensor)].name;
    }

    int find_layer(std::string_view name) const {
        auto found = layer_named_.find(name);
        return found == layer_named_.end() ? -1 : found->second;
    }

    // The layer and what stands before it unwritten; a list instead of recursion, as networks may
    // be thousands of layers deep.
    void claim(int last, int step) {
        std::vector<int> waiting = {last};
        while (!waiting.empty()) {
            auto layer = static_cast<std::size_t>(waiting.back());
            waiting.pop_back();
            if (result_.step_of[layer] >= 0) continue;
            if (writer_of_[layer] >= 0 && writer_of_[layer] != step) continue;
            const std::string& type = plan_.layers[layer].type;
            const bool idle = (type == "dropout" || type == "spatial_dropout2d") &&
                              program_.phase == ProgramPhase::inference && writer_of_[layer] < 0;
            if (!idle) {
                result_.step_of[layer] = step;
                result_.layers_of[static_cast<std::size_t>(step)].push_back(
                    static_cast<int>(layer));
            }
            for (const std::string& name : plan_.layers[layer].from)
                if (int source = find_layer(name); source >= 0 && source < static_cast<int>(layer))
                    waiting.push_back(source);
        }
    }

    const Plan& plan_;
    const Program& program_;
    std::unordered_map<std::string_view, int> layer_named_;
    std::vector<int> writer_of_;  ///< by layer: the step whose result has its name
    ExecutedLayers result_;
};

}  // namespace

ExecutedLayers executed_layers(const Plan& plan, const Program& program) {
    return LayerWalk(plan, program).run();
}

}  // namespace dtnn::plan
