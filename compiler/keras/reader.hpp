#pragma once
/// The walk through a model of Keras: its layers, models within it, and who reads whom.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/keras/call.hpp"

namespace dtnn::compiler::keras {

class Reader {
  public:
    Reader(const KerasFile& file, onnx::Constants& constants);
    void run();

    const KerasFile& file() const { return file_; }
    onnx::Constants& constants() { return constants_; }
    onnx::ModelWriter& writer() { return writer_; }
    const onnx::ModelProto& model() const { return made_.model; }
    const std::vector<onnx::Refusal>& refusals() const { return refusals_; }
    /// A constant of these numbers, by its name in the graph; what is made of them may become
    /// weights of the spec, so `constants` owns them.
    std::string numbers(const Dims& dims, const std::vector<double>& values);
    /// What a node of the graph is called in messages.
    std::string place(const std::string& node) const;

    /// Of the layer that is read, which made this node.
    void note(const std::string& node, const Layer& layer);
    /// The constant that an array has become before; empty: none.
    std::string& known_weights(const std::string& key) { return weights_[key]; }

  private:
    /// A value, or none where what makes it is refused.
    using Made = std::optional<Value>;

    /// A model and what stands before the names of its layers.
    struct Scope {
        std::string name, weights;
        int depth = 0;
    };

    std::vector<Made> run_model(const Json& model, const Scope& scope,
                                const std::vector<Made>* inputs);
    std::vector<Made> run_sequential(const Json& config, const Scope& scope,
                                     const std::vector<Made>* inputs);
    std::vector<Made> run_functional(const Json& config, const Scope& scope,
                                     const std::vector<Made>* inputs);
    /// Of the layers of a model, in their order; throws Json::exception.
    static std::vector<Layer> layers_of(const Json& config, const Scope& scope);
    std::vector<Made> run_layer(const Json& json, const Layer& layer, const Scope& scope,
                                std::vector<Value> inputs);
    Made read_input(const Layer& layer);
    /// Refuses a layer that none reads because another before it is refused.
    void refuse_unknown(const Json& json, const Layer& layer);
    void refuse(const Layer& layer, const std::string& text, const std::string& help);

    const KerasFile& file_;
    onnx::Constants& constants_;
    Json model_;  ///< config.json
    onnx::ExportedModel made_;
    onnx::ModelWriter writer_;
    std::vector<onnx::Refusal> refusals_;
    std::map<std::string, std::string> places_;   ///< by nodes' names
    std::map<std::string, std::string> weights_;  ///< constants by array, order and shape
    int calls_ = 0;
    bool turns_images_ = true;
};

}  // namespace dtnn::compiler::keras
