#include "compiler/support/diagnostics.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/support/check.hpp"

namespace diagnostics_test {

using namespace dtnn::compiler;

TEST_CASE("a diagnostic shows place, line, caret and help") {
    Diagnostics diagnostics;
    diagnostics.add_file("net.yaml", "layers:\n  - conv2d: {filtres: 64}\n");
    diagnostics
        .error(Code::unknown_field, {{"net.yaml", 2, 14}, 7}, "`filtres` is not a field of conv2d")
        .help = "did you mean `filters`?";
    CHECK_EQ(diagnostics.render(false),
             "net.yaml:2:14: error: `filtres` is not a field of conv2d [unknown-field]\n"
             "    2 |   - conv2d: {filtres: 64}\n"
             "      |              ^~~~~~~\n"
             "help: did you mean `filters`?\n");
    CHECK_EQ(diagnostics.exit_code(), 3);
}

TEST_CASE("diagnostics come by file, line and column; those without a file last") {
    Diagnostics diagnostics;
    diagnostics.add_file("a", "x\ny\n");
    diagnostics.add_file("b", "x\n");
    diagnostics.error(Code::over_budget, {}, "5");
    diagnostics.error(Code::wrong_type, {{"b", 1, 1}, 1}, "4");
    diagnostics.error(Code::wrong_type, {{"a", 2, 1}, 1}, "3");
    diagnostics.error(Code::wrong_type, {{"a", 1, 2}, 1}, "2");
    diagnostics.error(Code::wrong_type, {{"a", 1, 1}, 1}, "1");
    const std::string text = diagnostics.render(false);
    std::size_t last = 0;
    for (const char* wanted : {"error: 1", "error: 2", "error: 3", "error: 4", "error: 5"}) {
        const std::size_t at = text.find(wanted);
        REQUIRE_NE(at, std::string::npos);
        CHECK_GE(at, last);
        last = at;
    }
    CHECK_EQ(diagnostics.exit_code(), 4);
    CHECK_EQ(diagnostics.error_count(), 5);
}

TEST_CASE("warnings are no errors") {
    Diagnostics diagnostics;
    diagnostics.warning(Code::unused_layer, {}, "x");
    CHECK_FALSE(diagnostics.has_errors());
    CHECK_EQ(diagnostics.exit_code(), 0);
    CHECK_EQ(diagnostics.render(false), "dtnnc: warning: x [unused-layer]\n");
}

TEST_CASE("carets stand under characters, not bytes, and stay inside the line") {
    Diagnostics diagnostics;
    diagnostics.add_file("f", "größe: 3");
    diagnostics.error(Code::wrong_type, {{"f", 1, 8}, 100}, "x");
    CHECK_EQ(diagnostics.render(false),
             "f:1:8: error: x [wrong-type]\n    1 | größe: 3\n      |        ^\n");
}

TEST_CASE(
    "long lines are shown around the caret, and control characters never reach the terminal") {
    Diagnostics diagnostics;
    diagnostics.add_file("f", std::string(5000, 'a') + "\x1b[31m" + std::string(5000, 'b'));
    diagnostics.error(Code::wrong_type, {{"f", 1, 5001}, 1}, "x");
    const std::string text = diagnostics.render(false);
    CHECK_LT(text.size(), 400);
    CHECK_EQ(text.find('\x1b'), std::string::npos);
    CHECK_NE(text.find("a?[31mb"), std::string::npos);
}

TEST_CASE("bytes that are no characters are shown as such, each in its column") {
    Diagnostics diagnostics;
    diagnostics.add_file("f", "a\xff\xfe\xc2\x9bk\xc3\xb6\x80z");
    diagnostics.error(Code::wrong_type, {{"f", 1, 5}, 1}, "x");
    CHECK_EQ(diagnostics.render(false),
             "f:1:5: error: x [wrong-type]\n    1 | a???k?z\n      |     ^\n");
}

TEST_CASE("colour adds sequences and nothing else") {
    Diagnostics diagnostics;
    diagnostics.add_file("f", "abc");
    Diagnostic& error = diagnostics.error(Code::wrong_type, {{"f", 1, 1}, 3}, "x");
    error.notes.push_back({{{"f", 1, 2}, 1}, "y"});
    error.help = "z";
    std::string colored = diagnostics.render(true);
    for (std::size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b'))
        colored.erase(at, colored.find('m', at) - at + 1);
    CHECK_EQ(colored, diagnostics.render(false));
}

TEST_CASE("the JSON form quotes what needs it") {
    Diagnostics diagnostics;
    diagnostics.error(Code::bad_name, {{"a\"b", 1, 2}, 3}, "tab\there").help = "back\\slash";
    CHECK_EQ(
        diagnostics.render_json(),
        "{\"version\":1,\"errors\":1,\"warnings\":0,\"diagnostics\":[\n{\"code\":\"bad-name\","
        "\"severity\":\"error\","
        "\"file\":\"a\\\"b\","
        "\"line\":1,\"column\":2,\"width\":3,\"text\":\"tab\\u0009here\",\"notes\":[],\"chain\":[],"
        "\"help\":\"back\\\\slash\"}"
        "\n]}\n");
}

TEST_CASE("a mistake is said once, but counted whenever it is met") {
    Diagnostics diagnostics;
    diagnostics.error(Code::wrong_type, {{"f", 1, 2}, 3}, "first");
    diagnostics.error(Code::wrong_type, {{"f", 1, 2}, 3}, "again").help = "unseen";
    CHECK_EQ(diagnostics.all().size(), 1);
    CHECK_EQ(diagnostics.all()[0].help, "");
    CHECK_EQ(diagnostics.error_count(), 2);
    // Another code, place, width or file is another mistake; so is everything without a place.
    diagnostics.error(Code::out_of_range, {{"f", 1, 2}, 3}, "x");
    diagnostics.error(Code::wrong_type, {{"f", 1, 2}, 4}, "x");
    diagnostics.error(Code::wrong_type, {{"f", 2, 2}, 3}, "x");
    diagnostics.error(Code::wrong_type, {{"g", 1, 2}, 3}, "x");
    diagnostics.error(Code::wrong_type, {}, "x");
    diagnostics.error(Code::wrong_type, {}, "x");
    CHECK_EQ(diagnostics.all().size(), 7);
}

TEST_CASE("living contexts are told, innermost first, between notes and help") {
    Diagnostics diagnostics;
    diagnostics.add_file("f", "uses\nblock\n");
    int described = 0;
    Diagnostics::Context outer(diagnostics, [&] {
        ++described;
        return Note{{{"f", 1, 1}, 4}, "in block `b`, used here"};
    });
    {
        Diagnostics::Context inner(diagnostics, [&] {
            ++described;
            return Note{{}, "in repetition 2 of 3"};
        });
        CHECK_EQ(described, 0);
        Diagnostic& error = diagnostics.error(Code::shape_error, {{"f", 2, 1}, 5}, "x");
        error.notes.push_back({{}, "a note"});
        error.help = "a help";
    }
    diagnostics.error(Code::wrong_type, {{"f", 2, 2}, 1}, "y");
    CHECK_EQ(described, 3);
    CHECK_EQ(diagnostics.render(false),
             "f:2:1: error: x [shape-error]\n"
             "    2 | block\n"
             "      | ^~~~~\n"
             "note: a note\n"
             "note: in repetition 2 of 3\n"
             "f:1:1: note: in block `b`, used here\n"
             "    1 | uses\n"
             "      | ^~~~\n"
             "help: a help\n"
             "f:2:2: error: y [wrong-type]\n"
             "    2 | block\n"
             "      |  ^\n"
             "f:1:1: note: in block `b`, used here\n"
             "    1 | uses\n"
             "      | ^~~~\n");
    CHECK_NE(diagnostics.render_json().find("\"chain\":[{\"file\":\"\""), std::string::npos);
}

TEST_CASE("text shows as many errors as asked for, JSON all") {
    Diagnostics diagnostics;
    for (int line = 1; line <= 57; ++line)
        diagnostics.error(Code::wrong_type, {{"f", line, 1}, 1}, "x");
    diagnostics.warning(Code::unused_layer, {{"f", 1, 1}, 1}, "y");
    const auto lines = [](const std::string& text) {
        return std::count(text.begin(), text.end(), '\n');
    };
    CHECK_EQ(lines(diagnostics.render(false)), 58);
    CHECK_EQ(lines(diagnostics.render(false, 0)), 58);
    CHECK_EQ(lines(diagnostics.render(false, 57)), 58);
    const std::string text = diagnostics.render(false, 20);
    CHECK_EQ(lines(text), 22);
    CHECK(text.ends_with("and 37 more errors; --max-errors 0 shows all\n"));
    CHECK(diagnostics.render(false, 56).ends_with("and 1 more error; --max-errors 0 shows all\n"));
    diagnostics.warning(Code::unused_layer, {{"f", 2, 1}, 1}, "y");
    CHECK(diagnostics.render(false, 1).ends_with(
        "and 56 more errors, 1 more warning; --max-errors 0 shows all\n"));
    CHECK_NE(diagnostics.render_json().find("\"errors\":57,\"warnings\":2"), std::string::npos);
}

TEST_CASE("what two commands' parts say alike is merged into one") {
    Diagnostics all, one, two;
    one.add_file("f", "abc");
    one.error(Code::wrong_type, {{"f", 1, 1}, 1}, "x");
    two.error(Code::wrong_type, {{"f", 1, 1}, 1}, "seen otherwise");
    two.error(Code::over_budget, {}, "z");
    all.merge(one);
    all.merge(one);
    all.merge(two);
    all.merge(two);
    CHECK_EQ(all.all().size(), 3);
    CHECK_EQ(all.exit_code(), 4);
    CHECK(all.file_text("f"));
}

TEST_CASE("every kind of diagnostic is explained and has an exit code of the list") {
    for (const CodeInfo& code : all_codes()) {
        CAPTURE(code.name);
        CHECK_FALSE(code.meaning.empty());
        CHECK_FALSE(code.example.empty());
        CHECK_FALSE(code.mend.empty());
        CHECK_GE(code.exit_code, 2);
        CHECK_LE(code.exit_code, 5);
    }
}

TEST_CASE("suggestions are near") {
    const std::vector<std::string> words = {
        "conv2d",     "dense",      "flatten",
        "max_pool2d", "avg_pool2d", "global_avg_pool2d",
        "relu",       "batch_norm", "sigmoid",
        "tanh",       "softmax",    "dropout",
        "add",        "concat",     "categorical_cross_entropy"};
    const auto near = [&](const char* word) { return did_you_mean(word, words).value_or("-"); };
    CHECK_EQ(near("conv"), "conv2d");
    CHECK_EQ(near("conv2D"), "conv2d");
    CHECK_EQ(near("cnov2d"), "conv2d");
    CHECK_EQ(near("desne"), "dense");
    CHECK_EQ(near("BatchNorm2d"), "batch_norm");
    CHECK_EQ(near("batchnorm"), "batch_norm");
    CHECK_EQ(near("maxpool2d"), "max_pool2d");
    CHECK_EQ(near("max-pool"), "max_pool2d");
    CHECK_EQ(near("rleu"), "relu");
    CHECK_EQ(near("relu6"), "relu");
    CHECK_EQ(near("soft_max"), "softmax");
    CHECK_EQ(near("cross_entropy"), "categorical_cross_entropy");
    CHECK_EQ(near("lstm"), "-");
    CHECK_EQ(near("embedding"), "-");
    CHECK_EQ(near("xyz"), "-");
    CHECK_EQ(near("x"), "-");
    CHECK_EQ(near(""), "-");
    CHECK_EQ(near(std::string(1000, 'a').c_str()), "-");
}

TEST_CASE("a failed check prints both operands") {
    const int end = 4160, arena = 4096;
    try {
        DTNN_CHECK_COMPARE(end, <=, arena);
        FAIL("the check did not fail");
    } catch (const InternalError& error) {
        CHECK_NE(std::string(error.what()).find("check `end <= arena` failed: 4160 <= 4096"),
                 std::string::npos);
    }
}

}  // namespace diagnostics_test
