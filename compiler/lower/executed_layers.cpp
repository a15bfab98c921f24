#include "compiler/lower/executed_layers.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

namespace {

class LayerWalk {
  public:
    LayerWalk(const std::vector<plan::Layer>& layers, plan::Program& program)
        : layers_(layers),
          program_(program),
          writer_of_(layers.size(), -1),
          claimed_(layers.size()) {
        for (std::size_t i = 0; i < layers.size(); ++i)
            layer_named_.emplace(layers[i].name, int(i));
    }

    void run() {
        for (std::size_t s = 0; s < program_.steps.size(); ++s) {
            if (program_.steps[s].phase != plan::StepPhase::forward) continue;
            for (int tensor : program_.steps[s].destinations)
                if (int layer = find_layer(tensor_name(tensor)); layer >= 0)
                    writer_of_[std::size_t(layer)] = int(s);
        }
        for (std::size_t layer = 0; layer < writer_of_.size(); ++layer)
            if (writer_of_[layer] >= 0) claim(int(layer), writer_of_[layer]);
        // Steps whose result is not named after a layer (a loss that took the last one in).
        for (std::size_t s = 0; s < program_.steps.size(); ++s) {
            const plan::Step& step = program_.steps[s];
            if (step.phase == plan::StepPhase::forward && step.layer >= 0)
                claim(step.layer, int(s));
        }
        for (plan::Step& step : program_.steps)
            std::sort(step.layers.begin(), step.layers.end());
    }

  private:
    std::string_view tensor_name(int tensor) const {
        return program_.tensors[std::size_t(tensor)].name;
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
            auto layer = std::size_t(waiting.back());
            waiting.pop_back();
            if (claimed_[layer]) continue;
            if (writer_of_[layer] >= 0 && writer_of_[layer] != step) continue;
            const OpDef* op = find_op(layers_[layer].type);
            const bool idle = op != nullptr && op->family == Family::dropout &&
                              program_.phase == plan::ProgramPhase::inference &&
                              writer_of_[layer] < 0;
            if (!idle) {
                claimed_[layer] = true;
                program_.steps[std::size_t(step)].layers.push_back(int(layer));
            }
            for (const std::string& name : layers_[layer].from)
                if (int source = find_layer(name); source >= 0 && source < int(layer))
                    waiting.push_back(source);
        }
    }

    const std::vector<plan::Layer>& layers_;
    plan::Program& program_;
    std::unordered_map<std::string_view, int> layer_named_;
    std::vector<int> writer_of_;  ///< by layer: the step whose result has its name
    std::vector<bool> claimed_;   ///< by layer: a step has it
};

}  // namespace

void note_executed_layers(const std::vector<plan::Layer>& layers, plan::Program& program) {
    LayerWalk(layers, program).run();
}

}  // namespace dtnn::compiler
