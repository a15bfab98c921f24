#include "compiler/tuning/tuning_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

#include "base/cache_folder.hpp"
#include "base/file_limits.hpp"
#include "base/input_file.hpp"

namespace dtnn::compiler {

TuningFile usual_tuning_file() {
    if (const char* named = std::getenv("DTNN_TUNING")) return {named, true};
    const std::string folder = cache_folder();
    return {folder.empty() ? "" : folder + "/tuning.json", false};
}

FoundTuning find_tuning(const std::string& path, bool must_exist) {
    if (path.empty()) return {};
    std::string text;
    if (const ReadFault fault =
            read_input(path, kMostSmallFileBytes, "a history of tuning", text)) {
        if (fault.error == ENOENT && !must_exist) return {};
        return {std::nullopt, fmt::format("cannot read {}: {}", path, fault.reason())};
    }
    TuningReading reading = read_tuning(text);
    if (!reading.history) return {std::nullopt, fmt::format("{}: {}", path, reading.mistake)};
    return {std::move(reading.history), ""};
}

}  // namespace dtnn::compiler
