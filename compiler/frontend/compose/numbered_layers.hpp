#pragma once
/// Made names such as `conv2d_2` on the model as it is written, before it is expanded: which entry
/// of the list of layers will have one.

#include <string>

#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

struct NumberedLayer {
    SourceNode* item = nullptr;  ///< the entry of the list; null: see `reason`
    std::string reason;          ///< why no entry can be told; empty: this is no made name
    std::string help;
};

/// Numbers the entries of a list of layers as the expansion does, those of branches included. What
/// is within blocks and named repeats has names with `/`, and what depends on repetitions or
/// conditions is only known after expansion: both are refused with the reason.
NumberedLayer find_numbered_layer(SourceNode& list, const std::string& name);

}  // namespace dtnn::compiler
