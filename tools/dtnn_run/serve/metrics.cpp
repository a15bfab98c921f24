#include "tools/dtnn_run/serve/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dtnn::serve {
namespace {

constexpr int kFirstFailure = 400;

void append_head(std::string& out, const char* name, const char* type, const char* help) {
    fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

}  // namespace

void Histogram::add(double value) {
    const auto place = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    ++counts_[std::size_t(place - bounds_.begin())];
    sum_ += value;
}

void Histogram::append(std::string& out, const std::string& name, const char* help) const {
    append_head(out, name.c_str(), "histogram", help);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        count += counts_[i];
        const std::string bound = i < bounds_.size() ? fmt::format("{}", bounds_[i]) : "+Inf";
        fmt::format_to(std::back_inserter(out), "{}_bucket{{le=\"{}\"}} {}\n", name, bound, count);
    }
    fmt::format_to(std::back_inserter(out), "{0}_sum {1}\n{0}_count {2}\n", name, sum_, count);
}

Metrics::Metrics()
    : seconds_({0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}),
      batches_({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {}

void Metrics::answered(Route route, Status status, double seconds) {
    const std::lock_guard lock(mutex_);
    ++answers_[{route, status}];
    if (route == Route::infer) seconds_.add(seconds);
}

void Metrics::batch(std::int64_t samples) {
    const std::lock_guard lock(mutex_);
    batches_.add(double(samples));
}

std::string Metrics::text() const {
    const std::lock_guard lock(mutex_);
    std::string out;
    const auto to = std::back_inserter(out);
    append_head(out, "dtnn_requests_total", "counter", "Requests answered, by route and status.");
    std::uint64_t failures = 0;
    for (const auto& [key, count] : answers_) {
        const auto& [route, status] = key;
        fmt::format_to(to, "dtnn_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", name_of(route),
                       int(status), count);
        if (int(status) >= kFirstFailure) failures += count;
    }
    append_head(out, "dtnn_request_failures_total", "counter",
                "Requests answered by a status of 400 or more.");
    fmt::format_to(to, "dtnn_request_failures_total {}\n", failures);
    append_head(out, "dtnn_dropped_connections_total", "counter",
                "Connections ended because the client was too slow.");
    fmt::format_to(to, "dtnn_dropped_connections_total {}\n", dropped_.load());
    append_head(out, "dtnn_connections", "gauge", "Connections that are open.");
    fmt::format_to(to, "dtnn_connections {}\n", connections_.load());
    seconds_.append(out, "dtnn_infer_seconds",
                    "Seconds from the header of a request for predictions to its answer.");
    batches_.append(out, "dtnn_batch_samples", "Samples that were computed together.");
    return out;
}

}  // namespace dtnn::serve
