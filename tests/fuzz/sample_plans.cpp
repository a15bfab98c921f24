#include "tests/fuzz/sample_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file_limits.hpp"
#include "base/utf8.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::fuzz {
namespace {

std::string first_line;  ///< up to the checksum's text

SamplePlan sample(const std::string& path) {
    const std::string text =
        runtime::read_file(path, kMostPlanBytes, "a plan", runtime::Exit::mismatch);
    const std::size_t checksum = text.find("\"xxh3:");
    first_line = text.substr(0, checksum);
    SamplePlan plan;
    plan.content = parse_json(text);
    for (const char* name : {"format", "version", "checksum"})
        plan.content.erase(name);
    plan.ranks = plan.content["target"]["ranks"].get<int>();
    // Without an edit it must be as good as before.
    plan.loaded = runtime::load_plan_text(plan_text(plan.content), path, std::max(plan.ranks, 1));
    return plan;
}

}  // namespace

const std::vector<SamplePlan>& sample_plans() {
    static const std::vector<SamplePlan> plans = [] {
        const char* folder = std::getenv("DTNN_FUZZ_PLANS");
        std::vector<std::string> paths;
        if (folder != nullptr)
            for (const auto& entry : std::filesystem::directory_iterator(folder))
                if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
        if (paths.empty()) fail("DTNN_FUZZ_PLANS names no folder of plans: run tools/fuzz");
        std::sort(paths.begin(), paths.end());
        std::vector<SamplePlan> made;
        for (const std::string& path : paths)
            made.push_back(sample(path));
        return made;
    }();
    return plans;
}

std::string plan_text(const Json& content) {
    std::string rest = write_json(content);
    // The first line has the brace.
    if (!rest.empty() && rest.front() == '{') rest.front() = ' ';
    rest += '\n';
    return fmt::format("{}\"{}\",\n{}", first_line, runtime::checksum_text(rest), rest);
}

void fail(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
}

void check_message(const runtime::RunError& error) {
    const std::string text = error.what();
    if (error.exit() == runtime::Exit::internal || text.empty()) fail("not a user's mistake");
    if (!is_utf8(error.render(false))) fail("a message that is not UTF-8");
}

}  // namespace dtnn::fuzz
