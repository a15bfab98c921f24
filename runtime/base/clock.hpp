#pragma once
/// Time as a run measures it: monotonic, in seconds.

#include <chrono>
#include <string>

namespace dtnn::runtime {

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    void restart() { start_ = std::chrono::steady_clock::now(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds since the program was loaded: what a user waits for.
double seconds_since_start();

/// The wall clock: "20261120-234501" (local time, for folder names) and "2026-11-20T23:45:01Z" (for
/// files).
std::string local_time_stamp();
std::string utc_time_stamp();

}  // namespace dtnn::runtime
