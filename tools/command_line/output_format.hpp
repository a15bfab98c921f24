#pragma once
/// The forms that commands print and write.

#include <array>
#include <cstdint>

#include "base/enum_names.hpp"

namespace dtnn::tools {

enum class Format : std::uint8_t { text, table, markdown, csv, json, html, svg, png, pdf, dot };
constexpr auto names_of(Format) {
    return std::to_array<const char*>(
        {"text", "table", "markdown", "csv", "json", "html", "svg", "png", "pdf", "dot"});
}

}  // namespace dtnn::tools
