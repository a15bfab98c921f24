#pragma once
/// The layers of an imported network as lines of a spec, and what repeats of them as blocks.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler::onnx {

/// A field of a line. In a block the text may be a parameter, "${filters}".
struct SpecValue {
    std::string field;
    FieldType type;
    std::string text;
    bool is_default = false;  ///< it goes without saying
};

/// Parameters of the network that a line stands for.
struct SpecPart {
    int layer;         ///< of the importer's
    std::string path;  ///< below the line's name; empty: the line is the layer itself
};

/// A line: an operator's, or the use of a block.
struct SpecLayer {
    std::string type;
    std::string name;               ///< empty, in blocks alone: made of type and number
    std::vector<SpecValue> values;  ///< in the table's order, defaults too
    std::vector<int> sources;       ///< lines before it; -1, -2, ...: inputs, of a block its own
    std::vector<SpecPart> parts;    ///< none: no parameters
};

struct SpecParameter {
    std::string name;
    FieldType type;
    std::string fallback;  ///< empty: must be given
};

struct SpecBlock {
    std::string name;
    std::vector<SpecParameter> parameters;
    std::vector<SpecLayer> layers;
};

/// Whether a YAML reader takes the name for something else than a text, or it stands for the input.
bool is_word(const std::string& name);

/// Takes what repeats among the lines, its numbers aside, into blocks: runs of lines that read one
/// value and whose last alone is read by others. Those that save most lines come first; later ones
/// may use them. A use is called what the names of its layers begin with, and its layers by the
/// rest. `taken` are names that no line may get. Networks of more than 5,000 lines stay as they
/// are.
std::vector<SpecBlock> fold_blocks(std::vector<SpecLayer>& layers, std::set<std::string> taken);

/// The entries of `blocks` and `layers`. Lines that are the same, one behind the other, whose names
/// count on, are a `repeat`. `inputs` has the names of -1, -2, ...
std::string blocks_text(const std::vector<SpecBlock>& blocks);
std::string layers_text(const std::vector<SpecLayer>& layers,
                        const std::vector<std::string>& inputs);

}  // namespace dtnn::compiler::onnx
