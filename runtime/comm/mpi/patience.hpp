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

#include "base/quantity_text.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn::runtime::mpi {

/// The wait of a rank between two looks at what it waits for. At first there is none: the other
/// rank is adding or copying its part, and a core that is given away while another process wants it
/// comes back milliseconds later. Then the rank gives the core to whoever wants it, another rank on
/// the same core perhaps, which costs less than a microsecond when nobody does. A rank that has
/// waited long waits for a slow or dead one, and sleeps.
class Patience {
  public:
    void rest() {
        ++rests_;
        // The clock is looked at now and then: reading it costs as much as a look at a message.
        if (rests_ % 8 == 0) {
            const auto waited = Clock::now() - since_;
            way_ = waited < kSpinning ? Way::spin : waited < kYielding ? Way::yield : Way::sleep;
        }
        if (way_ == Way::yield) sched_yield();
        if (way_ == Way::sleep) {
            const timespec nap = {0, 50'000};
            nanosleep(&nap, nullptr);
        }
    }
    /// Something has come: what is missing may follow at once.
    void renew() {
        since_ = Clock::now();
        way_ = Way::spin;
    }
    int rests() const { return rests_; }

  private:
    using Clock = std::chrono::steady_clock;
    enum class Way { spin, yield, sleep };
    static constexpr std::chrono::microseconds kSpinning{100};
    static constexpr std::chrono::milliseconds kYielding{200};
    int rests_ = 0;
    Way way_ = Way::spin;
    Clock::time_point since_ = Clock::now();
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
            std::fprintf(stderr, "dtnn-run: %s waited %s %s\n", started_name().c_str(),
                         limit_text(seconds).c_str(), what.c_str());
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
