#pragma once
/// Files of named tensors, whoever wrote them: safetensors, or NumPy's .npz.

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoint/safetensors.hpp"

namespace dtnn::runtime {

struct WeightFile {
    std::string path;
    const char* format = "";            ///< "safetensors", "npz"
    std::vector<StoredTensor> tensors;  ///< in the file's order; views, which moving keeps
    std::map<std::string, std::string> metadata;  ///< what a safetensors file has; .npz has none

    Safetensors safetensors;                    ///< owns the bytes that the views show
    std::deque<std::vector<std::byte>> arrays;  ///< likewise

    const StoredTensor* find(const std::string& name) const;
    /// Whether a run of ours wrote the file; nothing: its metadata do not say who did.
    std::optional<bool> written_by_run() const;
};

/// Reads and verifies. The content tells the format; where the name says another one (.npz,
/// .safetensors), or the content is neither, that is the error. Nothing in a file is executed:
/// pickled objects, as in PyTorch's own files, are refused. Whole numbers of .npz become i64, or
/// stay u8. All errors: exit 5.
WeightFile read_weight_file(const std::string& path);

/// By the name's end: .safetensors or .npz (without metadata, for which it has no place; nor has it
/// one for numbers of 16 bits, which are a RunError (exit 5)). Another
/// one is a RunError (exit 2). Written aside, flushed, renamed.
void write_weight_file(const std::string& path, std::span<const StoredTensor> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace dtnn::runtime
