/// Vocabularies out of the files of others.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/data/vocabulary/vocabulary.hpp"

namespace dtnn::runtime {
namespace {

using Numbers = std::unordered_map<std::string, std::int32_t>;

constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;

/// Of GPT-2, cl100k (GPT-4) and o200k (GPT-4o): what OpenAI's tiktoken has for them.
struct NamedPattern {
    const char* name;
    const char* expression;
    /// Of the files that are published with it: how many ranks there are, and the number of
    /// <|endoftext|>, which is not among them.
    std::map<std::size_t, std::int64_t> ends;
};
const std::vector<NamedPattern>& named_patterns() {
    static const std::vector<NamedPattern> patterns = {
        {"gpt2",
         R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)",
         {{50256, 50256}, {50280, 50256}}},
        {"cl100k",
         R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s)",
         {{100256, 100257}}},
        {"o200k",
         R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
         {{199998, 199999}}},
    };
    return patterns;
}
/// What Oniguruma, by which Hugging Face's library matches, and PCRE2 read differently; empty:
/// nothing in the expression.
std::string other_dialect(std::string_view expression) {
    bool in_class = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const std::string_view rest = expression.substr(i);
        if (rest.front() == '\\') {
            const char next = rest.size() > 1 ? rest[1] : '\\';
            const char small = char(next | 0x20);
            const bool letter = (small >= 'a' && small <= 'z') || (next >= '0' && next <= '9');
            if (letter && std::string_view("pPsSdDrntx").find(next) == rest.npos)
                return std::string(rest.substr(0, 2));
            ++i;
            if (small == 'p' && rest.substr(2).starts_with('{'))
                i += std::min(rest.find('}'), rest.size()) - 1;
            continue;
        }
        if (in_class) {
            in_class = rest.front() != ']';
            if (rest.front() == '[' || rest.starts_with("&&"))
                return std::string(rest.substr(0, 1));
            continue;
        }
        if (rest.front() == '[') {
            in_class = true;
            i += rest.substr(1).starts_with('^');
        }
        // There a second repetition, here one that gives nothing back; there the ends of lines.
        for (const std::string_view sign : {"}+", "^", "$"})
            if (rest.starts_with(sign)) return std::string(sign);
        if (!rest.starts_with("(?")) continue;
        const auto known = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"};
        if (std::none_of(known.begin(), known.end(),
                         [&](const char* group) { return rest.starts_with(group); }))
            return std::string(rest.substr(0, 3));
    }
    return "";
}

class Reader {
  public:
    explicit Reader(std::string path) { made_.path = std::move(path); }

    Vocabulary take() {
        finish();
        return std::move(made_);
    }

  protected:
    [[noreturn]] void refuse(const std::string& fact, const std::string& help) const {
        throw RunError(Exit::mismatch, fmt::format("{}: {}", made_.path, fact), help);
    }
    void put(std::int64_t number, std::string bytes) {
        if (number < 0 || number >= kMostTokens)
            refuse(fmt::format("a token has the number {}", number), "is the file whole?");
        if (bytes.empty()) refuse(fmt::format("token {} is empty", number), "is the file whole?");
        if (std::size_t(number) >= made_.tokens.size())
            made_.tokens.resize(std::size_t(number) + 1);
        std::string& place = made_.tokens[std::size_t(number)];
        if (!place.empty() && place != bytes)
            refuse(fmt::format("two tokens have the number {}: `{}` and `{}`", number,
                               printable(place), printable(bytes)),
                   "is the file whole?");
        place = std::move(bytes);
    }
    std::optional<std::int32_t> number_of(const std::string& bytes) const {
        const auto found = numbers_.find(bytes);
        if (found == numbers_.end()) return std::nullopt;
        return found->second;
    }
    void index() {
        for (std::size_t i = 0; i < made_.tokens.size(); ++i)
            if (!made_.tokens[i].empty()) numbers_.emplace(made_.tokens[i], std::int32_t(i));
    }

    Vocabulary made_;
    Numbers numbers_;  ///< of tokens that text is made of

  private:
    void finish() {
        for (std::size_t byte = 0; byte < std::size(made_.bytes); ++byte) {
            const auto number = number_of(std::string(1, char(byte)));
            if (!number)
                refuse(fmt::format("it has no token for the byte {}", byte),
                       "byte-level byte pairs are read, whose vocabularies have one for each byte");
            made_.bytes[byte] = *number;
        }
    }
};

/// tokenizer.json of Hugging Face's tokenizers.
class HuggingFaceReader : public Reader {
  public:
    HuggingFaceReader(const std::string& path, const std::string& text) : Reader(path) {
        const std::array<unsigned, 256> letters = letters_of_bytes();
        for (std::size_t byte = 0; byte < letters.size(); ++byte)
            byte_of_[letters[byte]] = char(byte);
        try {
            read(parse_json(text));
        } catch (const Json::exception& error) {
            refuse(fmt::format("it is no tokenizer.json: {}", error.what()),
                   "name the file that Hugging Face's `tokenizer.save_pretrained` writes");
        }
    }

