#pragma once
/// The words of the language that are neither kinds nor operators nor fields by themselves, with
/// what is said about them: for `dtnnc explain` and the reference pages.

#include <string_view>
#include <vector>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

struct LanguageWord {
    std::string_view name;
    /// "a word of the language", "a block that every model has", or a component set's: "a loss".
    std::string_view group;
    std::string_view doc;
    std::string_view example;            ///< a whole spec, sound as it stands
    const FieldTable* fields = nullptr;  ///< what may stand below the word; null: nothing fixed
    /// What a parameter may be that is declared below the word; null: none is.
    const FieldTable* parameter_fields = nullptr;
};

/// Those of models: blocks, parameters, repeat, ...
const std::vector<LanguageWord>& language_words();
/// Those that fields of datasets and trainings choose from: the members of all component sets.
const std::vector<LanguageWord>& choice_words();
/// separable_conv2d, squeeze_excite; fields are their parameters, `name` and `from`.
const std::vector<LanguageWord>& standard_block_words();
/// A standard block as it is written in the language.
std::string_view standard_block_text(std::string_view name);

}  // namespace dtnn::compiler
