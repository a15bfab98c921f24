#pragma once
/// The slips that people make in YAML most often, found in the text: the parser's own message names
/// what it wanted next, mostly lines below the slip.

#include <optional>
#include <string>

#include "compiler/frontend/yaml/source_text.hpp"

namespace dtnn::compiler {

struct SyntaxSlip {
    Span span;
    std::string fact, help;
};

/// The slip that explains why the parser stopped at the mark (line and byte column from zero) with
/// this message; nothing when it is none of those that are known: a bracket that is never closed,
/// no blank behind a colon, no colon behind a name with fields below it, no comma between fields, a
/// call with brackets in it.
std::optional<SyntaxSlip> find_syntax_slip(const SourceText& text, int line, int column,
                                           const std::string& message);

/// Whether the value at the line begins a document of its own: `---` or `...` stands before it.
bool begins_document(const SourceText& text, int line);

}  // namespace dtnn::compiler
