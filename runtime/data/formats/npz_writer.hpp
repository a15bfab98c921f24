#pragma once
/// Writing NumPy's .npz: a zip of .npy members, stored as they are, that numpy.load reads (format
/// "numpy.lib.format" version 1.0). Reading: runtime/data/formats/npy.hpp.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// An array in memory, row-major, little-endian.
struct NpzArray {
    std::string name;   ///< without ".npy"
    std::string descr;  ///< NumPy's type: "<f4", "<U12"
    Dims dims;
    std::span<const std::byte> bytes;
};

/// Refuses a name that is empty or longer than kMostTensorName (base/file_limits.hpp): what
/// libraries make of names is of 65,535 bytes at most, and they do not look. `path` is the file
/// that would have it.
void check_tensor_name(const std::string& name, const std::string& path);

/// NumPy's type of an element.
std::string numpy_type(DType dtype);

/// Writes aside, flushes, renames. The same bytes for the same arrays, in the order given.
void write_npz(const std::string& path, std::span<const NpzArray> arrays);

/// Texts as an array of NumPy's text type: its `descr`, and the bytes (UTF-32, padded with zeros to
/// the longest). Bytes that are not UTF-8 become U+FFFD.
struct NpzTexts {
    std::string descr;
    std::vector<std::byte> bytes;
};
NpzTexts numpy_texts(std::span<const std::string> texts);

}  // namespace dtnn::runtime
