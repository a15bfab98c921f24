#pragma once
/// A model as Keras 3 saves it (.keras): its layers as a model of ONNX, which the importer of ONNX
/// makes a spec of. Layers are known by their class alone; nothing of the file is ever run.

#include <map>
#include <string>

#include "base/tensor/stored_tensor.hpp"
#include "compiler/onnx/in/import.hpp"

namespace dtnn::compiler::keras {

/// What is read of the archive.
struct KerasFile {
    std::string config;                           ///< config.json
    std::map<std::string, StoredTensor> weights;  ///< "layers/conv2d/vars/0"
    std::map<std::string, std::string> unread;    ///< other arrays, and why they are not read
};

/// Deeper models within models are refused.
inline constexpr int kMostModelDepth = 16;
/// Calls of layers; a model that is used twice within one that is used twice has four times its
/// own.
inline constexpr int kMostCalls = 50'000;

/// Throws nothing for what the file says: it is in `refusals`, whose places are layers. `constants`
/// and `file` own what the tensors show.
onnx::ImportedModel import_model(const KerasFile& file, const std::string& name,
                                 onnx::Constants& constants);

/// Whether layers of this class are read.
bool is_read(const std::string& class_name);

}  // namespace dtnn::compiler::keras
