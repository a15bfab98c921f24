#include "tools/dtnn_run/sample_log.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace dtnn {
namespace {

/// The step of a line that this program has written; nothing for any other line.
std::optional<std::int64_t> step_of(std::string_view line) {
    constexpr std::string_view kKey = "\"step\": ";
    const std::size_t place = line.find(kKey);
    if (place == std::string_view::npos) return std::nullopt;
    std::int64_t step = 0;
    const char* const end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + place + kKey.size(), end, step);
    if (error != std::errc() || stop == end) return std::nullopt;
    return step;
}

}  // namespace

SampleLog::SampleLog(const std::string& path, int rank, int ranks, bool goes_on)
    : rank_(rank),
      file_(ranks == 1 ? path : fmt::format("{}.{}", path, rank),
            goes_on ? runtime::LineFile::Begin::as_it_is : runtime::LineFile::Begin::empty) {}

void SampleLog::cut_after(std::int64_t step) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file_.path(), ignored)) return;  // a device has no end
    std::ifstream file(file_.path());
    std::int64_t bytes = 0;
    for (std::string line; std::getline(file, line);) {
        // The last line of a killed run may not be whole.
        const std::optional<std::int64_t> its = step_of(line);
        if (!its || *its > step) break;
        bytes += std::int64_t(line.size()) + 1;
    }
    file_.cut(bytes);
}

void SampleLog::add(const runtime::BatchSamples& batch) {
    file_.add(fmt::format("{{\"epoch\": {}, \"step\": {}, \"rank\": {}, \"samples\": [{}]}}",
                          batch.epoch, batch.step, rank_, fmt::join(batch.samples, ", ")));
}

}  // namespace dtnn
