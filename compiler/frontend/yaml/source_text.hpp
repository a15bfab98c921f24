#pragma once
/// The text of one file: turns the YAML reader's marks (line and byte column from zero) into places
/// (line and character column from one) with the width of the token that stands there.

#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {

class SourceText {
  public:
    SourceText(std::string name, const std::string& text);

    const std::string& name() const { return name_; }

    /// A place one character wide.
    Span mark(int line, int column) const;
    /// The word at the mark, up to the next blank.
    Span word(int line, int column) const;
    /// The value at the mark, after tags and anchors: a quoted text with its quotes, a bracketed
    /// list or map as far as it goes on this line, or a plain scalar of this value.
    Span token(int line, int column, const std::string& value) const;
    /// A written `null` or `~`; line 0 when nothing is written there.
    Span literal_null(int line, int column) const;

    /// The `-` of an empty item of a list; the YAML reader's mark is what follows it. Line 0: none.
    Span dash_before(int line, int column) const;
    /// Whether the quoted text at the mark, after tags and anchors, has a closing quote; blocks of
    /// text need none.
    bool quotes_close(int line, int column) const;

    /// Refuses what is not UTF-8 and control characters; true when the text is sound.
    bool check_encoding(Diagnostics& diagnostics) const;
    /// Refuses tabs in indentation, which the YAML reader would blame on something else.
    bool check_tabs(Diagnostics& diagnostics) const;

    /// A line without its end, counted from zero; empty behind the last.
    std::string_view line(int index) const;
    /// The bytes from `begin` to `end` of a line.
    Span stretch(int index, std::size_t begin, std::size_t end) const {
        return span(index, begin, end);
    }

  private:
    Span span(int line, std::size_t begin, std::size_t end) const;
    /// Counts characters of the file, in at most kCountedBytes steps: a file may be one line with
    /// 100,000 values.
    int characters_before(std::size_t offset) const;
    static constexpr std::size_t kCountedBytes = 64;

    std::string name_;
    const std::string& text_;
    std::vector<std::size_t> starts_;  ///< offset of every line
    std::vector<int> counts_;  ///< characters before every kCountedBytes-th byte, and of the file
};

}  // namespace dtnn::compiler
