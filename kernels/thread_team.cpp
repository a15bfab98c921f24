#include "kernels/thread_team.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/subnormals.hpp"

namespace dtnn::kernels {
namespace {

/// About a tenth of a millisecond: longer than the pauses between the steps of a small network,
/// shorter than what another thread would notice.
constexpr int kSpins = 4000;

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Returns when `word` is no longer `value`.
void await_change(const std::atomic<int>& word, int value, int spins) {
    for (int spin = 0; spin < spins; ++spin) {
        if (word.load(std::memory_order_acquire) != value) return;
        relax();
    }
    word.wait(value, std::memory_order_acquire);
}

}  // namespace

struct ThreadTeam::Shared {
    // The words that members poll lie on cache lines of their own.
    alignas(64) std::atomic<int> round{0};       ///< goes up by one for every run
    alignas(64) std::atomic<int> unfinished{0};  ///< members other than the caller still at work
    alignas(64) void (*body)(void*, int) = nullptr;
    void* context = nullptr;
    unsigned number_mode = 0;  ///< the caller's
    bool stop = false;
    int spins = 0;
    std::vector<std::thread> threads;

    void work(int member) {
        int seen = 0;
        while (true) {
            int now = round.load(std::memory_order_acquire);
            while (now == seen) {
                await_change(round, seen, spins);
                now = round.load(std::memory_order_acquire);
            }
            seen = now;
            if (stop) return;
            set_number_mode(number_mode);
            body(context, member);
            if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished.notify_one();
        }
    }

    void end() {
        stop = true;
        round.fetch_add(1, std::memory_order_release);
        round.notify_all();
        for (std::thread& thread : threads)
            thread.join();
        threads.clear();
    }
};

ThreadTeam::ThreadTeam(int threads)
    : shared_(std::make_unique<Shared>()), size_(threads < 1 ? 1 : threads) {
    // With fewer processors than members a spinning member keeps a working one from running.
    const unsigned processors = std::thread::hardware_concurrency();
    shared_->spins = processors == 0 || int(processors) >= size_ ? kSpins : 0;
    shared_->threads.reserve(std::size_t(size_ - 1));
    try {
        for (int member = 1; member < size_; ++member) {
            shared_->threads.emplace_back(
                [shared = shared_.get(), member] { shared->work(member); });
        }
    } catch (...) {
        shared_->end();
        throw;
    }
}

ThreadTeam::~ThreadTeam() {
    shared_->end();
}

void ThreadTeam::run(void (*body)(void* context, int member), void* context) {
    if (observer_ == nullptr) return run_all(body, context);
    struct Watched {
        void (*body)(void*, int);
        void* context;
        ShareObserver* observer;
    } watched{body, context, observer_};
    run_all(
        [](void* opaque, int member) {
            const Watched& w = *static_cast<Watched*>(opaque);
            const std::int64_t begin = now();
            w.body(w.context, member);
            w.observer->share(member, begin, now());
        },
        &watched);
}

void ThreadTeam::run_all(void (*body)(void* context, int member), void* context) {
    if (size_ == 1) {
        body(context, 0);
        return;
    }
    Shared& shared = *shared_;
    shared.body = body;
    shared.context = context;
    shared.number_mode = number_mode();
    shared.unfinished.store(size_ - 1, std::memory_order_relaxed);
    shared.round.fetch_add(1, std::memory_order_release);
    shared.round.notify_all();
    body(context, 0);
    int left = shared.unfinished.load(std::memory_order_acquire);
    while (left != 0) {
        await_change(shared.unfinished, left, shared.spins);
        left = shared.unfinished.load(std::memory_order_acquire);
    }
}

}  // namespace dtnn::kernels
