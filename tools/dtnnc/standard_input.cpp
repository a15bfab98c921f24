#include "tools/dtnnc/standard_input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/file_limits.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"
#include "plan/json/json.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

namespace {

std::optional<std::string> input_text;

std::string read_all() {
    constexpr std::size_t kPiece = 1U << 16;
    // A spec that is one byte too long is refused by who reads specs.
    constexpr std::size_t kMostSpec = compiler::kMaximumFileBytes + 1;
    std::string text;
    while (true) {
        const std::size_t size = text.size();
        if (size >= kMostSpec && !plan::looks_like_plan(std::string_view(text).substr(0, 64)))
            return text.substr(0, kMostSpec);
        if (size > std::size_t(kMostPlanBytes))
            throw UsageError(
                fmt::format("standard input has more than {} bytes, the most of a plan",
                            std::int64_t(kMostPlanBytes)));
        text.resize(size + kPiece);
        ssize_t count = 0;
        do {
            count = ::read(STDIN_FILENO, text.data() + size, kPiece);
        } while (count < 0 && errno == EINTR);
        if (count < 0)
            throw UsageError(fmt::format("cannot read standard input: {}", std::strerror(errno)));
        text.resize(size + std::size_t(count));
        if (count == 0) return text;
    }
}

}  // namespace

const std::string& standard_input() {
    if (!input_text) input_text = read_all();
    return *input_text;
}

bool is_standard_input(const std::string& name) {
    return name == compiler::kStandardInput;
}

bool standard_input_was_read() {
    return input_text.has_value();
}

}  // namespace dtnn::tools
