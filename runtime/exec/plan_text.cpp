#include "runtime/exec/plan_text.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/file_limits.hpp"
#include "base/standard_input.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

std::string plan_text(const std::string& path) {
    if (path != kStandardInput) return read_file(path, kMostPlanBytes, "a plan", Exit::mismatch);
    static const std::string read_once = [] {
        std::string text;
        const int error = read_standard_input(text, [](const std::string& read) {
            return read.size() > std::size_t(kMostPlanBytes);
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
