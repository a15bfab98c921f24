#include "runtime/data/vocabulary/vocabulary.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "runtime/data/vocabulary/text_encoder.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace dtnn::runtime::vocabulary_test {
namespace {

using Tokens = std::vector<std::int32_t>;

/// Ranks: all bytes, and then these; of tiktoken, in base 64.
std::string ranks(const std::vector<std::string>& more) {
    static constexpr const char* kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    int rank = 0;
    const auto add = [&](std::string bytes) {
        const std::size_t size = bytes.size();
        bytes.resize((size + 2) / 3 * 3);
        for (std::size_t i = 0; i < bytes.size(); i += 3) {
            const unsigned held = unsigned(std::uint8_t(bytes[i])) << 16 |
                                  unsigned(std::uint8_t(bytes[i + 1])) << 8 |
                                  unsigned(std::uint8_t(bytes[i + 2]));
            for (unsigned digit = 0; digit < 4; ++digit)
                text += i + digit > size ? '=' : kDigits[held >> (18 - 6 * digit) & 63u];
        }
        text += fmt::format(" {}\n", rank++);
    };
    for (int byte = 0; byte < 256; ++byte)
        add(std::string(1, char(byte)));
    for (const std::string& bytes : more)
        add(bytes);
    return text;
}

/// Letters for bytes as GPT-2's files have them, in JSON.
std::string letter(int byte) {
    int hidden = 0x100;
    for (int b = 0; b < byte; ++b)
        hidden += !((b >= '!' && b <= '~') || (b >= 0xA1 && b != 0xAD));
    const bool seen = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
    return fmt::format("\\u{:04x}", seen ? byte : hidden);
}

struct Json {
    std::string model = "BPE", more_model, merges, added, pieces = R"({"type": "ByteLevel",
        "add_prefix_space": false, "use_regex": true})",
                normalizer = "null";
    std::string extra_tokens;
    int bytes = 256;

    std::string text() const {
        std::string vocabulary;
        for (int byte = 0; byte < bytes; ++byte)
            vocabulary += fmt::format("{}\"{}\": {}", byte > 0 ? ", " : "", letter(byte), byte);
        return fmt::format(
            R"({{"added_tokens": [{}], "normalizer": {}, "pre_tokenizer": {}, "model": {{"type": "{}",
            "vocab": {{{}{}}}, "merges": [{}]{}}}}})",
            added, normalizer, pieces, model, vocabulary, extra_tokens, merges, more_model);
    }
};

struct Files {
    TemporaryFolder folder;
    std::string path = folder / "vocabulary";

    Vocabulary read(const std::string& text, const std::string& pattern = "") const {
        write_text(path, text);
        return read_vocabulary(path, pattern);
    }
};

Tokens encoded(const Vocabulary& vocabulary, const std::string& text, std::size_t part = 1000) {
    TextEncoder encoder(vocabulary);
    Tokens tokens;
    for (std::size_t at = 0; at < text.size(); at += part)
        encoder.add(std::string_view(text).substr(at, part), at + part >= text.size(), tokens);
    return tokens;
}

bool takes_apart() {
    try {
        TextPattern pattern("a", "here");
        return true;
    } catch (const RunError&) {
        MESSAGE("skipped: built without PCRE2");
        return false;
    }
}

}  // namespace

TEST_CASE("pairs of the lowest rank become one, the leftmost first") {
    BytePairs pairs;
    pairs.add(1, 1, 0, 10);
    pairs.add(10, 1, 1, 11);
    pairs.add(2, 10, 2, 12);
    pairs.add(10, 10, 3, 13);
    pairs.add(1, 1, 9, 99);
    const auto merged = [&](Tokens tokens) {
        pairs.merge(tokens);
        return tokens;
    };
    CHECK(merged({}) == Tokens{});
    CHECK(merged({1}) == Tokens{1});
    CHECK(merged({1, 1}) == Tokens{10});
    CHECK(merged({1, 1, 1}) == Tokens{11});
    CHECK(merged({1, 1, 1, 1}) == Tokens{13});
    CHECK(merged({2, 1, 1, 1}) == Tokens{2, 11});
    CHECK(merged({2, 1, 1}) == Tokens{12});
    CHECK(merged({2, 1, 2, 1}) == Tokens{2, 1, 2, 1});
}

