#pragma once
/// One entry of a list of layers: what it may look like, and what each kind of entry takes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/expand/control_word.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// An entry as it is written, right or wrong: its type (empty: there is none) and its value.
struct RawEntry {
    std::string_view type;
    const SourceNode* value = nullptr;
};
RawEntry raw_entry(const SourceNode& item);

/// The lists of layers inside an entry: branches, and those of `repeat` and `if`.
std::vector<const SourceNode*> nested_lists(const RawEntry& entry);

/// A sound entry. Exactly one of `op`, `block` and `control` is set.
struct LayerEntry {
    std::string type;
    Span span;                             ///< of the type
    const SourceNode* fields = nullptr;    ///< a map; null: none are given
    const SourceNode* branches = nullptr;  ///< add, concat: the list of branches; null: none
    const OpDef* op = nullptr;
    const Block* block = nullptr;
    std::optional<ControlWord> control = std::nullopt;
};

/// Reads the form of an entry; the type may be an expression. Nothing after a diagnostic;
/// `refused_name` is then the name that the refused layer was given, if any.
std::optional<LayerEntry> read_entry(const SourceNode& item, const Blocks& blocks,
                                     const Names& names, Diagnostics& diagnostics,
                                     const SourceNode** refused_name = nullptr);

/// All fields that an entry of a type takes.
const FieldTable& fields_of_operator(const OpDef& op);

/// Operators, blocks, `repeat` and `if`.
std::vector<std::string> entry_names(const Blocks& blocks);
/// What may have been meant by a type that there is not.
std::string suggest_type(const std::string& word, const Blocks& blocks);

/// Letters, digits, `_` and `-`, in parts joined by `/`; else a diagnostic.
bool check_layer_name(const std::string& name, const Span& span, Diagnostics& diagnostics);

/// A layer's or repeat's branches may be given as a list, or as the field `branches`.
bool is_structural_list(const Field& field);

}  // namespace dtnn::compiler
