#pragma once
/// Edits that keep a document JSON: numbers to others that matter, values of elsewhere in the
/// document, members and elements away, doubled or exchanged, values of another type.

#include "base/json.hpp"
#include "tests/fuzz/choices.hpp"

namespace dtnn::fuzz {

/// As many edits as the choices last for, at most `most`. Takes time in proportion to the document
/// for each.
void edit(Json& document, Choices& choices, int most = 16);

}  // namespace dtnn::fuzz
