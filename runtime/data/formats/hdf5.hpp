#pragma once
/// Reads as much of HDF5 as Keras' files of weights need ("HDF5 File Format Specification", The HDF
/// Group): the form of HDF5 1.6, which its library and h5py write unless they are told otherwise,
/// with arrays that lie in one piece. Bytes are all that is looked at: links and arrays in other
/// files are refused, and nothing is unpacked. Not by HDF5's own library, because these files are
/// strangers' and it has faults of memory on malformed ones each year (CVE-2025-2915, -6750, -7069,
/// -44905), and the little that Keras writes needs none of what they lie in.

#include <map>
#include <string>
#include <string_view>

#include "base/tensor/stored_tensor.hpp"

namespace dtnn::runtime {

struct Hdf5Arrays {
    /// Of real numbers, by path: "layers/conv2d/vars/0". They show the file's bytes.
    std::map<std::string, StoredTensor> tensors;
    std::map<std::string, std::string> others;  ///< arrays that are not read, and why
};

/// Throws RunError (Exit::mismatch) for what is no such file, or does not hold together. `label` is
/// what messages call it.
Hdf5Arrays read_hdf5(std::string_view bytes, const std::string& label);

}  // namespace dtnn::runtime
