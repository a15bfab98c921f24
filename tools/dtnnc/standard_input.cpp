#include "tools/dtnnc/standard_input.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/file_limits.hpp"
#include "base/standard_input.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"
#include "plan/json/json.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

namespace {

std::optional<std::string> input_text;

std::string read_all() {
    // A spec that is one byte too long is refused by who reads specs.
    constexpr std::size_t kMostSpec = compiler::kMaximumFileBytes + 1;
    std::string text;
    const auto is_long_spec = [](const std::string& read) {
        return read.size() >= kMostSpec &&
               !plan::looks_like_plan(std::string_view(read).substr(0, 64));
    };
    const int error = read_standard_input(text, [&](const std::string& read) {
        return is_long_spec(read) || read.size() > std::size_t(kMostPlanBytes);
    });
    if (error != 0)
        throw UsageError(fmt::format("cannot read standard input: {}", std::strerror(error)));
    if (is_long_spec(text)) return text.substr(0, kMostSpec);
    if (text.size() > std::size_t(kMostPlanBytes))
        throw UsageError(fmt::format("standard input has more than {} bytes, the most of a plan",
                                     std::int64_t(kMostPlanBytes)));
    return text;
}

}  // namespace

const std::string& standard_input() {
    if (!input_text) input_text = read_all();
    return *input_text;
}

bool is_standard_input(const std::string& name) {
    return name == kStandardInput;
}

const std::string* standard_input_read() {
    return input_text ? &*input_text : nullptr;
}

void take_standard_input(const std::string* read) {
    if (read != nullptr) input_text = *read;
}

}  // namespace dtnn::tools