  private:
    void read(const Json& file) {
        if (!file.contains("model"))
            refuse("it has no `model`",
                   "name the tokenizer.json of Hugging Face's tokenizers, not its configuration");
        read_model(file.at("model"));
        if (const Json& normalizer = file.value("normalizer", Json()); !normalizer.is_null())
            refuse(fmt::format("its normalizer, {}, is not known here",
                               normalizer.value("type", "of no type")),
                   "vocabularies that take text as it is are read");
        if (const Json& pieces = file.value("pre_tokenizer", Json()); !pieces.is_null())
            read_pieces(pieces);
        else
            refuse("it has no pre_tokenizer of bytes", kWhat);
        if (!byte_level_) refuse("its pre_tokenizer makes no bytes of text", kWhat);
        for (const Json& token : file.value("added_tokens", Json::array()))
            read_added(token);
    }

    void read_model(const Json& model) {
        const std::string type = model.value("type", "BPE");
        if (type != "BPE") refuse(fmt::format("its model is {}", type), kWhat);
        for (const char* field : {"continuing_subword_prefix", "end_of_word_suffix"})
            if (const Json& text = model.value(field, Json());
                !text.is_null() && !text.get<std::string>().empty())
                refuse(fmt::format("its model has a {}", field), kWhat);
        if (const Json& dropout = model.value("dropout", Json());
            !dropout.is_null() && dropout.get<double>() > 0)
            refuse("its model drops merges at random", "set its `dropout` to null");
        made_.whole_pieces = model.value("ignore_merges", false);
        for (const auto& [text, number] : model.at("vocab").items())
            if (auto bytes = bytes_of(text)) put(whole_number_of(number), std::move(*bytes));
        index();
        std::int32_t rank = 0;
        for (const Json& merge : model.at("merges"))
            read_merge(merge, rank++);
    }

    /// Of letters that stand for bytes; nothing where one stands for none: no merge makes it.
    std::optional<std::string> bytes_of(const std::string& text) const {
        std::string bytes;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t length = utf8_length(std::string_view(text).substr(at));
            if (length == 0) return std::nullopt;
            const auto byte = byte_of_.find(code_point(std::string_view(text).substr(at), length));
            if (byte == byte_of_.end()) return std::nullopt;
            bytes += byte->second;
            at += length;
        }
        return bytes;
    }

    void read_merge(const Json& merge, std::int32_t rank) {
        std::array<std::string, 2> parts;
        if (merge.is_string()) {
            const auto text = merge.get<std::string>();
            const std::size_t space = text.find(' ');
            parts = {text.substr(0, space), space == text.npos ? "" : text.substr(space + 1)};
        } else {
            parts = merge.get<std::array<std::string, 2>>();
        }
        std::array<std::optional<std::int32_t>, 3> numbers;
        std::string both;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::string bytes = bytes_of(parts[i]).value_or("");
            numbers[i] = number_of(bytes);
            both += bytes;
        }
        numbers[2] = number_of(both);
        if (!numbers[0] || !numbers[1] || !numbers[2])
            refuse(fmt::format("merge {}, `{}` and `{}`, is of tokens that it has not", rank,
                               printable(parts[0]), printable(parts[1])),
                   "is the file whole?");
        made_.pairs.add(*numbers[0], *numbers[1], rank, *numbers[2]);
    }

    void read_pieces(const Json& pieces) {
        const auto type = pieces.at("type").get<std::string>();
        if (type == "Sequence") {
            for (const Json& one : pieces.at("pretokenizers"))
                read_pieces(one);
        } else if (type == "ByteLevel") {
            made_.space_before = pieces.value("add_prefix_space", true);
            if (made_.space_before && !made_.rules.empty())
                refuse("its pre_tokenizer puts a space before every piece", kWhat);
            if (pieces.value("use_regex", true)) made_.rules.push_back({byte_level_expression()});
            byte_level_ = true;
        } else if (type == "Split" && !byte_level_) {
            read_split(pieces);
        } else {
            refuse(fmt::format("its pre_tokenizer has a {}, which is not known here", type), kWhat);
        }
    }

    void read_split(const Json& split) {
        const auto behavior = split.at("behavior").get<std::string>();
        const bool invert = split.value("invert", false);
        const Json& pattern = split.at("pattern");
        const bool kept = behavior == "Isolated" || (behavior == "Removed" && invert);
        if (!kept || !pattern.contains("Regex"))
            refuse(fmt::format("its pre_tokenizer splits by `{}`{}, which is not known here",
                               behavior, pattern.contains("Regex") ? "" : " of a text"),
                   kWhat);
        auto expression = pattern.at("Regex").get<std::string>();
        if (const std::string sign = other_dialect(expression); !sign.empty())
            refuse(fmt::format("its pre_tokenizer splits by `{}`, whose `{}` means another thing "
                               "to the library of regular expressions that is used here",
                               printable(expression), printable(sign)),
                   kWhat);
        made_.rules.push_back({std::move(expression), behavior == "Isolated"});
    }

    void read_added(const Json& token) {
        const auto text = token.at("content").get<std::string>();
        for (const char* field : {"single_word", "lstrip", "rstrip"})
            if (token.value(field, false))
                refuse(fmt::format("its token `{}` has `{}`, which is not known here",
                                   printable(text), field),
                       "vocabularies whose added tokens are found as they are can be read");
        const auto number = whole_number_of(token.at("id"));
        put(number, text);
        made_.added.push_back(std::int32_t(number));
    }

    static constexpr const char* kWhat =
        "byte-level byte pairs are read, as of GPT-2, RoBERTa, Llama 3 and Qwen 1";

    std::unordered_map<unsigned, char> byte_of_;
    bool byte_level_ = false;
};

