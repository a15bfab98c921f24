#pragma once
/// The safetensors format: 8 bytes of header length (little-endian), a JSON header
///     {"NAME": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..., "__metadata__":
///     {"KEY": "TEXT"}}
/// and the tensors' bytes, row-major, little-endian, without gaps.
/// (https://huggingface.co/docs/safetensors)

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/tensor/stored_tensor.hpp"
#include "plan/plan.hpp"

namespace dtnn::runtime {

struct Safetensors {
    std::vector<StoredTensor> tensors;  ///< in the order of their bytes; views into `content`
    std::map<std::string, std::string> metadata;
    std::string content;
    std::unordered_map<std::string, std::size_t> places;  ///< of the tensors, by name

    const StoredTensor* find(const std::string& name) const;
};

/// Who wrote the file; `is_own` is whether that was a program of ours.
inline constexpr const char* kFormatKey = "format";

/// What all files of ours say of themselves: whose they are, of which format (formats::kWeights),
/// of which model and of which plan's checksum.
std::map<std::string, std::string> own_metadata(const std::string& model, const std::string& plan);
bool is_own(const std::map<std::string, std::string>& metadata);

/// Writes aside, flushes, renames. The same bytes for the same tensors, in the order given. Returns
/// the file's checksum (checksum.hpp).
std::string write_safetensors(const std::string& path, std::span<const StoredTensor> tensors,
                              const std::map<std::string, std::string>& metadata);

/// Reads and verifies: header length, names, types, shapes, offsets; the tensors cover the data
/// exactly, without gap or overlap; a file of ours is of the format that is read. Whatever is wrong
/// is a RunError (exit 5) that names the file and the fact; no content can do worse.
Safetensors read_safetensors(const std::string& path);

/// The metadata alone, without the tensors being read; none where the file has none, cannot be read
/// or is none of the kind, which read_safetensors says.
std::map<std::string, std::string> read_safetensors_metadata(const std::string& path);

/// The same for the content of a file; `path` is for messages.
Safetensors parse_safetensors(std::string content, const std::string& path);

}  // namespace dtnn::runtime
