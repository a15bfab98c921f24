#pragma once
/// What an operator that is about more does to its result at the end: its attribute `epilogue`.

#include <string>

#include "base/enum_names.hpp"
#include "base/tensor/attributes.hpp"

namespace dtnn {

enum class EpilogueForm {
    none,
    relu,
    expression,  ///< the attribute `expression` has it
};

constexpr auto names_of(EpilogueForm) {
    return std::to_array<const char*>({"none", "relu", "expression"});
}

inline constexpr const char* kEpilogue = "epilogue";

/// None where the attribute is not there.
inline EpilogueForm epilogue_of(const Attributes& attributes) {
    EpilogueForm form = EpilogueForm::none;
    if (const auto found = attributes.find(kEpilogue); found != attributes.end())
        if (const auto* word = std::get_if<std::string>(&found->second)) parse_name(*word, form);
    return form;
}

inline void set_epilogue(Attributes& attributes, EpilogueForm form) {
    attributes[kEpilogue] = std::string(name_of(form));
}

}  // namespace dtnn