TEST_CASE("a long piece takes time in proportion to its length") {
    BytePairs pairs;
    for (std::int32_t token = 0; token < 20; ++token)
        pairs.add(token, token, token, token + 1);
    Tokens tokens(1 << 20, 0);
    pairs.merge(tokens);
    CHECK(tokens == Tokens{20});
}

TEST_CASE("ranks take text apart and join bytes") {
    if (!takes_apart()) return;
    const Files files;
    const Vocabulary vocabulary =
        files.read(ranks({"th", "he", "the", " the", "  ", "12", "\xC3\xA9"}), "gpt2");
    CHECK(vocabulary.size() == 263);
    CHECK(encoded(vocabulary, "the the") == Tokens{258, 259});
    CHECK(encoded(vocabulary, "he12") == Tokens{257, 261});
    CHECK(encoded(vocabulary, "   the") == Tokens{260, 259});
    CHECK(encoded(vocabulary, "\xC3\xA9\n") == Tokens{262, 10});
    CHECK(encoded(vocabulary, "").empty());
}

TEST_CASE("ranks of a known number have an end of texts") {
    const Files files;
    std::vector<std::string> more;
    for (int i = 256; i < 50256; ++i)
        more.push_back(fmt::format("x{:05}", i));
    const Vocabulary vocabulary = files.read(ranks(more));
    CHECK(vocabulary.size() == 50257);
    CHECK(vocabulary.added == Tokens{50256});
    if (takes_apart()) CHECK(encoded(vocabulary, "a<|endoftext|>b") == Tokens{97, 50256, 98});
}

TEST_CASE("tokens are the same whatever parts the text comes in") {
    if (!takes_apart()) return;
    const Files files;
    Json json;
    json.merges = fmt::format(R"("t h", ["th", "e"], "{0} {0}")", letter(' '));
    json.extra_tokens = fmt::format(R"(, "th": 256, "the": 257, "{0}{0}": 258)", letter(' '));
    json.added = R"({"id": 259, "content": "<|end|>"}, {"id": 260, "content": "<|"})";
    const std::string text =
        "the   the\xE2\x80\x83\xF0\x9F\x98\x80 don't<|end|>the<|en <|<|end|>  \n\n the  ";
    for (const bool space : {false, true}) {
        json.pieces = fmt::format(R"({{"type": "ByteLevel", "add_prefix_space": {}}})", space);
        const Vocabulary vocabulary = files.read(json.text());
        const Tokens whole = encoded(vocabulary, text);
        CHECK(whole.front() == (space ? 32 : 257));
        for (std::size_t part = 1; part < text.size(); ++part) {
            CAPTURE(part);
            CHECK(encoded(vocabulary, text, part) == whole);
        }
    }
}

TEST_CASE("text that is no UTF-8 is told by its place") {
    if (!takes_apart()) return;
    const Files files;
    const Vocabulary vocabulary = files.read(ranks({}), "cl100k");
    for (const std::string bad : {"ab\xFF", "ab\xC3", "ab\xE2\x80", "ab\xC0\x80", "ab\xED\xA0\x80"})
        for (std::size_t part = 1; part < 6; ++part)
            expect_error(Exit::failed, {"byte 2:", "UTF-8"},
                         [&] { encoded(vocabulary, bad, part); });
}

