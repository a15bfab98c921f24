#pragma once
/// The places of the language's words, for whom writes them at another one: `learning_rate` in a
/// training is the optimizer's, `flip` in a job an augmentation of its dataset. All of it follows
/// from the field tables.

#include <map>
#include <string>
#include <string_view>

namespace dtnn::compiler {

/// By word, what is said of it where it stands as a field of a spec of this kind: fields of the
/// kind's own maps and components and their names, fields of other kinds, and what these hold.
/// Nothing about the kind's own fields.
const std::map<std::string, std::string>& help_for_misplaced(std::string_view kind);

}  // namespace dtnn::compiler
