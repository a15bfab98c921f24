#pragma once
/// How ranks wait.

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn::runtime::mpi {

/// What a rank does between two looks at what it waits for. At first nothing; then it gives the
/// core to whoever wants it, another rank on the same core perhaps, which costs less than a
/// microsecond when nobody does; a rank that has waited long waits for a slow or dead one, and
/// sleeps.
class Patience {
  public:
    void rest() {
        ++rests_;
        if (rests_ < kSpins) return;
        if (rests_ == kSpins) yielding_since_ = Clock::now();
        if (rests_ % 64 == 0 && Clock::now() - yielding_since_ > kYielding) sleeping_ = true;
        if (sleeping_) {
            const timespec nap = {0, 50'000};
            nanosleep(&nap, nullptr);
        } else {
            sched_yield();
        }
    }
    int rests() const { return rests_; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr int kSpins = 100;
    static constexpr std::chrono::milliseconds kYielding{200};
    int rests_ = 0;
    bool sleeping_ = false;
    Clock::time_point yielding_since_;
};

/// Ends this process with a message when a call that cannot be given a limit takes longer. The
/// launcher ends the other ranks.
class Watchdog {
  public:
    /// `seconds` of 0: no limit. `what` goes on "waited 300 s ".
    Watchdog(double seconds, std::string what) {
        if (seconds <= 0) return;
        thread_ = std::thread([this, seconds, what = std::move(what)] {
            std::unique_lock<std::mutex> hold(lock_);
            if (changed_.wait_for(hold, std::chrono::duration<double>(seconds),
                                  [this] { return done_; }))
                return;
            std::fprintf(stderr, "dtnn-run: %s waited %g s %s\n", started_name().c_str(), seconds,
                         what.c_str());
            _exit(int(Exit::failed));
        });
    }
    ~Watchdog() {
        {
            const std::lock_guard<std::mutex> hold(lock_);
            done_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    bool done_ = false;
    std::thread thread_;
};

}  // namespace dtnn::runtime::mpi
