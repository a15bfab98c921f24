/// Summaries of small models against tests/golden/summaries/NAME.txt: cases of
///
///     == title
///     with form=markdown width=100 columns=name,flops depth=1 ranks=4    (all optional; ranks is
///     data parallelism)
///     the spec
///     -----
///     the summary
///
/// Compiled for the instruction set `baseline` and one thread, so that kernels and workspaces are
/// the same everywhere.
/// DTNN_REWRITE_GOLDENS=1 rewrites what stands under `-----`.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/driver/compile_job.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/summary/summary.hpp"
#include "tests/rewrite_goldens.hpp"

namespace summaries_test {

namespace {

namespace fs = std::filesystem;
using namespace dtnn;

struct Case {
    std::string title, settings, spec, expected;
};

std::vector<Case> read_cases(const fs::path& path) {
    std::ifstream file(path);
    std::vector<Case> cases;
    bool expected = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("== ")) {
            cases.push_back({line.substr(3), "", "", ""});
            expected = false;
        } else if (line == "-----") {
            expected = true;
        } else if (!cases.empty()) {
            Case& one = cases.back();
            if (!expected && one.spec.empty() && line.starts_with("with "))
                one.settings = line.substr(5);
            else
                (expected ? one.expected : one.spec) += line + "\n";
        }
    }
    // Cases are set apart by one empty line.
    for (Case& one : cases)
        while (one.expected.ends_with("\n\n"))
            one.expected.pop_back();
    return cases;
}

struct Settings {
    plan::SummaryOptions options;
    int ranks = 0;  ///< that share the training; 0: none do
};

Settings settings_of(const std::string& settings) {
    Settings result;
    plan::SummaryOptions& options = result.options;
    std::istringstream words(settings);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        REQUIRE(equals != std::string::npos);
        const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
        if (key == "width") {
            options.width = std::stoi(value);
        } else if (key == "depth") {
            options.depth = std::stoi(value);
        } else if (key == "ranks") {
            result.ranks = std::stoi(value);
        } else if (key == "columns") {
            std::istringstream names(value);
            for (std::string name; std::getline(names, name, ',');) {
                REQUIRE(plan::is_summary_column(name));
                options.columns.push_back(name);
            }
            options.chosen = options.columns;
        } else {
            REQUIRE(key == "form");
            options.form = value == "markdown" ? plan::SummaryForm::markdown
                           : value == "csv"    ? plan::SummaryForm::csv
                           : value == "json"   ? plan::SummaryForm::json
                                               : plan::SummaryForm::table;
        }
    }
    return result;
}

plan::Plan compile(const std::string& spec, int ranks) {
    const fs::path file =
        fs::temp_directory_path() / ("dtnn_summary_" + std::to_string(::getpid()) + ".yaml");
    std::ofstream(file) << spec;
    compiler::Diagnostics diagnostics;
    compiler::JobSpec job = compiler::load_job(file.string(), {}, diagnostics);
    fs::remove(file);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    job.parallel.parallel.data = ranks > 0;
    job.ranks = std::max(ranks, 1);
    const auto plan = compiler::compile_job(job, {.isa = "baseline", .threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

}  // namespace

TEST_CASE("summaries are those of their golden files") {
    const bool rewrite = dtnn::rewrites_goldens();
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator("tests/golden/summaries"))
        if (item.path().extension() == ".txt") files.push_back(item.path());
    std::sort(files.begin(), files.end());
    int count = 0;
    for (const fs::path& path : files) {
        std::string rewritten;
        for (const Case& one : read_cases(path)) {
            CAPTURE(path.string());
            CAPTURE(one.title);
            const Settings settings = settings_of(one.settings);
            std::string actual = plan::summary(compile(one.spec, settings.ranks), settings.options);
            if (!rewrite) CHECK_EQ(actual, one.expected);
            rewritten += (rewritten.empty() ? "== " : "\n== ") + one.title + "\n";
            if (!one.settings.empty()) rewritten += "with " + one.settings + "\n";
            rewritten += one.spec + "-----\n" + actual;
            ++count;
        }
        if (rewrite) std::ofstream(path) << rewritten;
    }
    CHECK_GE(count, 9);
}

}  // namespace summaries_test
