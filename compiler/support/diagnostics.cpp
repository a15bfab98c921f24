#include "compiler/support/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::array kCodes = {
#define DTNN_DIAGNOSTIC(name, exit_code, meaning, example, mend) \
    CodeInfo{#name, exit_code, meaning, example, mend, false},
#define DTNN_LINT(name, meaning, example, mend) CodeInfo{#name, 3, meaning, example, mend, true},
#include "compiler/support/diagnostics.def"
#undef DTNN_LINT
#undef DTNN_DIAGNOSTIC
};

/// Excerpts of longer lines show a window of this many characters around the caret.
constexpr int kExcerptWidth = 120;

struct Paint {
    const char* bold = "";
    const char* error = "";
    const char* warning = "";
    const char* note = "";
    const char* help = "";
    const char* caret = "";
    const char* reset = "";
};

constexpr Paint kPlain{};
constexpr Paint kColored{"\033[1m",    "\033[1;31m", "\033[1;35m", "\033[1;36m",
                         "\033[1;32m", "\033[1;32m", "\033[0m"};

/// The beginnings of a file's lines, found once: there may be thousands of diagnostics.
struct FileLines {
    const std::string* text = nullptr;
    std::vector<std::size_t> starts;
};

class Lines {
  public:
    explicit Lines(const std::vector<std::pair<std::string, std::string>>& files) {
        for (const auto& [name, text] : files) {
            FileLines& file = files_[name];
            file.text = &text;
            file.starts.push_back(0);
            for (std::size_t i = 0; i < text.size(); ++i)
                if (text[i] == '\n') file.starts.push_back(i + 1);
        }
    }
    const FileLines* find(const std::string& name) const {
        const auto found = files_.find(name);
        return found == files_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::string, FileLines> files_;
};

/// A line, its characters (UTF-8 sequences) counted from zero; carriage returns are none.
class LineText {
  public:
    LineText(const FileLines& file, int line) {
        if (std::size_t(line) > file.starts.size()) return;
        const auto at = std::size_t(line - 1);
        const std::size_t begin = file.starts[at];
        const std::size_t end =
            at + 1 < file.starts.size() ? file.starts[at + 1] - 1 : file.text->size();
        text_ = std::string_view(*file.text).substr(begin, end - begin);
    }

    int length() const { return int(std::count_if(text_.begin(), text_.end(), begins)); }

    /// Characters [begin, end), what may not be shown made harmless. A line may be the whole file,
    /// so that no more of it is copied.
    std::string part(int begin, int end) const {
        std::string result;
        int count = 0;
        for (std::size_t i = 0; i < text_.size();) {
            std::size_t next = i + 1;
            while (next < text_.size() && !begins_character(text_[next]))
                ++next;
            const std::string_view character = text_.substr(i, next - i);
            i = next;
            if (!begins(character[0])) continue;
            if (count++ == end) break;
            if (count <= begin) continue;
            if (shown_length(character) == character.size())
                result += character;
            else
                result += character == "\t" ? ' ' : '?';
        }
        return result;
    }

  private:
    static bool begins(char c) { return begins_character(c) && c != '\r'; }

