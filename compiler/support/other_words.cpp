#include "compiler/support/other_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kText =
#include "compiler/support/other_words.txt"
    ;

constexpr std::array<std::string_view, 9> kKinds = {"layer",     "field",        "optimizer",
                                                    "loss",      "metric",       "schedule",
                                                    "transform", "augmentation", "value"};

/// Takes what stands before `separator`, or all, off the front of `rest`.
std::string_view take(std::string_view& rest, std::string_view separator) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(std::min(end + separator.size(), rest.size()));
    return taken;
}

OtherWord read_word(std::string_view line) {
    constexpr std::string_view kColumn = " | ";
    const auto kind = std::find(kKinds.begin(), kKinds.end(), take(line, kColumn));
    DTNN_CHECK(kind != kKinds.end());
    const auto column = [&] {
        const std::string_view text = take(line, kColumn);
        return text == "-" ? std::string_view() : text;
    };
    OtherWord word;
    word.kind = WordKind(kind - kKinds.begin());
    word.tools = column();
    word.word = column();
    word.ours = column();
    word.remark = line;
    return word;
}

/// Letters and digits, small: of `nn.Conv2d(3, 8)` conv2d.
std::string plain_form(std::string_view word) {
    word = word.substr(0, word.find('('));
    if (const std::size_t dot = word.rfind('.'); dot != std::string_view::npos)
        word.remove_prefix(dot + 1);
    std::string plain;
    for (const char c : dtnn::lower(word))
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
    return plain;
}

}  // namespace

std::span<const OtherWord> other_words() {
    static const auto words = [] {
        std::vector<OtherWord> list;
        for (std::string_view rest = kText; !rest.empty();)
            if (const std::string_view line = take(rest, "\n"); !line.empty())
                list.push_back(read_word(line));
        return list;
    }();
    return words;
}

std::vector<const OtherWord*> find_other_words(std::string_view word) {
    static const auto index = [] {
        std::unordered_map<std::string, std::vector<const OtherWord*>> by_form;
        for (const OtherWord& one : other_words())
            by_form[plain_form(one.word)].push_back(&one);
        return by_form;
    }();
    constexpr std::size_t kLongest = 300;
    const auto found = index.find(plain_form(word.substr(0, kLongest)));
    return found == index.end() ? std::vector<const OtherWord*>() : found->second;
}

namespace {

/// The first of the lines about the word that `fits` takes; those that are written just so go
/// first, for what differs in its capitals is mostly another tool's.
template <class Fits>
const OtherWord* best_of(std::string_view word, const Fits& fits) {
    const OtherWord* best = nullptr;
    for (const OtherWord* one : find_other_words(word))
        if (fits(*one) && (!best || (one->word == word && best->word != word))) best = one;
    return best;
}

}  // namespace

std::vector<std::string_view> tools_of(const OtherWord& word) {
    std::vector<std::string_view> tools;
    std::string_view rest = word.tools;
    while (!rest.empty())
        tools.push_back(take(rest, ", "));
    return tools;
}

std::string tools_text(const OtherWord& word) {
    return fmt::format("{}", fmt::join(tools_of(word), " and "));
}

std::string help_text(const OtherWord& word) {
    const std::string remark = word.remark.empty() ? "" : fmt::format(": {}", word.remark);
    if (word.tools.empty())
        return word.ours.empty() ? std::string(word.remark)
                                 : fmt::format("did you mean `{}`?", word.ours);
    std::string whose;
    const std::vector<std::string_view> tools = tools_of(word);
    for (std::size_t i = 0; i < tools.size(); ++i)
        whose += fmt::format("{}{}{}",
                             i == 0                 ? ""
                             : i + 1 < tools.size() ? ", "
                                                    : " and ",
                             tools[i], tools[i].ends_with('s') ? "'" : "'s");
    if (word.ours.empty())
        return fmt::format("{} `{}` has no word here{}", whose, word.word, remark);
    return fmt::format("{} `{}` is `{}` here{}", whose, word.word, word.ours, remark);
}

std::string help_by_name(std::string_view word, const std::vector<std::string>& candidates) {
    const OtherWord* best = best_of(word, [&](const OtherWord& one) {
        return !one.ours.empty() &&
               std::find(candidates.begin(), candidates.end(), one.ours) != candidates.end();
    });
    return best ? help_text(*best) : "";
}

std::string help_by_remark(std::string_view word) {
    const OtherWord* best = best_of(word, [](const OtherWord& one) { return one.ours.empty(); });
    if (!best) return "";
    // Another line is about what is written just so: that is meant.
    const OtherWord* written =
        best_of(word, [&](const OtherWord& one) { return one.word == word; });
    return written && best->word != word ? "" : help_text(*best);
}

std::string help_elsewhere(std::string_view word) {
    const OtherWord* best = best_of(word, [](const OtherWord& one) { return !one.tools.empty(); });
    return best ? help_text(*best) : "";
}

}  // namespace dtnn::compiler
