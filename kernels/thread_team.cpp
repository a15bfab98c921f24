#include "kernels/thread_team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/architecture.hpp"

namespace dtnn::kernels {
namespace {

/// Longer than the pauses between the steps of a small network, shorter than what another thread
/// would notice.
constexpr std::int64_t kSpinNanoseconds = 200'000;
constexpr int kSpinsBetweenLooks = 32;  ///< at the clock

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Returns when `word` is no longer `value`: spins for so long, then sleeps until it is told.
void await_change(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                  std::int64_t nanoseconds) {
    if (nanoseconds > 0) {
        const std::int64_t end = now() + nanoseconds;
        do {
            for (int spin = 0; spin < kSpinsBetweenLooks; ++spin) {
                if (word.load(std::memory_order_acquire) != value) return;
                architecture::relax();
            }
        } while (now() < end);
    }
    word.wait(value, std::memory_order_acquire);
}

/// Processors that the threads of this process may run on; 0: unknown.
int usable_processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    return int(std::thread::hardware_concurrency());
}

}  // namespace

struct ThreadTeam::Shared {
    /// A run, as one word: its number, how many threads have joined it beside the caller, and
    /// whether one still may. A thread joins by adding itself while the word says that it is open,
    /// so what belongs to a run changes only when nobody reads it.
    struct Run {
        static constexpr std::uint32_t kOpen = 1, kJoined = 2, kNumber = 1u << 16, kMost = 1u << 14;
        static std::uint32_t number(std::uint32_t word) { return word / kNumber; }
        static std::uint32_t joined(std::uint32_t word) { return word % kNumber / kJoined; }
        static bool open(std::uint32_t word) { return (word & kOpen) != 0; }
    };
    /// The pieces that are a thread's own, on a cache line of their own.
    struct alignas(64) Pieces {
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
    };

    // The words that threads poll lie on cache lines of their own.
    alignas(64) std::atomic<std::uint32_t> run{0};
    alignas(64) std::atomic<std::uint32_t> finished{0};  ///< threads that joined and are done
    std::atomic<std::uint32_t> ended{0};                 ///< not 0: the team is no more
    alignas(64) void (*body)(void*, int) = nullptr;
    void* context = nullptr;
    unsigned number_mode = 0;  ///< the caller's
    std::int64_t spin = 0;     ///< nanoseconds
    std::vector<Pieces> pieces;
    std::vector<std::thread> threads;

    explicit Shared(int size) : pieces(std::size_t(size)) {}

    /// Joins the run that `word` says; false, with what it has become, where that is not open.
    bool join(std::uint32_t& word) {
        while (Run::open(word) && Run::joined(word) < Run::kMost) {
            if (run.compare_exchange_weak(word, word + Run::kJoined, std::memory_order_acq_rel))
                return true;
        }
        return false;
    }

    void work(int thread) {
        std::uint32_t seen = 0;
        while (true) {
            std::uint32_t word = run.load(std::memory_order_acquire);
            while (ended.load(std::memory_order_acquire) == 0 && Run::number(word) == seen) {
                await_change(run, word, spin);
                word = run.load(std::memory_order_acquire);
            }
            if (ended.load(std::memory_order_acquire) != 0) return;
            const bool joined = join(word);
            seen = Run::number(word);
            if (!joined) continue;
            architecture::set_number_mode(number_mode);
            body(context, thread);
            finished.fetch_add(1, std::memory_order_acq_rel);
            finished.notify_one();
        }
    }

    void end() {
        ended.store(1, std::memory_order_release);
        run.fetch_add(Run::kNumber, std::memory_order_release);
        run.notify_all();
        for (std::thread& thread : threads)
            thread.join();
        threads.clear();
    }
};