    std::string_view text_;
};

std::string excerpt(const FileLines* file, const Span& span, const Paint& paint) {
    if (!file || span.place.line < 1 || span.place.column < 1) return {};
    const LineText line(*file, span.place.line);
    const int length = line.length();
    const int column = std::min(span.place.column - 1, length);
    int begin = 0;
    if (length > kExcerptWidth)
        begin = std::clamp(column - kExcerptWidth / 3, 0, length - kExcerptWidth);
    const int end = std::min(length, begin + kExcerptWidth);
    const std::string head = begin > 0 ? "..." : "";
    const std::string tail = end < length ? "..." : "";
    const int width = std::max(1, std::min(span.width, end - column));
    const auto indent = std::size_t(column - begin) + head.size();
    return fmt::format("{:5} | {}{}{}\n      | {}{}^{}{}\n", span.place.line, head,
                       line.part(begin, end), tail, std::string(indent, ' '), paint.caret,
                       std::string(std::size_t(width - 1), '~'), paint.reset);
}

/// `file:line:column: `; a setting of the command line is its own text and needs no numbers.
std::string location(const Place& place) {
    if (place.file.empty()) return "dtnnc: ";
    const std::string file = shown(place.file);
    if (file.starts_with("--") || place.line < 1) return file + ": ";
    return fmt::format("{}:{}:{}: ", file, place.line, place.column);
}

std::string json_place(const Span& span) {
    return fmt::format("\"file\":{},\"line\":{},\"column\":{},\"width\":{}",
                       json_text(span.place.file), span.place.line, span.place.column, span.width);
}

std::string json_notes(const std::vector<Note>& notes) {
    std::string result;
    for (const Note& note : notes)
        result += fmt::format("{}{{{},\"text\":{}}}", result.empty() ? "" : ",",
                              json_place(note.span), json_text(note.text));
    return result;
}

std::vector<const Diagnostic*> in_file_order(
    const std::vector<Diagnostic>& diagnostics,
    const std::vector<std::pair<std::string, std::string>>& files) {
    std::map<std::string_view, std::size_t> ranks;
    for (std::size_t i = 0; i < files.size(); ++i)
        ranks.emplace(files[i].first, i);
    const auto rank = [&](const Diagnostic* diagnostic) {
        const Place& place = diagnostic->span.place;
        const auto found = ranks.find(place.file);
        const std::size_t file = found == ranks.end() ? files.size() : found->second;
        return std::tuple(file + (place.file.empty() ? 1 : 0), place.line, place.column);
    };
    std::vector<const Diagnostic*> order;
    order.reserve(diagnostics.size());
    for (const Diagnostic& diagnostic : diagnostics)
        order.push_back(&diagnostic);
    std::stable_sort(order.begin(), order.end(),
                     [&](const Diagnostic* a, const Diagnostic* b) { return rank(a) < rank(b); });
    return order;
}

std::string key_of(Code code, const Span& span) {
    return fmt::format("{}:{}:{}:{}:{}", int(code), span.place.line, span.place.column, span.width,
                       span.place.file);
}

std::string render_note(const Note& note, const Lines& lines, const Paint& paint) {
    return fmt::format("{}{}{}{}note:{} {}\n", paint.bold,
                       note.span.place.file.empty() ? "" : location(note.span.place), paint.reset,
                       paint.note, paint.reset, shown(note.text)) +
           excerpt(lines.find(note.span.place.file), note.span, paint);
}

std::string render_one(const Diagnostic& diagnostic, const Lines& lines, const Paint& paint) {
    const bool error = diagnostic.severity == Severity::error;
    std::string result = fmt::format(
        "{}{}{}{}{}:{}{} {}{} [{}]\n", paint.bold, location(diagnostic.span.place), paint.reset,
        error ? paint.error : paint.warning, error ? "error" : "warning", paint.reset, paint.bold,
        shown(diagnostic.text), paint.reset, dashed(info(diagnostic.code).name));
    result += excerpt(lines.find(diagnostic.span.place.file), diagnostic.span, paint);
    for (const Note& note : diagnostic.notes)
        result += render_note(note, lines, paint);
    for (const Note& note : diagnostic.chain)
        result += render_note(note, lines, paint);
    if (!diagnostic.help.empty())
        result += fmt::format("{}help:{} {}\n", paint.help, paint.reset, shown(diagnostic.help));
    return result;
}

std::string counted(int count, std::string_view what) {
    return count_text(count, fmt::format("more {}", what));
}

}  // namespace

const CodeInfo& info(Code code) {
    return kCodes[std::size_t(code)];
}

std::vector<CodeInfo> all_codes() {
    return {kCodes.begin(), kCodes.end()};
}

const std::vector<std::string_view>& lint_names() {
    static const auto kept = [] {
        std::vector<std::string> names;
        for (const CodeInfo& code : kCodes)
            if (code.lint) names.push_back(dashed(code.name));
        return names;
    }();
    static const std::vector<std::string_view> views(kept.begin(), kept.end());
    return views;
}

std::optional<Code> find_lint(std::string_view dashed_name) {
    for (std::size_t i = 0; i < kCodes.size(); ++i)
        if (kCodes[i].lint && dashed(kCodes[i].name) == dashed_name) return static_cast<Code>(i);
    return std::nullopt;
}

std::string dashed(std::string_view name) {
    std::string result(name);
    std::replace(result.begin(), result.end(), '_', '-');
    return result;
}

std::string severity_text(const CodeInfo& code) {
    return code.lint ? "A lint." : fmt::format("Exit code {}.", code.exit_code);
}

namespace {

/// A word may be all of a file; of one that no excerpt could hold, the beginning is enough.
std::string shortened(std::string text) {
    constexpr std::size_t kLongest = 300, kShown = 60;
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size() - 1) + 1;
        if (end - begin <= kLongest) {
            result.append(text, begin, end - begin);
        } else {
            std::size_t cut = begin + kShown;
            while ((static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U && cut > begin)
                --cut;
            result.append(text, begin, cut - begin);
            // The end closes the word: a quote, a comma.
            std::size_t close = text.find_last_of('`', end - 1);
            if (close == std::string::npos || close + 4 < end || close <= cut) close = end - 1;
            result += "...";
            result.append(text, close, end - close);
        }
        begin = end;
    }
    return result;
}

}  // namespace

