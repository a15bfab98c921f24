#include "runtime/exec/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/file_limits.hpp"
#include "base/standard_input.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"

namespace dtnn::runtime {

namespace {

/// Whether a text that begins like this may become a plan, whose bytes are those of JSON, which has
/// no control characters but the ends of lines.
bool may_be_plan(std::string_view text, std::string_view fresh) {
    constexpr std::size_t kBeginning = 64;
    if (text.size() >= kBeginning && !plan::looks_like_plan(text.substr(0, kBeginning)))
        return false;
    return std::none_of(fresh.begin(), fresh.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; });
}

}  // namespace

std::string plan_text(const std::string& path) {
    if (path != kStandardInput) return read_file(path, kMostPlanBytes, "a plan", Exit::mismatch);
    static const std::string read_once = [] {
        std::string text;
        std::size_t looked_at = 0;
        const int error = read_standard_input(text, [&](const std::string& read) {
            stop_before("reading the plan");
            const std::string_view fresh = std::string_view(read).substr(looked_at);
            looked_at = read.size();
            return read.size() > std::size_t(kMostPlanBytes) || !may_be_plan(read, fresh);
        });
        if (error != 0)
            throw RunError(Exit::mismatch,
                           fmt::format("cannot read standard input: {}", std::strerror(error)));
        if (text.size() > std::size_t(kMostPlanBytes))
            throw RunError(Exit::mismatch,
                           fmt::format("standard input has more than {} bytes, the most of a plan",
                                       kMostPlanBytes));
        return text;
    }();
    return read_once;
}

}  // namespace dtnn::runtime
