// The corpus of broken specs in tests/golden/diagnostics; its README describes the format of the
// cases.

#include "compiler/support/diagnostics.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/specs.hpp"
#include "tests/rewrite_goldens.hpp"

namespace diagnostics_test {

namespace {

namespace fs = std::filesystem;
using namespace dtnn::compiler;

constexpr const char* kCorpus = "tests/golden/diagnostics";

/// Diagnostics that specs cannot provoke, and the tests that cover them.
constexpr std::array<std::string_view, 4> kTestedElsewhere = {
    "over_budget",          // tests/unit/lower: needs a plan
    "needs_all_steps",      // tests/cli/test_generate.py: likewise
    "mixes_steps",          // tests/peers/sequences/lengths_test.cpp: likewise
    "over_machine_memory",  // tests/unit/frontend: likewise
};

struct SourceFile {
    std::string name;
    std::string text;
};

struct Case {
    std::string title;
    std::string written;  ///< what stands before its answers in the corpus, for rewriting
    bool on_one_line = false;
    std::vector<SourceFile> files = {{"spec.yaml", ""}};
    std::vector<std::string> settings;
    std::string checked = "spec.yaml";
    std::string meant;  ///< the name that the first suggestion should have
    std::string expected;
};

std::string read_text(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    REQUIRE_MESSAGE(stream.good(), "cannot read " << path.string());
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

/// {{tab}}, {{byte ff}}, {{repeat 70 [}}
std::string expand(const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find("{{", at);
        const std::size_t end = begin == std::string::npos ? begin : text.find("}}", begin);
        if (end == std::string::npos) return result + text.substr(at);
        result += text.substr(at, begin - at);
        std::istringstream word(text.substr(begin + 2, end - begin - 2));
        std::string verb;
        word >> verb;
        if (verb == "tab") {
            result += '\t';
        } else if (verb == "byte") {
            int value = 0;
            word >> std::hex >> value;
            result += char(value);
        } else if (verb == "repeat") {
            int times = 0;
            std::string what;
            word >> times;
            word.get();
            std::getline(word, what);
            for (int i = 0; i < times; ++i)
                result += what;
        } else {
            FAIL("unknown placeholder " << verb);
        }
        at = end + 2;
    }
    return result;
}

/// Takes what stands before `-----`: the text of spec.yaml, and lines that begin with `-- `.
void read_source(Case& one, const std::string& source) {
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("-- file "))
            one.files.push_back({line.substr(8), ""});
        else if (line.starts_with("-- set "))
            one.settings.push_back(expand(line.substr(7)));
        else if (line.starts_with("-- meant "))
            one.meant = line.substr(9);
        else if (line.starts_with("-- check "))
            one.checked = line.substr(9);
        else
            one.files.back().text += expand(line + "\n");
    }
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

constexpr std::string_view kTitle = " :: ", kAnswer = " => ", kMeant = "  (meant ";

/// A line `title :: given  (meant name) => answers`, the title and the meaning where there are any,
/// of a section whose source has an @ where `given` stands.
Case read_line_case(const std::string& line, const std::string& section, std::string source) {
    const std::size_t answer = std::min(line.find(kAnswer), line.size());
    Case one;
    one.on_one_line = true;
    one.written = line.substr(0, answer);
    one.expected = line.substr(std::min(answer + kAnswer.size(), line.size()));
    std::string given = one.written;
    one.title = section + ": " + given;
    if (const std::size_t at = given.find(kTitle); at != std::string::npos) {
        one.title = given.substr(0, at);
        given.erase(0, at + kTitle.size());
    }
    if (const std::size_t at = given.find(kMeant); at != std::string::npos) {
        one.meant = given.substr(at + kMeant.size(), given.size() - at - kMeant.size() - 1);
        given.resize(at);
    }
    one.written += kAnswer;
    replace_all(given, "\\n", "\n");
    read_source(one, source.replace(source.find('@'), 1, given));
    return one;
}

std::vector<Case> read_cases(const fs::path& path) {
    std::vector<Case> cases;
    std::string section, source, head;
    bool of_lines = false, in_source = false;
    std::istringstream lines(read_text(path));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("== ") || line.starts_with("=== ")) {
            of_lines = line[2] == '=';
            section = line.substr(of_lines ? 4 : 3);
            head = (cases.empty() ? "" : "\n") + line + "\n";
            source.clear();
            in_source = true;
        } else if (in_source) {
            head += line + "\n";
            in_source = line != "-----";
            if (in_source) source += line + "\n";
            if (in_source || of_lines) continue;
            Case& one = cases.emplace_back();
            one.title = section;
            one.written = head;
            read_source(one, source);
        } else if (!of_lines) {
            REQUIRE_MESSAGE(!cases.empty(), path.string() << " does not begin with a case");
            cases.back().expected += line + "\n";
        } else if (!line.empty()) {
            Case& one = cases.emplace_back(read_line_case(line, section, source));
            one.written.insert(0, head);
            head.clear();
        }
    }
    // Cases are set apart by one empty line.
    for (Case& one : cases)
        while (one.expected.ends_with("\n\n"))
            one.expected.pop_back();
    return cases;
}

