#include "tools/dtnn_run/sample_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "runtime/base/regular_file.hpp"

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
    const runtime::RegularFile file(file_.path());
    constexpr std::int64_t kPiece = 1 << 20;
    std::int64_t bytes = 0;
    std::string text;
    for (std::int64_t at = 0; at < file.size(); at += kPiece) {
        const std::size_t have = text.size(),
                          more = std::size_t(std::min(kPiece, file.size() - at));
        text.resize(have + more);
        file.read(at, std::span<char>(text).subspan(have));
        std::size_t begin = 0;
        for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos;
             begin = end + 1) {
            const std::optional<std::int64_t> its =
                step_of(std::string_view(text).substr(begin, end - begin));
            if (!its || *its > step) return file_.cut(bytes);
            bytes += std::int64_t(end - begin) + 1;
        }
        text.erase(0, begin);
        // No line of ours is as long.
        if (text.size() > std::size_t(64 * kPiece)) break;
    }
    // The last line of a killed run may not be whole.
    file_.cut(bytes);
}

void SampleLog::add(const runtime::BatchSamples& batch) {
    file_.put_back();
    file_.add(fmt::format("{{\"epoch\": {}, \"step\": {}, \"rank\": {}, \"samples\": [{}]}}",
                          batch.epoch, batch.step, rank_, fmt::join(batch.samples, ", ")));
}

}  // namespace dtnn
