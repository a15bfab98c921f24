#include "compiler/support/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace dtnn::compiler {
namespace {

constexpr std::array kCodes = {
#define DTNN_DIAGNOSTIC(name, exit_code, meaning, example, mend) \
    CodeInfo{#name, exit_code, meaning, example, mend},
#include "compiler/support/diagnostics.def"
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

/// Where the lines of a file begin, found once: there may be thousands of diagnostics.
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

/// The characters (UTF-8 sequences) of the given line, counted from one; control characters are
/// made harmless.
std::vector<std::string> characters_of_line(const FileLines& file, int line) {
    if (static_cast<std::size_t>(line) > file.starts.size()) return {};
    const std::string& text = *file.text;
    const std::size_t begin = file.starts[static_cast<std::size_t>(line - 1)];
    std::vector<std::string> characters;
    for (std::size_t i = begin; i < text.size() && text[i] != '\n'; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0U) == 0x80U && !characters.empty())
            characters.back() += text[i];
        else if (byte == '\r')
            continue;
        else if (byte < 0x20 || byte == 0x7F)
            characters.emplace_back(byte == '\t' ? " " : "?");
        else
            characters.emplace_back(1, text[i]);
    }
    return characters;
}

std::string join(const std::vector<std::string>& characters, std::size_t begin, std::size_t end) {
    std::string result;
    for (std::size_t i = begin; i < end; ++i)
        result += characters[i];
    return result;
}

std::string excerpt(const FileLines* file, const Span& span, const Paint& paint) {
    if (!file || span.place.line < 1 || span.place.column < 1) return {};
    const std::vector<std::string> line = characters_of_line(*file, span.place.line);
    const int length = static_cast<int>(line.size());
    const int column = std::min(span.place.column - 1, length);
    int begin = 0;
    if (length > kExcerptWidth)
        begin = std::clamp(column - kExcerptWidth / 3, 0, length - kExcerptWidth);
    const int end = std::min(length, begin + kExcerptWidth);
    const std::string head = begin > 0 ? "..." : "";
    const std::string tail = end < length ? "..." : "";
    const int width = std::max(1, std::min(span.width, end - column));
    const auto indent = static_cast<std::size_t>(column - begin) + head.size();
    return fmt::format("{:5} | {}{}{}\n      | {}{}^{}{}\n", span.place.line, head,
                       join(line, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)),
                       tail, std::string(indent, ' '), paint.caret,
                       std::string(static_cast<std::size_t>(width - 1), '~'), paint.reset);
}

/// `file:line:column: `; a setting of the command line is its own text and needs no numbers.
std::string location(const Place& place) {
    if (place.file.empty()) return "dtnnc: ";
    if (place.file.starts_with("--") || place.line < 1) return place.file + ": ";
    return fmt::format("{}:{}:{}: ", place.file, place.line, place.column);
}

std::string json_text(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result += fmt::format("\\{}", c);
        else if (c == '\n')
            result += "\\n";
        else if (byte < 0x20)
            result += fmt::format("\\u{:04x}", byte);
        else
            result += c;
    }
    return result + "\"";
}

std::string json_place(const Span& span) {
    return fmt::format("\"file\":{},\"line\":{},\"column\":{},\"width\":{}",
                       json_text(span.place.file), span.place.line, span.place.column, span.width);
}

std::vector<const Diagnostic*> in_file_order(
    const std::vector<Diagnostic>& diagnostics,
    const std::vector<std::pair<std::string, std::string>>& files) {
    const auto rank = [&](const Diagnostic* diagnostic) {
        const Place& place = diagnostic->span.place;
        std::size_t file = 0;
        while (file < files.size() && files[file].first != place.file)
            ++file;
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

}  // namespace

const CodeInfo& info(Code code) {
    return kCodes[static_cast<std::size_t>(code)];
}

std::vector<CodeInfo> all_codes() {
    return {kCodes.begin(), kCodes.end()};
}

std::string dashed(std::string_view name) {
    std::string result(name);
    std::replace(result.begin(), result.end(), '_', '-');
    return result;
}

Diagnostic& Diagnostics::error(Code code, Span span, std::string text) {
    ++errors_;
    diagnostics_.push_back({code, Severity::error, std::move(span), std::move(text), {}, {}});
    return diagnostics_.back();
}

Diagnostic& Diagnostics::warning(Code code, Span span, std::string text) {
    diagnostics_.push_back({code, Severity::warning, std::move(span), std::move(text), {}, {}});
    return diagnostics_.back();
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

std::string Diagnostics::render(bool color) const {
    const Paint& paint = color ? kColored : kPlain;
    const Lines lines(files_);
    std::string result;
    for (const Diagnostic* diagnostic : in_file_order(diagnostics_, files_)) {
        const bool error = diagnostic->severity == Severity::error;
        result +=
            fmt::format("{}{}{}{}{}:{}{} {}{} [{}]\n", paint.bold, location(diagnostic->span.place),
                        paint.reset, error ? paint.error : paint.warning,
                        error ? "error" : "warning", paint.reset, paint.bold, diagnostic->text,
                        paint.reset, dashed(info(diagnostic->code).name));
        result += excerpt(lines.find(diagnostic->span.place.file), diagnostic->span, paint);
        for (const Note& note : diagnostic->notes) {
            result += fmt::format("{}{}{}{}note:{} {}\n", paint.bold,
                                  note.span.place.file.empty() ? "" : location(note.span.place),
                                  paint.reset, paint.note, paint.reset, note.text);
            result += excerpt(lines.find(note.span.place.file), note.span, paint);
        }
        if (!diagnostic->help.empty())
            result += fmt::format("{}help:{} {}\n", paint.help, paint.reset, diagnostic->help);
    }
    return result;
}

std::string Diagnostics::render_json() const {
    std::string result = "{\"version\":1,\"diagnostics\":[";
    bool first = true;
    for (const Diagnostic* diagnostic : in_file_order(diagnostics_, files_)) {
        std::string notes;
        for (const Note& note : diagnostic->notes)
            notes += fmt::format("{}{{{},\"text\":{}}}", notes.empty() ? "" : ",",
                                 json_place(note.span), json_text(note.text));
        result += fmt::format(
            "{}\n{{\"code\":{},\"severity\":\"{}\",{},\"text\":{},\"notes\":[{}],\"help\":{}}}",
            first ? "" : ",", json_text(dashed(info(diagnostic->code).name)),
            diagnostic->severity == Severity::error ? "error" : "warning",
            json_place(diagnostic->span), json_text(diagnostic->text), notes,
            json_text(diagnostic->help));
        first = false;
    }
    return result + "\n]}\n";
}

}  // namespace dtnn::compiler