/// The source text that a diagnostic underlines, in the form that `expand` reads.
std::string marked_text(const Diagnostics& diagnostics, const Span& span) {
    const std::string* text = diagnostics.file_text(span.place.file);
    if (!text) return span.place.file;
    std::istringstream lines(*text);
    std::string line, marked;
    for (int i = 0; i < span.place.line; ++i)
        std::getline(lines, line);
    int column = 0;  // columns count characters, of one byte or more
    for (const char c : line) {
        if ((c & 0xC0) != 0x80) ++column;
        if (column < span.place.column || column >= span.place.column + span.width) continue;
        char escaped[12] = "";
        if (c == '\t')
            std::snprintf(escaped, sizeof escaped, "{{tab}}");
        else if (c < ' ' || c > '~')
            std::snprintf(escaped, sizeof escaped, "{{byte %02x}}", unsigned(c) & 0xFF);
        marked += escaped[0] ? std::string(escaped) : std::string(1, c);
    }
    return marked;
}

/// `marked [code] help` of each diagnostic, with the message where there is no help.
std::string briefly(const Diagnostics& diagnostics) {
    std::vector<Diagnostic> all = diagnostics.all();
    std::stable_sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::pair(a.span.place.line, a.span.place.column) <
               std::pair(b.span.place.line, b.span.place.column);
    });
    std::string text;
    for (const Diagnostic& one : all) {
        const std::string marked = marked_text(diagnostics, one.span);
        text += (marked.empty() ? "" : marked + " ") +
                (one.severity == Severity::warning ? "warning [" : "[") +
                dashed(info(one.code).name) + "] " + (one.help.empty() ? one.text : one.help) +
                "\n";
    }
    return text;
}

/// The byte at which character `count` begins.
std::size_t byte_of(const std::string& text, std::size_t count) {
    std::size_t at = 0;
    for (; at < text.size(); ++at)
        if ((text[at] & 0xC0) != 0x80 && count-- == 0) break;
    return at;
}

/// A rendered diagnostic on one line, with ` ^` and the words above the carets in place of the
/// excerpt, and without the name of the spec: `2:5: error: text [code] ^words | help: help`.
std::string compact(const std::string& rendered) {
    constexpr std::string_view kSpec = "spec.yaml:";
    constexpr std::size_t kMargin = 8;  // "    5 | "
    std::string text, excerpt;
    std::istringstream lines(rendered);
    for (std::string line; std::getline(lines, line);) {
        const bool of_excerpt = line.size() >= kMargin && line.compare(5, 3, " | ") == 0;
        if (const std::size_t at = line.find('^');
            of_excerpt && line.find_first_not_of(" |") == at) {
            const std::size_t begin = byte_of(excerpt, at - kMargin);
            const std::size_t end = byte_of(excerpt, line.size() - kMargin);
            text += " ^" + excerpt.substr(begin, end - begin);
        } else if (of_excerpt) {
            excerpt = line.substr(kMargin);
        } else {
            const bool begins = std::min(line.find(": error: "), line.find(": warning: ")) <
                                std::min(line.find("note: "), line.find("help: "));
            if (line.starts_with(kSpec)) line.erase(0, kSpec.size());
            text += (text.empty() ? "" : begins ? "\n" : " | ") + line;
        }
    }
    return text + "\n";
}

/// The corpus's words on a case: as users see them, as `compact` or, where only the help counts, as
/// `briefly` puts it.
std::string answer(const Diagnostics& diagnostics, const fs::path& corpus, bool on_one_line) {
    std::string text = diagnostics.all().empty()        ? "(no diagnostics)\n"
                       : corpus.extension() == ".brief" ? briefly(diagnostics)
                       : corpus.extension() == ".whole" ? diagnostics.render(false)
                                                        : compact(diagnostics.render(false));
    if (!on_one_line) return text;
    text.pop_back();
    replace_all(text, "\n", kAnswer);
    return text;
}

