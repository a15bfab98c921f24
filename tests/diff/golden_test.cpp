// Pairs of specs in tests/golden/diffs and what their comparison says; the README there describes
// the cases.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "plan/diff/diff.hpp"
#include "tests/diff/compile_job.hpp"
#include "tests/rewrite_goldens.hpp"

namespace golden_test {

using namespace dtnn;
namespace fs = std::filesystem;

namespace {

constexpr const char* kCorpus = "tests/golden/diffs";

struct Case {
    std::string title;
    std::string input;  ///< as written, for rewriting
    std::map<std::string, std::string> files;
    std::string file;                                 ///< the one whose text is read
    std::vector<std::string> settings_a, settings_b;  ///< as --set gives them
    std::string expected;
};

struct Corpus {
    std::string preamble;  ///< files that all cases have
    std::vector<Case> cases;
};

/// Gives a file, which begins as a.yaml where there is none, another value of a field.
void set_field(Case& one, const std::string& file, const std::string& line) {
    if (!one.files.contains(file)) one.files[file] = one.files["a.yaml"];
    const std::string field = line.substr(0, line.find(':') + 1);
    std::string text;
    std::istringstream lines(one.files[file]);
    bool of_field = false;
    for (std::string old; std::getline(lines, old);) {
        of_field = old.starts_with(field) || (of_field && old.starts_with(' '));
        if (!of_field) text += old + "\n";
    }
    one.files[file] = text + line + "\n";
}

void read_line(const std::string& line, Case& one) {
    if (line.starts_with("-- file "))
        one.files[one.file = line.substr(8)].clear();
    else if (line.starts_with("-- in "))
        set_field(one, line.substr(6, line.find(' ', 6) - 6), line.substr(line.find(' ', 6) + 1));
    else if (line.starts_with("-- set a.yaml "))
        one.settings_a.push_back(line.substr(14));
    else if (line.starts_with("-- set b.yaml "))
        one.settings_b.push_back(line.substr(14));
    else
        one.files[one.file] += line + "\n";
}

/// The files that all cases of all corpora begin with.
Case shared_files() {
    std::ifstream lines(fs::path(kCorpus) / "shared.specs");
    REQUIRE(lines.good());
    Case shared;
    for (std::string line; std::getline(lines, line);)
        read_line(line, shared);
    return shared;
}

Corpus read_cases(const fs::path& path) {
    std::ifstream lines(path, std::ios::binary);
    Corpus corpus;
    Case shared = shared_files();
    bool in_expected = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("== ")) {
            corpus.cases.push_back(shared);
            corpus.cases.back().title = line.substr(3);
            in_expected = false;
        } else if (corpus.cases.empty()) {
            corpus.preamble += line + "\n";
            read_line(line, shared);
        } else if (in_expected) {
            corpus.cases.back().expected += line + "\n";
        } else if (line == "-----") {
            in_expected = true;
        } else {
            corpus.cases.back().input += line + "\n";
            read_line(line, corpus.cases.back());
        }
    }
    for (Case& one : corpus.cases)
        while (one.expected.ends_with("\n\n"))
            one.expected.pop_back();
    return corpus;
}

std::string run(Case one) {
    SpecFolder folder("dtnn_diff_golden");
    one.files.emplace("b.yaml", one.files["a.yaml"]);
    for (const auto& [file, text] : one.files)
        SpecFolder::write(file, text);
    std::string error;
    auto a = compile_job("a.yaml", error, one.settings_a);
    REQUIRE_MESSAGE(a, one.title << "\n" << error);
    auto b = compile_job("b.yaml", error, one.settings_b, &*a);
    REQUIRE_MESSAGE(b, one.title << "\n" << error);
    // As the command does it: for the machine that only one of them names.
    if (a->machine.name.empty() && !b->machine.name.empty())
        a = compile_job("a.yaml", error, one.settings_a, &*b);
    REQUIRE_MESSAGE(a, one.title << "\n" << error);
    CHECK(plan::diff(*a, *a).empty());
    std::vector<plan::Change> changes = plan::diff(*a, *b);
    auto json = nlohmann::json::parse(plan::diff_json(changes));
    CHECK(json["chosen"].size() + json["consequences"].size() == changes.size());
    // Back again the same facts were chosen.
    auto chosen = [](const std::vector<plan::Change>& all) {
        return std::count_if(all.begin(), all.end(), [](const auto& c) { return c.chosen; });
    };
    CHECK(chosen(plan::diff(*b, *a)) == chosen(changes));
    return plan::diff_text(changes, "a.yaml", "b.yaml");
}

}  // namespace

TEST_CASE("comparisons say exactly what the corpus says") {
    const bool rewrite = dtnn::rewrites_goldens();
    std::set<std::string> titles;
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(kCorpus))
        if (item.path().extension() == ".txt") files.push_back(item.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
        const Corpus corpus = read_cases(path);
        std::string rewritten = corpus.preamble;
        for (const Case& one : corpus.cases) {
            CAPTURE(one.title);
            CHECK_MESSAGE(titles.insert(one.title).second, "two cases have this title");
            std::string actual = run(one);
            if (!rewrite) CHECK_EQ(actual, one.expected);
            rewritten += (&one == &corpus.cases.front() ? "== " : "\n== ") + one.title + "\n" +
                         one.input + "-----\n" + actual;
        }
        if (rewrite) std::ofstream(path, std::ios::binary) << rewritten;
    }
    CHECK(titles.size() >= 60);
}

}  // namespace golden_test
