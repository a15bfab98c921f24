#pragma once
/// A forward graph and its weights as a model of ONNX, in the form of inference: batch norm by its
/// moving statistics, no dropout.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor/stored_tensor.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/onnx/messages.hpp"

namespace dtnn::compiler::onnx {

/// LayerNormalization came with the first; what is newer than the last is unknown here.
inline constexpr int kLeastOpset = 17, kMostOpset = 23;

/// What a pixel becomes before the network reads it: (pixel - mean) / deviation, a number of each
/// for every channel.
struct PixelScale {
    std::vector<double> mean, deviation;
};

struct ExportRequest {
    int opset = kLeastOpset;
    std::int64_t batch = 0;  ///< 0: any
    /// Nodes that make the first input of bytes, 0 to 255, by these scales in order; nothing: the
    /// file reads what the network reads.
    std::optional<std::vector<PixelScale>> pixels = {};
    std::optional<PixelScale> numbers = {};  ///< the result times deviation plus mean
    std::map<std::string, std::string> metadata = {};
    std::string producer_version = {};
};

/// The forward graph that a plan was made of, of its layers, for a batch of one.
Graph graph_of(const plan::Plan& plan);

/// A model, and the bytes that its views show.
struct ExportedModel {
    ModelProto model;
    std::deque<std::string> storage = {};
};

/// `weights` has a tensor in logical form for every parameter, by its name, which the model shows.
ExportedModel export_graph(const Graph& graph,
                           const std::map<std::string, const StoredTensor*>& weights,
                           const ExportRequest& request);

/// Moves the tensors of a kilobyte and more into one file beside the model's, of this name. Each
/// begins at a page. `sink` gets the file's bytes in order.
void move_outside(ModelProto& model, const std::string& name,
                  const std::function<void(std::string_view)>& sink);

/// Bytes of all tensors.
std::int64_t tensor_bytes(const ModelProto& model);

/// Whether a layer of this operator can be written: by a rule, or because it is an expression.
bool has_rule(const std::string& op);

}  // namespace dtnn::compiler::onnx
