#include "runtime/generate/text_tokens.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "plan/dataset_choices.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sources/grammar.hpp"
#include "runtime/data/vocabulary/text_encoder.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// visit(word, its place from 1) of what stands between blanks.
template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
    std::int64_t place = 0;
    for (std::size_t begin = 0; (begin = text.find_first_not_of(kBlanks, begin)) != text.npos;) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
        visit(text.substr(begin, end - begin), ++place);
        begin = end;
    }
}

RunError unknown(const std::string& fact, const std::string& help) {
    return RunError(Exit::usage, fact, help);
}

class ByteText final : public TextTokens {
  public:
    std::vector<std::int32_t> tokens_of(std::string_view text) override {
        std::vector<std::int32_t> tokens;
        for (const char byte : text)
            tokens.push_back(std::int32_t(std::uint8_t(byte)));
        return tokens;
    }
    std::string_view bytes_of(std::int32_t token) override {
        byte_ = char(token);
        return {&byte_, 1};
    }

  private:
    char byte_ = 0;
};

/// Tokens that have names.
class NamedTokens {
  public:
    explicit NamedTokens(std::vector<std::string> names) : names_(std::move(names)) {
        for (std::size_t i = 0; i < names_.size(); ++i)
            numbers_.try_emplace(names_[i], std::int32_t(i));
    }
    const std::vector<std::string>& names() const { return names_; }
    const std::string& name(std::int32_t token) const { return names_[std::size_t(token)]; }
    /// -1: there is none.
    std::int32_t number(std::string_view name) const {
        const auto found = numbers_.find(std::string(name));
        return found == numbers_.end() ? -1 : found->second;
    }

  private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::int32_t> numbers_;
};

class CharacterText final : public TextTokens {
  public:
    explicit CharacterText(std::vector<std::string> names) : known_(std::move(names)) {}

    std::vector<std::int32_t> tokens_of(std::string_view text) override {
        std::vector<std::int32_t> tokens;
        for (std::size_t at = 0; at < text.size();) {
            const std::string_view rest = text.substr(at);
            const std::size_t length = utf8_length(rest);
            if (length == 0)
                throw unknown(fmt::format("byte {}: no character of UTF-8 begins there", at + 1),
                              "iconv -t UTF-8 makes UTF-8 of other texts");
            tokens.push_back(known_.number(rest.substr(0, length)));
            if (tokens.back() < 0)
                throw unknown(fmt::format("character {}: the network does not know `{}` (U+{:04X})",
                                          tokens.size(), shown(rest.substr(0, length)),
                                          code_point(rest, length)),
                              "it knows those of the text that it was trained on; one with `unit: "
                              "byte` knows all");
            at += length;
        }
        return tokens;
    }
    std::string_view bytes_of(std::int32_t token) override { return known_.name(token); }

  private:
    NamedTokens known_;
};

class WordText final : public TextTokens {
  public:
    explicit WordText(std::vector<std::string> names) : known_(std::move(names)) {}

    std::vector<std::int32_t> tokens_of(std::string_view text) override {
        std::vector<std::int32_t> tokens;
        for_each_word(text, [&](std::string_view word, std::int64_t place) {
            tokens.push_back(known_.number(word));
            if (tokens.back() < 0)
                throw unknown(
                    fmt::format("word {}: the network does not know `{}`", place, printable(word)),
                    fmt::format("it knows {}", fmt::join(known_.names(), " ")));
        });
        return tokens;
    }
    std::string_view bytes_of(std::int32_t token) override {
        bytes_ = ' ';
        bytes_ += known_.name(token);
        return bytes_;
    }

  private:
    NamedTokens known_;
    std::string bytes_;
};

class NumberText final : public TextTokens {
  public:
    explicit NumberText(std::int64_t classes) : classes_(classes) {}

    std::vector<std::int32_t> tokens_of(std::string_view text) override {
        std::vector<std::int32_t> tokens;
        for_each_word(text, [&](std::string_view word, std::int64_t place) {
            std::int32_t token = 0;
            const char* const end = word.data() + word.size();
            const auto [rest, error] = std::from_chars(word.data(), end, token);
            if (error != std::errc() || rest != end || token < 0 || token >= classes_)
                throw unknown(
                    fmt::format("number {}: `{}` is no token; the network's are 0 to {}", place,
                                printable(word), classes_ - 1),
                    "without --vocabulary FILE tokens are numbers with spaces between them");
            tokens.push_back(token);
        });
        return tokens;
    }
    std::string_view bytes_of(std::int32_t token) override {
        bytes_ = ' ';
        fmt::format_to(std::back_inserter(bytes_), "{}", token);
        return bytes_;
    }

  private:
    std::int64_t classes_;
    std::string bytes_;
};

class VocabularyText final : public TextTokens {
  public:
    VocabularyText(const VocabularyFile& file, std::int64_t classes)
        : vocabulary_(read_vocabulary(file.path, file.pattern)), encoder_(vocabulary_) {
        if (vocabulary_.size() > classes)
            throw RunError(Exit::mismatch,
                           fmt::format("{}: it has {} tokens, and the network {}", file.path,
                                       grouped(vocabulary_.size()), grouped(classes)),
                           "give the vocabulary that made the tokens which the network was trained "
                           "on");
    }

    std::vector<std::int32_t> tokens_of(std::string_view text) override {
        std::vector<std::int32_t> tokens;
        if (!text.empty()) encoder_.add(text, true, tokens);
        return tokens;
    }
    /// A network may have more tokens than its vocabulary, and a vocabulary fewer than numbers.
    std::string_view bytes_of(std::int32_t token) override {
        if (token >= vocabulary_.size() || vocabulary_.tokens[std::size_t(token)].empty())
            return "\uFFFD";
        return vocabulary_.tokens[std::size_t(token)];
    }

  private:
    const Vocabulary vocabulary_;
    TextEncoder encoder_;
};

}  // namespace

std::unique_ptr<TextTokens> open_text_tokens(const plan::Dataset& dataset,
                                             std::vector<std::string> names,
                                             const VocabularyFile& vocabulary) {
    const std::int64_t classes = dataset.target().classes;
    const auto require = [&](std::int64_t count, const std::string& what) {
        if (!vocabulary.path.empty())
            throw RunError(Exit::usage,
                           fmt::format("--vocabulary is for tokens that `dtnnc tokens` has made, "
                                       "and this network's are {}",
                                       what),
                           "leave --vocabulary out");
        if (count != classes)
            throw RunError(Exit::mismatch,
                           fmt::format("the network has {} tokens, and there are {} {}",
                                       grouped(classes), grouped(count), what),
                           "give the weights.safetensors of the run: it says what its tokens are");
    };
    if (dataset.type == "grammar") {
        std::vector<std::string> words = Grammar(1, 0, 0, 0).class_names();
        require(std::int64_t(words.size()), "words");
        return std::make_unique<WordText>(std::move(words));
    }
    if (dataset.type == "text") {
        if (says(dataset.attributes, "unit", plan::TextUnit::byte)) {
            require(256, "bytes");
            return std::make_unique<ByteText>();
        }
        require(std::int64_t(names.size()), "characters");
        return std::make_unique<CharacterText>(std::move(names));
    }
    if (vocabulary.path.empty()) return std::make_unique<NumberText>(classes);
    return std::make_unique<VocabularyText>(vocabulary, classes);
}

}  // namespace dtnn::runtime
