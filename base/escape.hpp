#pragma once
/// Text made safe for the language that it is put into. Each function returns the whole token,
/// quotes included, or says that its caller writes the quotes.

#include <string>
#include <string_view>

namespace dtnn {

/// Content or a quoted attribute of HTML, XML and SVG, and of Graphviz's HTML-like labels: `&`,
/// `<`, `>` and both quotes as entities, line ends and tabs as spaces, and what may not be shown as
/// it is (utf8.hpp) as \xNN.
std::string html_escaped(std::string_view text);

/// The text between the quotes of a DOT string: quotes and backslashes escaped, so that a name is
/// never an escape like \N; line ends as spaces, other control characters as \xNN. The caller
/// writes the quotes.
std::string dot_escaped(std::string_view text);

/// A cell of a Markdown table: marks of emphasis, links, code and HTML escaped, line ends as
/// spaces, other control characters as \xNN.
std::string markdown_escaped(std::string_view text);

/// A cell of CSV (RFC 4180): in quotes where a comma or a quote asks for them, control characters
/// as \xNN. One that a spreadsheet would compute (it begins with =, +, - or @, and is no number)
/// gets a single quote in front.
std::string csv_quoted(std::string_view text);

/// One word for a POSIX shell, in single quotes.
std::string shell_quoted(std::string_view text);

}  // namespace dtnn