Diagnostic& Diagnostics::add(Code code, Severity severity, Span span, std::string text,
                             std::string help) {
    if (severity == Severity::error) ++errors_;
    if (!span.place.file.empty() && !said_.insert(key_of(code, span)).second) {
        dropped_ = {};
        return dropped_;
    }
    if (text.size() > 300) text = shortened(std::move(text));
    diagnostics_.push_back({code, severity, std::move(span), std::move(text), {}, {}, {}});
    Diagnostic& added = diagnostics_.back();
    added.help = std::move(help);
    for (auto context = contexts_.rbegin(); context != contexts_.rend(); ++context)
        added.chain.push_back((*context)->describe());
    return added;
}

Diagnostic& Diagnostics::error(Code code, Span span, std::string text, std::string help) {
    return add(code, Severity::error, std::move(span), std::move(text), std::move(help));
}

Diagnostic& Diagnostics::warning(Code code, Span span, std::string text, std::string help) {
    if (allowed_.contains(int(code))) {
        dropped_ = {};
        return dropped_;
    }
    return add(code, Severity::warning, std::move(span), std::move(text), std::move(help));
}

bool Diagnostics::was_said(Code code, const Span& span) const {
    return !span.place.file.empty() && said_.contains(key_of(code, span));
}

void Diagnostics::raise_warnings() {
    for (Diagnostic& one : diagnostics_) {
        if (one.severity == Severity::error) continue;
        one.severity = Severity::error;
        ++errors_;
    }
}

void Diagnostics::merge(const Diagnostics& other) {
    for (const auto& [name, text] : other.files_)
        add_file(name, text);
    std::set<std::tuple<std::string, std::string>> here;
    for (const Diagnostic& one : diagnostics_)
        here.emplace(key_of(one.code, one.span), one.text);
    for (const Diagnostic& one : other.diagnostics_) {
        if (!here.emplace(key_of(one.code, one.span), one.text).second) continue;
        said_.insert(key_of(one.code, one.span));
        diagnostics_.push_back(one);
        if (one.severity == Severity::error) ++errors_;
    }
}

void Diagnostics::add_file(const std::string& name, std::string text) {
    if (!file_text(name)) files_.emplace_back(name, std::move(text));
}

const std::string* Diagnostics::file_text(const std::string& name) const {
    for (const auto& [file, text] : files_)
        if (file == name) return &text;
    return nullptr;
}

int Diagnostics::exit_code() const {
    int result = 0;
    for (const Diagnostic& diagnostic : diagnostics_)
        if (diagnostic.severity == Severity::error)
            result = std::max(result, info(diagnostic.code).exit_code);
    return result;
}

std::string Diagnostics::render(bool color, int limit) const {
    const Paint& paint = color ? kColored : kPlain;
    const Lines lines(files_);
    std::string result;
    int errors = 0, warnings = 0;
    for (const Diagnostic* diagnostic : in_file_order(diagnostics_, files_)) {
        int& count = diagnostic->severity == Severity::error ? errors : warnings;
        if (++count <= limit || limit <= 0) result += render_one(*diagnostic, lines, paint);
    }
    const int more_errors = limit > 0 ? std::max(0, errors - limit) : 0;
    const int more_warnings = limit > 0 ? std::max(0, warnings - limit) : 0;
    if (more_errors + more_warnings > 0)
        result += fmt::format("and {}{}{}; --max-errors 0 shows all\n",
                              more_errors > 0 ? counted(more_errors, "error") : "",
                              more_errors > 0 && more_warnings > 0 ? ", " : "",
                              more_warnings > 0 ? counted(more_warnings, "warning") : "");
    return result;
}

std::string Diagnostics::render_json() const {
    const auto errors = std::count_if(diagnostics_.begin(), diagnostics_.end(),
                                      [](const auto& d) { return d.severity == Severity::error; });
    std::string result =
        fmt::format("{{\"version\":1,\"errors\":{},\"warnings\":{},\"diagnostics\":[", errors,
                    std::ptrdiff_t(diagnostics_.size()) - errors);
    bool first = true;
    for (const Diagnostic* diagnostic : in_file_order(diagnostics_, files_)) {
        result += fmt::format(
            "{}\n{{\"code\":{},\"severity\":\"{}\",{},\"text\":{},\"notes\":[{}],\"chain\":[{}],"
            "\"help\":{}}}",
            first ? "" : ",", json_text(dashed(info(diagnostic->code).name)),
            diagnostic->severity == Severity::error ? "error" : "warning",
            json_place(diagnostic->span), json_text(diagnostic->text),
            json_notes(diagnostic->notes), json_notes(diagnostic->chain),
            json_text(diagnostic->help));
        first = false;
    }
    return result + "\n]}\n";
}

}  // namespace dtnn::compiler
