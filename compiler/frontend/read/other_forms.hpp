#pragma once
/// Values in the form of other languages - calls, templates, arithmetic, other configurations' maps
/// - as they are written here. Help of diagnostics is made of it; nothing is accepted by it.

#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// How a value is written that has the form of another language: `3x3`, `(3, 3)`, `0,1`, `1/255`,
/// `2**7`, `32k`, `$EPOCHS`, `None`. Empty: it has none of these.
std::string form_help(std::string_view text);

/// Whether it is another language's word for no value: `None`.
bool says_nothing(std::string_view text);

/// The help for a list where one value must be, and for {0: 1, 1: 2} where a list must.
std::string several_help(const SourceNode& node, FieldType wanted);

/// The same of a value where one of the type must be: `(3, 3)` and `0.9, 0.999` where a list must,
/// and two numbers where one must.
std::string scalar_help(const SourceNode& node, FieldType wanted);

/// How a field of a layer is written, which an expression may give: of a parameter's name alone,
/// and of 7.5 where an integer must be.
std::string expression_help(const std::string& text);

/// A member of the set as others write it - `SGD(lr=0.1, momentum=0.9)`, {name: adam, lr: 0.001},
/// {_target_: torch.optim.Adam, lr: 0.001}, {class_name: Adam, config: {learning_rate: 0.001}} - as
/// it is written here: "{sgd: {learning_rate: 0.1, momentum: 0.9}}", or "sgd" without fields. What
/// it cannot say is `...`. Empty: the value has no such form, or names no member.
std::string member_as_here(const SourceNode& node, const ComponentSet& set);

/// The help for a word that is no member of the set, but of another, or a field of a member: `flip`
/// among transforms is an augmentation. Empty: it is neither.
std::string other_member_help(const std::string& word, const ComponentSet& wanted);

/// The type that a map names as other configurations do, by `type`, `class_name`, `_target_`, ...;
/// null: it names none.
const SourceEntry* named_type(const SourceNode& map);

/// "write `clip: {norm: 1.0}`": of a value that stands where a map of these fields must, and is
/// what one of them takes. Empty: none does.
std::string record_help(const SourceNode& node, const FieldTable& table, const std::string& what);

}  // namespace dtnn::compiler
