#include "base/escape.hpp"

#include <doctest/doctest.h>

namespace escape_test {

using namespace dtnn;

TEST_CASE("HTML has no marks of its own left") {
    CHECK(html_escaped("a & b < c > d \"e\" 'f'") ==
          "a &amp; b &lt; c &gt; d &quot;e&quot; &#39;f&#39;");
    CHECK(html_escaped("two\nlines\x7F") == "two lines\\x7F");
    CHECK(html_escaped("\x1b[31mred \xff \xef\xbf\xbe") == "\\x1B[31mred \\xFF \\xEF\\xBF\\xBE");
    CHECK(html_escaped("\xC3\xA4") == "\xC3\xA4");
}

TEST_CASE("a DOT string ends at its own quote only") {
    CHECK(dot_escaped("say \"\\N\"\nnow") == "say \\\"\\\\N\\\" now");
    CHECK(dot_escaped("\x1b[31m") == "\\\\x1B[31m");
}

TEST_CASE("Markdown is escaped where it would mean something") {
    CHECK(markdown_escaped("conv2d_1") == "conv2d_1");
    CHECK(markdown_escaped("a|b") == "a\\|b");
    CHECK(markdown_escaped("_a_ *b* `c` [d] <e>") == "\\_a\\_ \\*b\\* \\`c\\` \\[d\\] \\<e\\>");
    CHECK(markdown_escaped("back\\slash") == "back\\\\slash");
    CHECK(markdown_escaped("two\nlines") == "two lines");
    CHECK(markdown_escaped("\x1b]0;t\a") == "\\\\x1B\\]0;t\\\\x07");
}

TEST_CASE("CSV is quoted as RFC 4180 says") {
    CHECK(csv_quoted("plain text") == "plain text");
    CHECK(csv_quoted("a,b") == "\"a,b\"");
    CHECK(csv_quoted("say \"x\"") == "\"say \"\"x\"\"\"");
    CHECK(csv_quoted("two\nlines") == "two\\x0Alines");
    CHECK(csv_quoted("\x1b[2J\xc2\x9b") == "\\x1B[2J\\xC2\\x9B");
    // A spreadsheet would compute these; numbers stay numbers.
    CHECK(csv_quoted("=HYPERLINK(\"x\",1)") == "\"'=HYPERLINK(\"\"x\"\",1)\"");
    CHECK(csv_quoted("@SUM(A1)") == "'@SUM(A1)");
    CHECK(csv_quoted("-1+cmd") == "'-1+cmd");
    CHECK(csv_quoted("+") == "'+");
    for (const char* number : {"-1", "+2.5", "-1e-5", "-inf", "a=b"})
        CHECK(csv_quoted(number) == number);
}

TEST_CASE("a word for the shell is one word") {
    CHECK(shell_quoted("a b") == "'a b'");
    CHECK(shell_quoted("it's $HOME") == "'it'\\''s $HOME'");
}

}  // namespace escape_test
