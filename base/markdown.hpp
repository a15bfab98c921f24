#pragma once
/// Markdown that programs write.

#include <string>
#include <string_view>

namespace dtnn {

/// The same text with its paragraphs and list items wrapped at this many columns, if a line of them
/// is longer. Headings, tables, quoted lines, comments and code stay as they are; code between
/// backticks and links are not parted.
std::string wrap_markdown(std::string_view text, std::size_t columns = 118);

}  // namespace dtnn
