#include "compiler/frontend/yaml/syntax_slip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

/// Files are searched this far before the place where the parser stopped.
constexpr int kMostLines = 2000;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name(char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

/// The line without its comment and the blanks before it.
std::string_view without_comment(std::string_view line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quote)
            quote = line[i] == quote ? 0 : quote;
        else if (line[i] == '"' || line[i] == '\'')
            quote = line[i];
        else if (line[i] == '#' && (i == 0 || line[i - 1] == ' '))
            line = line.substr(0, i);
    }
    return line.substr(0, line.find_last_not_of(" \t") + 1);
}

struct Bracket {
    int line;
    std::size_t column;
};

/// The innermost bracket that is open where the parser stopped.
std::optional<Bracket> open_bracket(const SourceText& text, int line, std::size_t column) {
    std::vector<Bracket> open;
    for (int at = std::max(0, line - kMostLines); at <= line; ++at) {
        const std::string_view whole = text.line(at);
        const std::string_view all = without_comment(at == line ? whole.substr(0, column) : whole);
        char quote = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const char c = all[i];
            if (quote)
                quote = c == quote ? 0 : quote;
            else if (c == '"' || c == '\'')
                quote = c;
            else if (c == '[' || c == '{')
                open.push_back({at, i});
            else if ((c == ']' || c == '}') && !open.empty())
                open.pop_back();
        }
    }
    if (open.empty()) return std::nullopt;
    return open.back();
}

/// `Compose(` that nothing closes, the last of them behind a column: where it stands.
std::optional<std::pair<std::size_t, std::size_t>> open_call(std::string_view line,
                                                             std::size_t from) {
    int closed = 0;
    for (std::size_t i = line.size(); i-- > from;) {
        if (line[i] == ')') ++closed;
        if (line[i] != '(' || closed-- > 0) continue;
        std::size_t begin = i;
        while (begin > from && (is_name(line[begin - 1]) || line[begin - 1] == '.'))
            --begin;
        if (begin < i) return std::pair{begin, i + 1};
        closed = 0;
    }
    return std::nullopt;
}

/// How what a call asks for is written.
std::string help_of_call(std::string_view name) {
    for (const OtherWord* other : find_other_words(name))
        if (!other->ours.empty() && other->kind != WordKind::field)
            return fmt::format("{}, and fields stand behind it: `{{{}: {{...}}}}`",
                               help_text(*other), other->ours);
    return "what stands in the list are names, each with its fields: `[{name: {field: value}}]`";
}

/// `conv2d:{` and `relu:[`: where the colon stands.
std::optional<std::size_t> bare_colon(std::string_view line) {
    for (std::size_t i = 1; i + 1 < line.size(); ++i)
        if (line[i] == ':' && is_name(line[i - 1]) && (line[i + 1] == '{' || line[i + 1] == '['))
            return i;
    return std::nullopt;
}

/// A line that is a name alone, behind its dash and before an opening brace: where it stands.
std::optional<std::pair<std::size_t, std::size_t>> lone_name(std::string_view line) {
    line = without_comment(line);
    std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (line.substr(begin).starts_with("- ")) begin = line.find_first_not_of(' ', begin + 1);
    if (begin >= line.size() || !is_letter(line[begin])) return std::nullopt;
    std::size_t end = begin;
    while (end < line.size() && is_name(line[end]))
        ++end;
    const std::string_view rest = line.substr(end);
    if (!rest.empty() && rest != "{" && rest != " {") return std::nullopt;
    return std::pair{begin, end};
}

}  // namespace

std::optional<SyntaxSlip> find_syntax_slip(const SourceText& text, int line, int column,
                                           const std::string& message) {
    if (line < 0) return std::nullopt;
    const std::string_view all = text.line(line);
    const auto stopped = std::min(std::size_t(std::max(0, column)), all.size());
    if (const auto colon = bare_colon(all)) {
        std::size_t begin = *colon;
        while (begin > 0 && is_name(all[begin - 1]))
            --begin;
        const std::string_view name = all.substr(begin, *colon - begin);
        return SyntaxSlip{text.stretch(line, begin, *colon + 1),
                          fmt::format("no blank stands behind the colon of `{}`", name),
                          fmt::format("a colon and a space part name and value: `{}: {}...`", name,
                                      all[*colon + 1])};
    }
    if (message.find("flow") != std::string::npos) {
        const auto open = open_bracket(text, line, stopped);
        if (!open) return std::nullopt;
        const char bracket = text.line(open->line)[open->column];
        if (const auto call =
                open_call(all.substr(0, stopped), open->line == line ? open->column : 0))
            return SyntaxSlip{
                text.stretch(line, call->first, call->second),
                fmt::format("`{}` begins a call, as other languages have them",
                            all.substr(call->first, call->second - call->first)),
                help_of_call(all.substr(call->first, call->second - call->first - 1))};
        if (open->line < line)
            return SyntaxSlip{text.stretch(open->line, open->column, open->column + 1),
                              fmt::format("the `{}` is never closed", bracket),
                              fmt::format("close it with `{}`, where its last value ends",
                                          bracket == '{' ? '}' : ']')};
        // `{filters: 8 kernel: 3}`: the parser stops at the second colon.
        std::size_t begin = stopped;
        while (begin > 0 && is_name(all[begin - 1]))
            --begin;
        if (stopped < all.size() && all[stopped] == ':' && begin < stopped)
            return SyntaxSlip{
                text.stretch(line, begin, stopped),
                fmt::format("no comma stands before `{}`", all.substr(begin, stopped - begin)),
                "fields inside braces have commas between them: `{filters: 8, kernel: 3}`"};
        return std::nullopt;
    }
    // 'it's': the text behind the second quote belongs to nothing.
    if (stopped > 0 && (all[stopped - 1] == '\'' || all[stopped - 1] == '"') &&
        stopped < all.size() && is_letter(all[stopped]))
        return SyntaxSlip{
            text.stretch(line, stopped - 1, stopped),
            "text stands behind the quote that closes a value",
            "put the value in double quotes, or write a quote inside single quotes twice: 'it''s'"};
    if (message.find("map value") == std::string::npos) return std::nullopt;
    int above = line - 1;
    while (above >= 0 && without_comment(text.line(above)).empty())
        --above;
    if (above < 0) return std::nullopt;
    if (const std::size_t begin = text.line(above).find_first_not_of(' ');
        text.line(above).substr(begin).starts_with("//"))
        return SyntaxSlip{text.stretch(above, begin, begin + 2), "`//` begins no comment",
                          "a comment begins with `#`"};
    const auto name = lone_name(text.line(above));
    const std::size_t indent = all.find_first_not_of(' ');
    if (!name || indent == std::string_view::npos ||
        indent <= text.line(above).find_first_not_of(' '))
        return std::nullopt;
    const std::string_view word = text.line(above).substr(name->first, name->second - name->first);
    return SyntaxSlip{text.stretch(above, name->first, name->second),
                      fmt::format("`{}` has fields below it and no colon", word),
                      fmt::format("write `{}:`", word)};
}

bool begins_document(const SourceText& text, int line) {
    for (int at = std::max(0, line); at >= 0; --at) {
        const std::string_view all = text.line(at);
        if (all.starts_with("---") || all.starts_with("...")) return true;
        if (at < line && !without_comment(all).empty()) return false;
    }
    return false;
}

}  // namespace dtnn::compiler