/// Ranks of tiktoken: of each token its bytes in base 64.
class RanksReader : public Reader {
  public:
    RanksReader(const std::string& path, const std::string& text, const std::string& pattern)
        : Reader(path) {
        std::size_t line = 1, at = 0;
        for (; at < text.size(); ++line) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            read_line(std::string_view(text).substr(at, end - at), line);
            at = end + 1;
        }
        index();
        made_.whole_pieces = true;
        join_pairs();
        const NamedPattern& named = pattern_of(pattern);
        made_.rules.push_back({named.expression});
        const auto end = named.ends.find(ranks_);
        if (end == named.ends.end()) return;
        put(end->second, "<|endoftext|>");
        made_.added.push_back(std::int32_t(end->second));
    }

  private:
    [[noreturn]] void refuse_line(std::size_t line) const {
        refuse(fmt::format("line {} is no token in base 64 with its rank", line),
               "name a tokenizer.json of Hugging Face, or ranks of tiktoken");
    }

    void read_line(std::string_view line, std::size_t number) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) return;
        const std::size_t space = line.find(' ');
        if (space == line.npos) refuse_line(number);
        const std::string_view digits = line.substr(space + 1);
        std::int64_t rank = -1;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
        auto bytes = from_base64(line.substr(0, space));
        if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || !bytes)
            refuse_line(number);
        put(rank, std::move(*bytes));
        ++ranks_;
    }

    static std::optional<std::string> from_base64(std::string_view text) {
        std::string bytes;
        unsigned held = 0, bits = 0;
        while (text.ends_with('='))
            text.remove_suffix(1);
        for (const char c : text) {
            static constexpr std::string_view kDigits =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            const std::size_t digit = kDigits.find(c);
            if (digit == kDigits.npos) return std::nullopt;
            held = held << 6 | unsigned(digit);
            if ((bits += 6) < 8) continue;
            bits -= 8;
            bytes += char(held >> bits & 0xFFu);
        }
        return bytes;
    }

    const NamedPattern& pattern_of(const std::string& wanted) const {
        for (const NamedPattern& one : named_patterns())
            if (wanted.empty() ? one.ends.contains(ranks_) : wanted == one.name) return one;
        if (!wanted.empty())
            throw RunError(Exit::usage, fmt::format("no expression is called `{}`", wanted),
                           fmt::format("there are {}", fmt::join(pattern_names(), ", ")));
        refuse(
            fmt::format("with {} ranks it is none of those that are known by their number", ranks_),
            fmt::format("say what text is taken apart by: --pattern {}",
                        fmt::join(pattern_names(), "|")));
    }

    /// Two tokens become one where their bytes together are a token, whose number is the rank.
    void join_pairs() {
        for (std::size_t i = 0; i < made_.tokens.size(); ++i) {
            const std::string& bytes = made_.tokens[i];
            for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
                const auto left = number_of(bytes.substr(0, cut)),
                           right = number_of(bytes.substr(cut));
                if (left && right) made_.pairs.add(*left, *right, std::int32_t(i), std::int32_t(i));
            }
        }
    }

    std::size_t ranks_ = 0;
};

}  // namespace

std::vector<std::string> pattern_names() {
    std::vector<std::string> names;
    for (const NamedPattern& one : named_patterns())
        names.emplace_back(one.name);
    return names;
}

Vocabulary read_vocabulary(const std::string& path, const std::string& pattern) {
    const std::string text = read_file(path, kMostBytes, "a vocabulary", Exit::usage);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != text.npos && text[first] == '{') {
        if (!pattern.empty())
            throw RunError(Exit::usage, path + ": it says itself what text is taken apart by",
                           "leave --pattern out");
        return HuggingFaceReader(path, text).take();
    }
    return RanksReader(path, text, pattern).take();
}

}  // namespace dtnn::runtime
