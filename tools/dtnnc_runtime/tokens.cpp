#include "tools/dtnnc_runtime/tokens.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/vocabulary/text_encoder.hpp"
#include "runtime/data/vocabulary/vocabulary_trainer.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {
namespace {

using runtime::Exit;
using runtime::RunError;

constexpr std::int64_t kPart = std::int64_t{1} << 20;  ///< bytes of text at a time

/// The number of an added token.
std::optional<std::int32_t> end_token(const runtime::Vocabulary& vocabulary,
                                      const std::string& text) {
    if (text.empty()) return std::nullopt;
    std::vector<std::string> there;
    for (const std::int32_t token : vocabulary.added) {
        there.push_back(shown(vocabulary.tokens[std::size_t(token)]));
        if (vocabulary.tokens[std::size_t(token)] == text) return token;
    }
    if (there.empty())
        throw RunError(Exit::usage,
                       fmt::format("{} adds no tokens to those of its pairs, so `{}` is none of "
                                   "them",
                                   vocabulary.path, printable(text)),
                       "leave --end out, or use the tokenizer.json of the same vocabulary");
    constexpr std::size_t kMostShown = 10;
    const std::size_t shown_count = std::min(there.size(), kMostShown);
    throw RunError(
        Exit::usage, fmt::format("{} adds no token `{}`", vocabulary.path, printable(text)),
        fmt::format("it adds {}{}",
                    fmt::join(there.begin(), there.begin() + std::ptrdiff_t(shown_count), ", "),
                    there.size() > kMostShown ? ", and others" : ""));
}

/// Lowest byte first.
std::string bytes_of(const std::vector<std::int32_t>& tokens, std::size_t item) {
    std::string bytes(tokens.size() * item, '\0');
    char* to = bytes.data();
    for (const std::int32_t token : tokens)
        for (std::size_t i = 0; i < item; ++i)
            *to++ = char(std::uint32_t(token) >> (8 * i) & 0xFFu);
    return bytes;
}

/// The texts' files; none of them is the output.
std::vector<std::string> files_of(const std::vector<std::string>& texts,
                                  const std::string& output) {
    std::vector<std::string> files;
    for (const std::string& text : texts)
        for (std::string& file : runtime::files_below(text)) {
            std::error_code ignored;
            if (std::filesystem::equivalent(file, output, ignored))
                throw RunError(
                    Exit::usage,
                    fmt::format("{} is one of the texts, which would be replaced", output),
                    "name another file with --output");
            files.push_back(std::move(file));
        }
    return files;
}

/// take(part, last) of each file's text; an error names the file. Returns how many bytes there are.
template <class Take>
std::int64_t read_texts(const std::vector<std::string>& files, const Take& take) {
    std::int64_t bytes = 0;
    std::string part;
    for (const std::string& path : files) {
        const runtime::RegularFile file(path);
        for (std::int64_t at = 0; at < file.size() || at == 0; at += kPart) {
            if (runtime::stop_requested() != 0)
                throw RunError(Exit::interrupted, "stopped; nothing was written");
            part.resize(std::size_t(std::min(kPart, file.size() - at)));
            file.read(at, std::span<char>(part));
            try {
                take(part, at + kPart >= file.size());
            } catch (const RunError& error) {
                throw RunError(error.exit(), fmt::format("{}: {}", path, error.what()),
                               error.help());
            }
        }
        bytes += file.size();
    }
    if (bytes == 0) throw RunError(Exit::failed, "there is no text", "name files that have text");
    return bytes;
}

}  // namespace

int tokens(const TokensCommand& command) {
    const runtime::Vocabulary vocabulary =
        runtime::read_vocabulary(command.vocabulary, command.pattern);
    const auto end = end_token(vocabulary, command.end);
    const std::vector<std::string> files = files_of(command.texts, command.output);
    const std::size_t item = vocabulary.size() <= (1 << 16) ? 2 : 4;
    std::int64_t count = 0, bytes = 0;
    write_file(command.output, [&](const std::function<void(std::string_view)>& sink) {
        runtime::TextEncoder encoder(vocabulary);
        std::vector<std::int32_t> made;
        bytes = read_texts(files, [&](std::string_view part, bool last) {
            encoder.add(part, last, made);
            if (last && end) made.push_back(*end);
            count += std::int64_t(made.size());
            sink(bytes_of(made, item));
            made.clear();
        });
        return FilePatch{};
    });
    tell_written(
        command.output,
        fmt::format("{} of {} of text, a vocabulary of {}: `type: tokens, item: {}, "
                    "classes: {}`",
                    count_text(count, "token"), bytes_text(double(bytes)),
                    grouped(vocabulary.size()), item == 2 ? "u16" : "u32", vocabulary.size()));
    return 0;
}

int vocabulary(const VocabularyCommand& command) {
    const std::vector<std::string> files = files_of(command.texts, command.output);
    std::vector<std::string> added = command.added;
    for (std::size_t i = 0; i < added.size(); ++i)
        if (added[i].empty() || !is_utf8(added[i]) ||
            std::count(added.begin(), added.end(), added[i]) > 1)
            throw RunError(Exit::usage,
                           fmt::format("`{}` cannot be an added token", printable(added[i])),
                           "added tokens are texts, each once");
    const auto least_size = std::int64_t(256 + added.size());
    if (command.size < least_size)
        throw RunError(
            Exit::usage,
            fmt::format("a vocabulary of {} has no room for the 256 bytes and {}", command.size,
                        count_text(std::int64_t(added.size()), "added token")),
            fmt::format("--size {} or more", least_size));
    runtime::VocabularyTrainer trainer(std::move(added));
    const std::int64_t bytes =
        read_texts(files, [&](std::string_view part, bool last) { trainer.add(part, last); });
    const runtime::LearnedPairs learned = trainer.train(command.size, command.least);
    write_file(command.output, huggingface_text(learned));
    const auto size = std::int64_t(learned.tokens.size());
    tell_written(
        command.output,
        fmt::format("a vocabulary of {}, of {} of text{}", grouped(size), bytes_text(double(bytes)),
                    size < command.size ? "; no more pairs stand together often enough" : ""));
    return 0;
}

}  // namespace dtnn::tools