ThreadTeam::ThreadTeam(int threads) : size_(threads < 1 ? 1 : threads) {
    shared_ = std::make_unique<Shared>(size_);
    // With fewer processors than threads a spinning thread keeps a working one from running.
    const int processors = usable_processors();
    shared_->spin = processors == 0 || processors >= size_ ? kSpinNanoseconds : 0;
    shared_->threads.reserve(std::size_t(size_ - 1));
    try {
        for (int thread = 1; thread < size_; ++thread) {
            shared_->threads.emplace_back(
                [shared = shared_.get(), thread] { shared->work(thread); });
        }
    } catch (...) {
        shared_->end();
        throw;
    }
}

ThreadTeam::~ThreadTeam() {
    shared_->end();
}

bool ThreadTeam::pin(std::span<const int> processors) {
#if defined(__linux__)
    const auto system_thread = [&](int thread) {
        return thread == 0 ? pthread_self()
                           : shared_->threads[std::size_t(thread - 1)].native_handle();
    };
    // A set of the system's has room for processors below 1024; larger ones are made to measure.
    const int most = *std::max_element(processors.begin(), processors.end());
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(std::size_t(most) + 1), [](cpu_set_t* made) { CPU_FREE(made); });
    const std::size_t bytes = CPU_ALLOC_SIZE(std::size_t(most) + 1);
    cpu_set_t before;
    if (!set || pthread_getaffinity_np(pthread_self(), sizeof before, &before) != 0) return false;
    for (int thread = 0; thread < size_; ++thread) {
        CPU_ZERO_S(bytes, set.get());
        CPU_SET_S(std::size_t(processors[std::size_t(thread)]), bytes, set.get());
        if (pthread_setaffinity_np(system_thread(thread), bytes, set.get()) == 0) continue;
        for (int pinned = 0; pinned < thread; ++pinned)
            pthread_setaffinity_np(system_thread(pinned), sizeof before, &before);
        return false;
    }
    return true;
#else
    static_cast<void>(processors);
    return false;
#endif
}

std::int64_t ThreadTeam::claim(int thread) {
    for (int i = 0; i < size_; ++i) {
        const int owner = thread + i < size_ ? thread + i : thread + i - size_;
        Shared::Pieces& pieces = shared_->pieces[std::size_t(owner)];
        if (pieces.next.load(std::memory_order_relaxed) >= pieces.end) continue;
        const std::int64_t piece = pieces.next.fetch_add(1, std::memory_order_relaxed);
        if (piece < pieces.end) return piece;
    }
    return -1;
}

void ThreadTeam::start(std::int64_t pieces, void (*body)(void*, int), void* context) {
    if (observer_ == nullptr) return run_all(pieces, body, context);
    struct Watched {
        void (*body)(void*, int);
        void* context;
        ShareObserver* observer;
    } watched{body, context, observer_};
    run_all(
        pieces,
        [](void* opaque, int thread) {
            const Watched& w = *static_cast<Watched*>(opaque);
            const std::int64_t begin = now();
            w.body(w.context, thread);
            w.observer->share(thread, begin, now());
        },
        &watched);
}

void ThreadTeam::run_all(std::int64_t pieces, void (*body)(void*, int), void* context) {
    using Run = Shared::Run;
    Shared& shared = *shared_;
    for (int thread = 0; thread < size_; ++thread) {
        Shared::Pieces& own = shared.pieces[std::size_t(thread)];
        own.next.store(pieces * thread / size_, std::memory_order_relaxed);
        own.end = pieces * (thread + 1) / size_;
    }
    shared.body = body;
    shared.context = context;
    shared.number_mode = architecture::number_mode();
    shared.finished.store(0, std::memory_order_relaxed);
    const std::uint32_t last = shared.run.load(std::memory_order_relaxed);
    shared.run.store((Run::number(last) + 1) * Run::kNumber + Run::kOpen,
                     std::memory_order_release);
    shared.run.notify_all();
    body(context, 0);
    const std::uint32_t joined =
        Run::joined(shared.run.fetch_and(~Run::kOpen, std::memory_order_acq_rel));
    std::uint32_t finished = shared.finished.load(std::memory_order_acquire);
    while (finished != joined) {
        await_change(shared.finished, finished, shared.spin);
        finished = shared.finished.load(std::memory_order_acquire);
    }
}

}  // namespace dtnn::kernels
