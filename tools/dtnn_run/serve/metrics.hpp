#pragma once
/// What has been served, in the text format of Prometheus
/// (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4).

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/dtnn_run/serve/http.hpp"
#include "tools/dtnn_run/serve/route.hpp"

namespace dtnn::serve {

/// How many values are at most so large.
class Histogram {
  public:
    /// The bounds grow; beyond the last is infinity.
    explicit Histogram(std::vector<double> bounds)
        : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
    void add(double value);
    void append(std::string& out, const std::string& name, const char* help) const;

  private:
    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_;  ///< of each interval
    double sum_ = 0;
};

/// Told by any thread.
class Metrics {
  public:
    Metrics();

    /// `seconds` from the end of the request's header until its answer is ready.
    void answered(Route route, Status status, double seconds);
    void batch(std::int64_t samples);
    /// A connection was ended because the client was too slow.
    void dropped() { ++dropped_; }
    /// Of one more connection, or (-1) one less.
    void connection(int change) { connections_ += change; }
    std::int64_t connections() const { return connections_; }

    std::string text() const;

  private:
    mutable std::mutex mutex_;
    std::map<std::pair<Route, Status>, std::uint64_t> answers_;  ///< by route and status
    Histogram seconds_;                                          ///< of requests for predictions
    Histogram batches_;
    std::atomic<std::uint64_t> dropped_ = 0;
    std::atomic<std::int64_t> connections_ = 0;
};

}  // namespace dtnn::serve
