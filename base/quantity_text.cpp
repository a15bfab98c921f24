#include "base/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "base/text.hpp"

namespace dtnn {
namespace {

struct Scaled {
    double value;
    const char* unit;
    bool smallest;  ///< in the first unit
};

/// Whole seconds, cut off, of any number that a file may say; not-a-number is 0.
std::int64_t whole_seconds(double seconds) {
    constexpr double kMost = 1e15;
    return seconds > 0 ? std::int64_t(std::min(seconds, kMost)) : 0;
}

/// The value in the first unit in which it is less than `step`, or in the last.
Scaled scaled(double value, double step, std::initializer_list<const char*> units) {
    const char* const* unit = units.begin();
    while (value >= step && unit + 1 != units.end())
        value /= step, ++unit;
    return {value, *unit, unit == units.begin()};
}

}  // namespace

std::string bytes_text(double bytes, BytesForm form) {
    const bool in_tables = form == BytesForm::in_tables, enough = form == BytesForm::enough;
    Scaled size =
        scaled(bytes, 1024, {in_tables || enough ? "B" : "bytes", "KiB", "MiB", "GiB", "TiB"});
    if (enough) size.value = std::ceil(size.value * 10) / 10;
    int decimals = form == BytesForm::fine || (in_tables && size.value < 10) ? 2 : 1;
    if (size.smallest) decimals = in_tables ? 1 : 0;
    return fmt::format("{:.{}f} {}", size.value, decimals, size.unit);
}

std::pair<std::string, std::string> unlike_bytes_text(double one, double other) {
    std::pair<std::string, std::string> texts = {bytes_text(one, BytesForm::fine),
                                                 bytes_text(other, BytesForm::fine)};
    if (texts.first != texts.second) return texts;
    const auto count = [](double bytes) {
        return grouped(std::int64_t(std::llround(bytes))) + " bytes";
    };
    return {count(one), count(other)};
}

std::string flops_text(double flops) {
    const Scaled work = scaled(flops, 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
    return fmt::format("{:.{}f} {}", work.value, work.smallest ? 0 : 1, work.unit);
}

std::string seconds_text(double seconds, TimeForm form) {
    const int decimals = form == TimeForm::fine ? 3 : 1;
    if (seconds >= 1 || seconds <= 0) return fmt::format("{:.{}f} s", seconds, decimals);
    if (seconds >= 1e-3) return fmt::format("{:.{}f} ms", seconds * 1e3, decimals);
    return fmt::format("{:.{}f} us", seconds * 1e6, decimals);
}

std::string limit_text(double seconds) {
    return fmt::format("{:g} s", seconds);
}

std::string estimated_time_text(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.1f} us", 1e6 * seconds);
    if (seconds < 1) return fmt::format("{:.2f} ms", 1e3 * seconds);
    if (seconds < 120) return fmt::format("{:.2f} s", seconds);
    if (seconds < 2 * 3600) return fmt::format("{:.1f} min", seconds / 60);
    if (seconds < 2 * 86400) return fmt::format("{:.1f} h", seconds / 3600);
    return fmt::format("{:.1f} days", seconds / 86400);
}

std::string elapsed_time_text(double seconds) {
    const std::int64_t whole = whole_seconds(seconds);
    if (seconds > 0 && seconds < 0.1) return seconds_text(seconds);
    if (seconds > 0 && seconds < 1) return fmt::format("{:.2f} s", seconds);
    if (!(seconds >= 60)) return fmt::format("{:.1f} s", seconds);
    if (seconds < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string clock_text(double seconds) {
    const std::int64_t whole = whole_seconds(seconds + 0.5);
    const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
    return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace dtnn