TEST_CASE("vocabularies that are not read are refused with what they ask") {
    const Files files;
    struct Refused {
        std::string text;
        const char* word;
        const char* pattern = "";
        Exit exit = Exit::mismatch;
    };
    const auto with = [](auto change) {
        Json json;
        change(json);
        return json.text();
    };
    const auto pieces = [&](const char* text) {
        return with([&](Json& json) { json.pieces = text; });
    };
    const Refused cases[] = {
        {"", "no token for the byte 0", "gpt2"},
        {"{", "no tokenizer.json"},
        {"{}", "no `model`"},
        {"hello world", "line 1 is no token"},
        {"aGk= x", "line 1 is no token"},
        {"aGk= 1\n*** 2", "line 2 is no token"},
        {"aGk= -1", "number -1"},
        {"aGk= 99999999999", "number 99999999999"},
        {"aGk= 1\naGo= 1", "two tokens have the number 1"},
        {ranks({}), "with 256 ranks"},
        {ranks({}), "no expression is called `x`", "x", Exit::usage},
        {Json{}.text(), "says itself", "gpt2", Exit::usage},
        {with([](Json& j) { j.model = "WordPiece"; }), "its model is WordPiece"},
        {with([](Json& j) { j.model = "Unigram"; }), "its model is Unigram"},
        {with([](Json& j) { j.bytes = 255; }), "no token for the byte 255"},
        {with([](Json& j) { j.merges = "\"a b\""; }), "merge 0, `a` and `b`"},
        {with([](Json& j) { j.merges = "7"; }), "no tokenizer.json"},
        {with([](Json& j) { j.merges = "[\"a\"]"; }), "no tokenizer.json"},
        {with([](Json& j) { j.more_model = ", \"dropout\": 0.1"; }), "drops merges"},
        {with([](Json& j) { j.more_model = ", \"end_of_word_suffix\": \"</w>\""; }),
         "end_of_word_suffix"},
        {with([](Json& j) { j.normalizer = "{\"type\": \"NFC\"}"; }), "its normalizer, NFC"},
        {with([](Json& j) { j.added = "{\"id\": 7, \"content\": \"x\"}"; }),
         "two tokens have the number 7"},
        {with([](Json& j) { j.added = R"({"id": 256, "content": "x", "lstrip": true})"; }),
         "`x` has `lstrip`"},
        {with([](Json& j) { j.added = R"({"id": 256, "content": ""})"; }), "token 256 is empty"},
        {pieces("null"), "no pre_tokenizer"},
        {pieces(R"({"type": "Whitespace"})"), "has a Whitespace"},
        {pieces(R"({"type": "Sequence", "pretokenizers": []})"), "makes no bytes"},
        {pieces(R"({"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated"})"),
         "of a text"},
        {pieces(R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Removed"})"),
         "splits by `Removed`"},
        {pieces(R"({"type": "Split", "pattern": {"Regex": "a{1,2}+"}, "behavior": "Isolated"})"),
         "`}+` means another thing"},
        {pieces(R"({"type": "Split", "pattern": {"Regex": "\\s+$"}, "behavior": "Isolated"})"),
         "`$` means another thing"},
        {pieces(R"({"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Isolated"})"),
         "`\\w` means another thing"},
        {pieces(R"({"type": "Split", "pattern": {"Regex": "[a&&b]"}, "behavior": "Isolated"})"),
         "`&` means another thing"},
        {pieces(R"_({"type": "Split", "pattern": {"Regex": "(?m:a)"}, "behavior": "Isolated"})_"),
         "`(?m` means another thing"},
    };
    for (const Refused& one : cases) {
        CAPTURE(one.word);
        expect_error(one.exit, {one.word}, [&] { files.read(one.text, one.pattern); });
    }
    if (!takes_apart()) return;
    for (const char* expression : {"(a", "\\\\p{L"}) {
        const Vocabulary unread = files.read(
            pieces(fmt::format(R"({{"type": "Sequence", "pretokenizers": [{{"type": "Split",
            "pattern": {{"Regex": "{}"}}, "behavior": "Isolated"}}, {{"type": "ByteLevel",
            "add_prefix_space": false}}]}})",
                               expression)
                       .c_str()));
        expect_error(Exit::mismatch, {"cannot be used"}, [&] { TextEncoder encoder(unread); });
    }
}

}  // namespace dtnn::runtime::vocabulary_test
