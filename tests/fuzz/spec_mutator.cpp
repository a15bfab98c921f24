/// Mutations that keep the form of a spec: whole lines (with what is below them) doubled, removed,
/// moved, indented; a word or value replaced by one from elsewhere in the text. libFuzzer's own
/// mutations, which rarely leave YAML well formed, are half of all.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);

namespace {

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t limit) {
    return limit == 0 ? 0 : random() % limit;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::size_t indent_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

/// The end of the line at `begin` with what is indented below it.
std::size_t end_of_entry(const std::vector<std::string>& lines, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < lines.size() && indent_of(lines[end]) > indent_of(lines[begin]))
        ++end;
    return end;
}

/// An entry copied, moved or removed; a copy takes the indentation of where it goes.
void mutate_lines(std::vector<std::string>& lines, Random& random) {
    const std::size_t begin = below(random, lines.size());
    const std::size_t end = end_of_entry(lines, begin);
    std::vector<std::string> entry(lines.begin() + std::ptrdiff_t(begin),
                                   lines.begin() + std::ptrdiff_t(end));
    const std::size_t what = below(random, 4);
    if (what == 0) {
        for (std::size_t i = begin; i < end; ++i)
            lines[i] = below(random, 2) == 0
                           ? "  " + lines[i]
                           : lines[i].substr(std::min<std::size_t>(2, indent_of(lines[i])));
        return;
    }
    if (what != 1)
        lines.erase(lines.begin() + std::ptrdiff_t(begin), lines.begin() + std::ptrdiff_t(end));
    if (what == 2) return;
    const std::size_t at = below(random, lines.size() + 1);
    const std::size_t wanted = at < lines.size() ? indent_of(lines[at]) : 0;
    const std::size_t now = indent_of(entry[0]);
    for (std::string& line : entry)
        line = wanted >= now ? std::string(wanted - now, ' ') + line
                             : line.substr(std::min(now - wanted, indent_of(line)));
    lines.insert(lines.begin() + std::ptrdiff_t(at), entry.begin(), entry.end());
}

struct Word {
    std::size_t begin, end;
};

/// Names, numbers, expressions, and bracketed values on one line.
std::vector<Word> words_of(const std::string& text) {
    std::vector<Word> words;
    const auto inner = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-' || c == '/';
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t end = i;
        while (end < text.size() && inner(text[end]))
            ++end;
        if (end > i) {
            words.push_back({i, end});
            i = end - 1;
            continue;
        }
        const char close = text[i] == '[' ? ']' : text[i] == '{' ? '}' : '\0';
        if (close == '\0') continue;
        int depth = 0;
        for (end = i; end < text.size() && text[end] != '\n'; ++end) {
            depth += text[end] == text[i] ? 1 : text[end] == close ? -1 : 0;
            if (depth > 0) continue;
            const bool formula = i > 0 && text[i - 1] == '$';
            words.push_back({formula ? i - 1 : i, end + 1});
            break;
        }
    }
    return words;
}

void mutate_words(std::string& text, Random& random) {
    const std::vector<Word> words = words_of(text);
    if (words.size() < 2) return;
    const Word to = words[below(random, words.size())];
    const Word from = words[below(random, words.size())];
    text.replace(to.begin, to.end - to.begin, text.substr(from.begin, from.end - from.begin));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned int seed) {
    Random random(seed);
    if (size < 8 || below(random, 2) == 0) return LLVMFuzzerMutate(data, size, capacity);
    std::string text(reinterpret_cast<const char*>(data), size);
    for (std::size_t steps = 1 + below(random, 3); steps > 0; --steps) {
        if (below(random, 2) == 0) {
            mutate_words(text, random);
            continue;
        }
        std::vector<std::string> lines = lines_of(text);
        if (lines.empty()) break;
        mutate_lines(lines, random);
        text.clear();
        for (const std::string& line : lines)
            text += line + "\n";
    }
    text.resize(std::min(text.size(), capacity));
    std::copy(text.begin(), text.end(), data);
    return text.size();
}
