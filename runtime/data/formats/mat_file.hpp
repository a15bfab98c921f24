#pragma once
/// Reads as much of MATLAB's files as ImageNet's devkit needs: the table of synsets in meta.mat.
/// ("MAT-File Format", MathWorks, level 5)

#include <cstdint>
#include <map>
#include <string>

namespace dtnn::runtime {

/// The structure array `synsets`: WNID by ILSVRC2012_ID. `name` is for messages.
std::map<std::int64_t, std::string> read_synsets(const std::string& bytes, const std::string& name);

}  // namespace dtnn::runtime
