#pragma once
/// A fixed team of threads that runs one function on every member and waits for all. Members spin
/// for a while before they sleep, because a step of a small network is shorter than a scheduler
/// tick.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace dtnn::kernels {

/// Told of every member's share of every run, on the member's thread. Times are nanoseconds of the
/// steady clock.
class ShareObserver {
  public:
    virtual ~ShareObserver() = default;
    virtual void share(int member, std::int64_t begin, std::int64_t end) = 0;
};

class ThreadTeam {
  public:
    explicit ThreadTeam(int threads);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    int size() const { return size_; }

    /// Tells of shares from now on; null: no longer. Between runs only.
    void observe(ShareObserver* observer) { observer_ = observer; }

    /// Runs `body(context, member)` for member 0 (the caller) .. size()-1 and returns when all
    /// have. Every member computes in the caller's mode (subnormals.hpp). No allocation.
    void run(void (*body)(void* context, int member), void* context);

    /// The same for a callable `body(int member)`.
    template <class Body>
    void run(Body&& body) {
        run([](void* context,
               int member) { (*static_cast<std::remove_reference_t<Body>*>(context))(member); },
            &body);
    }

    /// Splits [0, count) into size() contiguous ranges, each a multiple of `grain` but the last,
    /// and runs `body(begin, end, member)` on each that is not empty. Runs inline when one member
    /// is enough.
    template <class Body>
    void for_ranges(std::int64_t count, std::int64_t grain, Body&& body) {
        const std::int64_t units = (count + grain - 1) / grain;
        const std::int64_t members = units < size_ ? units : size_;
        if (members <= 1) {
            if (count > 0) body(std::int64_t{0}, count, 0);
            return;
        }
        run([&](int member) {
            const std::int64_t begin = units * member / size_ * grain;
            const std::int64_t limit = units * (member + 1) / size_ * grain;
            const std::int64_t end = limit < count ? limit : count;
            if (begin < end) body(begin, end, member);
        });
    }

  private:
    struct Shared;
    void run_all(void (*body)(void* context, int member), void* context);

    std::unique_ptr<Shared> shared_;
    int size_;
    ShareObserver* observer_ = nullptr;
};

}  // namespace dtnn::kernels
