#include "runtime/base/clock.hpp"

#include <ctime>

namespace dtnn::runtime {
namespace {

// Begun when the program's statics are initialised, before main.
const Stopwatch since_start;

std::string stamp(const char* format, bool utc) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    if (utc) {
        gmtime_r(&now, &parts);
    } else {
        localtime_r(&now, &parts);
    }
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

}  // namespace

double seconds_since_start() {
    return since_start.seconds();
}

std::string local_time_stamp() {
    return stamp("%Y%m%d-%H%M%S", false);
}

std::string utc_time_stamp() {
    return stamp("%Y-%m-%dT%H:%M:%SZ", true);
}

}  // namespace dtnn::runtime
