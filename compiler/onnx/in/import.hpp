#pragma once
/// A model of ONNX as a spec of ours and its weights.

#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/stored_tensor.hpp"
#include "compiler/onnx/in/constant.hpp"
#include "compiler/onnx/messages.hpp"

namespace dtnn::compiler::onnx {

/// Versions of ONNX's operators that are known.
inline constexpr std::int64_t kLeastReadOpset = 7, kMostReadOpset = 23;

/// What cannot be taken over, of a node or of the whole file.
struct Refusal {
    std::string place;  ///< "node `x` (Loop)", "the file"
    std::string text;
    std::string help;       ///< empty: none
    std::string node = {};  ///< of the file, by its name; empty: the whole file
};

struct ImportedModel {
    std::string spec;                   ///< YAML, kind: model
    std::vector<StoredTensor> tensors;  ///< by the spec's names, in our axes
    std::vector<Refusal> refusals;      ///< all there are; none: the rest is whole
    std::size_t layers = 0;
};

/// `constants` owns what the tensors show, beside the file's bytes. Throws nothing for what a file
/// says: it is in `refusals`.
ImportedModel import_model(const ModelProto& model, const std::string& name, Constants& constants);

/// Whether operators of this name are read.
bool is_read(const std::string& op_type);

}  // namespace dtnn::compiler::onnx
