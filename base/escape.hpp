#pragma once
/// Text made safe for the language that it is put into. Each function returns the whole token,
/// quotes included, or says that its caller writes the quotes.

#include <string>
#include <string_view>

namespace dtnn {

/// Content or a quoted attribute of HTML, XML and SVG, and of Graphviz's HTML-like labels: `&`,
/// `<`,
/// `>` and both quotes as entities, control characters as spaces. Line ends are control characters.
std::string html_escaped(std::string_view text);

/// What stands between the quotes of a DOT string: quotes and backslashes escaped, so that a name
/// is never an escape like \N; line ends as spaces. The caller writes the quotes.
std::string dot_escaped(std::string_view text);

/// A cell of a Markdown table: marks of emphasis, links, code and HTML escaped, line ends as
/// spaces.
std::string markdown_escaped(std::string_view text);

/// A cell of CSV (RFC 4180): in quotes where a comma, a quote or a line end asks for them.
std::string csv_quoted(std::string_view text);

/// One word for a POSIX shell, in single quotes.
std::string shell_quoted(std::string_view text);

}  // namespace dtnn
