#pragma once
/// The parts that pages about runs are made of: no script, nothing loaded from elsewhere.

#include <string>
#include <utility>
#include <vector>

namespace dtnn::runtime {

/// A section of a page: what its heading says, and its content. An empty content: there is none.
struct HtmlSection {
    std::string id;
    std::string title;
    std::string content;
};

/// The whole page, with a line of links to its sections. `head` stands before them.
std::string html_page(const std::string& title, const std::string& head,
                      const std::vector<HtmlSection>& sections);

/// A number as people read it: four digits.
std::string rounded(double value);
/// A whole number as people read it; what a history may say and no number can hold, as it is.
std::string whole_text(double value);

/// Text of HTML that may be broken behind the dots, underscores and slashes of long names; numbers
/// and short ends stay whole.
std::string html_breakable(const std::string& text);

/// Text of HTML that keeps its lines.
std::string html_lines(const std::string& text);

/// A row of a table: cells are text. `tag` is "td" or "th".
std::string html_row(const std::vector<std::string>& cells, const char* tag = "td");
/// The same for cells that are HTML already.
std::string html_row_of(const std::vector<std::string>& cells, const char* tag = "td",
                        const std::string& attributes = "");

/// Facts with their names, beside each other.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

/// A table in a box that scrolls where it is wider or longer than the page has room for. Its heads
/// stay in sight.
std::string html_table(const std::string& style, const std::string& rows);

/// A text's columns, with two spaces or more between them, as a table. A line has a cell for each
/// head of the first one; where it has fewer, those behind the first belong to the heads that end
/// where they end. Empty where a cell has no head, or there are more than 20 heads.
std::string html_aligned_table(const std::string& text);

/// A table whose rows are cards on a narrow page: the cells stand one under the other, or as many
/// in a line as there is room for, each behind the head of its column; the first one needs none.
class CardTable {
  public:
    /// `style`: "words" or "numbers". `links`: what stands in the heads, as HTML; empty: `heads`.
    explicit CardTable(std::vector<std::string> heads, const std::string& style = "words",
                       const std::vector<std::string>& links = {});

    /// Cells are HTML; `soft`: what is said by the way.
    void add(const std::vector<std::string>& cells, bool soft = false);
    std::string finish() const;

  private:
    std::vector<std::string> heads_;
    std::string style_;
    std::string rows_;
};

/// A part that may be shown or hidden; shown at first.
std::string html_details(const std::string& summary, const std::string& content);

/// One word of a command, in quotes only where it needs them.
std::string command_word(const std::string& text);

/// Commands to copy, each with what it does.
std::string html_commands(const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace dtnn::runtime
