#include "base/markdown.hpp"

#include <doctest/doctest.h>

namespace dtnn::markdown_test {

TEST_CASE("paragraphs and items are wrapped, and nothing else") {
    CHECK(wrap_markdown("one two three four\n", 9) == "one two\nthree\nfour\n");
    CHECK(wrap_markdown("short\nlines\n", 9) == "short\nlines\n");
    CHECK(wrap_markdown("a\nlonger line here\n\nb\n", 9) == "a longer\nline here\n\nb\n");
    CHECK(wrap_markdown("- one two three\n- four\n", 9) == "- one two\n  three\n- four\n");
    CHECK(wrap_markdown("12. one two three\n", 9) == "12. one\n    two\n    three\n");
    for (const char* same : {"# a heading that is long\n", "| a | table that is long |\n",
                             "```\nsome code that is long\n```\n", "<!-- a comment -->\n"})
        CHECK(wrap_markdown(same, 9) == same);
    CHECK(wrap_markdown("see `a b c d` and [the page](x.md)\n", 9) ==
          "see\n`a b c d`\nand\n[the page](x.md)\n");
    CHECK(wrap_markdown("say (this or that) now\n", 9) == "say (this\nor that)\nnow\n");
}

}  // namespace dtnn::markdown_test