/// Makes the process work in a folder of its own, as specs are named relative to the current one.
class Workplace {
  public:
    Workplace() : home_(fs::current_path()) {
        folder_ = fs::temp_directory_path() / ("dtnn_diagnostics_" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        // The folder above is searched for specs, too.
        fs::create_directories(folder_ / "specs");
        fs::current_path(folder_ / "specs");
    }
    ~Workplace() {
        fs::current_path(home_);
        fs::remove_all(folder_);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;

    const fs::path& home() const { return home_; }

  private:
    fs::path home_, folder_;
};

Diagnostics run(const Case& one) {
    Workplace place;
    fs::copy(place.home() / kCorpus / "shared", fs::current_path(), fs::copy_options::recursive);
    for (const SourceFile& file : one.files)
        if (!(file.name == "spec.yaml" && file.text.empty())) write_text(file.name, file.text);
    if (one.title.find("empty file") != std::string::npos) write_text("spec.yaml", "");
    Diagnostics diagnostics;
    check_spec(one.checked, {{"."}, one.settings}, diagnostics);
    return diagnostics;
}

std::vector<fs::path> corpus_files() {
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(kCorpus))
        if (item.is_regular_file() && item.path().extension() != ".md")
            files.push_back(item.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// The name in the first suggestion: did you mean `name`?, or: PyTorch's `word` is `name` here
std::string first_suggestion(const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.all())
        for (const std::string_view words : {"did you mean `", "` is `"}) {
            const std::size_t at = diagnostic.help.find(words);
            if (at == std::string::npos) continue;
            const std::size_t begin = at + words.size();
            return diagnostic.help.substr(begin, diagnostic.help.find('`', begin) - begin);
        }
    return {};
}

}  // namespace

TEST_CASE("broken specs get exactly the diagnostics of the corpus") {
    const bool rewrite = dtnn::rewrites_goldens();
    std::set<std::string> seen, titles;
    std::set<std::string> fired, quiet;  // lints, by the titles of their cases
    int broken = 0, misspelt = 0, understood = 0;
    for (const fs::path& path : corpus_files()) {
        std::string rewritten;
        for (const Case& one : read_cases(path)) {
            CAPTURE(path.string());
            CAPTURE(one.title);
            CHECK_MESSAGE(titles.insert(one.title).second, "two cases have this title");
            const Diagnostics diagnostics = run(one);
            const std::string actual = answer(diagnostics, path, one.on_one_line);
            if (!rewrite) CHECK_EQ(actual, one.expected);
            rewritten += one.written + actual + (one.on_one_line ? "\n" : "");
            for (const Diagnostic& diagnostic : diagnostics.all()) {
                seen.emplace(info(diagnostic.code).name);
                // The voice of DESIGN section 8: lower case, no full stop.
                const char first = diagnostic.text.empty() ? 'X' : diagnostic.text[0];
                CHECK_MESSAGE(!(first >= 'A' && first <= 'Z'), diagnostic.text);
                // A folder may be named ".".
                const bool full_stop =
                    diagnostic.text.ends_with('.') && !diagnostic.text.ends_with(" .");
                CHECK_MESSAGE(!full_stop, diagnostic.text);
            }
            const auto has = [&](const std::string& code) {
                return std::any_of(
                    diagnostics.all().begin(), diagnostics.all().end(),
                    [&](const Diagnostic& d) { return dashed(info(d.code).name) == code; });
            };
            for (const std::string_view name : lint_names()) {
                const std::string code(name);
                if (one.title.starts_with(code + ": ")) {
                    CHECK_MESSAGE(has(code), "the case does not have the lint of its title");
                    fired.insert(code);
                } else if (one.title.starts_with("not " + code + ": ")) {
                    CHECK_MESSAGE(!has(code), "the case has the lint that its title denies");
                    quiet.insert(code);
                }
            }
            broken += diagnostics.has_errors() ? 1 : 0;
            if (one.meant.empty()) continue;
            ++misspelt;
            const std::string suggested = first_suggestion(diagnostics);
            understood += suggested == one.meant ? 1 : 0;
            if (suggested != one.meant)
                MESSAGE(one.title << ": suggested `" << suggested << "`, meant `" << one.meant
                                  << "`");
        }
        if (rewrite) write_text(path, rewritten);
    }
    MESSAGE(broken << " broken specs; of " << misspelt << " misspelt names the first suggestion is "
                   << "right for " << understood);
    CHECK_GE(broken, 250);
    CHECK_GE(misspelt, 80);
    CHECK_GE(understood * 100, misspelt * 95);
    for (const std::string_view name : lint_names()) {
        CHECK_MESSAGE(fired.contains(std::string(name)), "no case `" << name << ": ...`");
        CHECK_MESSAGE(quiet.contains(std::string(name)), "no case `not " << name << ": ...`");
    }
    for (const CodeInfo& code : all_codes()) {
        if (std::find(kTestedElsewhere.begin(), kTestedElsewhere.end(), code.name) !=
            kTestedElsewhere.end())
            continue;
        CHECK_MESSAGE(seen.contains(std::string(code.name)), "no case provokes " << code.name);
    }
}

}  // namespace diagnostics_test
