#pragma once
/// A fixed team of threads that computes one thing after the other together. What is to be computed
/// is cut into pieces beforehand, by sizes alone; who computes which piece is found out while it
/// runs: every thread has pieces of its own, the same ones of equal loops, so that what it has
/// written is still in its caches, and takes those of others when it has none left. A thread that
/// has no processor at the moment is not waited for unless it holds a piece. Results are therefore
/// functions of the pieces, never of threads.
///
/// Threads spin for a while before they sleep, because a step of a small network is shorter than a
/// scheduler tick.

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace dtnn::kernels {

/// Told of every thread's part of every run, on that thread; not of threads that had none. Times
/// are nanoseconds of the steady clock.
class ShareObserver {
  public:
    virtual ~ShareObserver() = default;
    virtual void share(int thread, std::int64_t begin, std::int64_t end) = 0;
};

class ThreadTeam {
  public:
    explicit ThreadTeam(int threads);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    int size() const { return size_; }

    /// Keeps thread i, of which 0 is the caller, on processor processors[i], as the system numbers
    /// them; there are size() of them. False where the system refuses one: then none is kept.
    bool pin(std::span<const int> processors);

    /// Tells of shares from now on; null: no longer. Between runs only.
    void observe(ShareObserver* observer) { observer_ = observer; }

    /// Runs `body(member)` once for every member from 0 to size()-1 and returns when all are done;
    /// two members may run on the same thread, one after the other. For sums that need much beside
    /// their places: member is a place among size() places, which nobody else uses. Everything runs
    /// in the caller's mode (subnormals.hpp). No allocation.
    template <class Body>
    void run(Body&& body) {
        for_each(size_, [&](std::int64_t member, int) { body(int(member)); });
    }

    /// Splits [0, count) into size() contiguous ranges, each a multiple of `grain` but the last,
    /// and runs `body(begin, end, member)` on each that is not empty: as `run`, for sums. Runs
    /// inline when one member is enough.
    template <class Body>
    void for_ranges(std::int64_t count, std::int64_t grain, Body&& body) {
        const std::int64_t units = (count + grain - 1) / grain;
        if (units <= 1 || size_ == 1) {
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

    /// Splits [0, count) into more pieces than there are threads, each a multiple of `grain` but
    /// the last, and runs `body(begin, end, thread)` on each, on the thread that is free for it:
    /// for results that depend on no other piece. `thread`, below size(), is the place of what a
    /// thread has for itself while it computes, and must not change the result.
    template <class Body>
    void for_pieces(std::int64_t count, std::int64_t grain, Body&& body) {
        for_sums(count, grain, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
            body(begin, end, thread);
        });
    }

    /// The same for sums: `body(begin, end, piece, thread)` adds to the place of its piece, which
    /// nobody else uses. There are pieces(count, grain) places, at most most_pieces(size()).
    template <class Body>
    void for_sums(std::int64_t count, std::int64_t grain, Body&& body) {
        const std::int64_t units = (count + grain - 1) / grain, all = pieces(count, grain);
        if (all == 0) return;
        for_each(all, [&](std::int64_t piece, int thread) {
            const std::int64_t limit = begin_of_piece(piece + 1, all, units) * grain;
            body(begin_of_piece(piece, all, units) * grain, limit < count ? limit : count, piece,
                 thread);
        });
    }

    /// for_ranges where `summed`: where the body adds to what is the member's; else for_pieces.
    template <class Body>
    void divide(std::int64_t count, std::int64_t grain, bool summed, Body&& body) {
        summed ? for_ranges(count, grain, body) : for_pieces(count, grain, body);
    }

    /// The pieces of [0, count) in for_pieces and for_sums.
    std::int64_t pieces(std::int64_t count, std::int64_t grain) const {
        const std::int64_t units = (count + grain - 1) / grain, most = most_pieces(size_);
        return units < most ? units : most;
    }

    /// The beginning of piece `piece` of `pieces` of `units` things; `units` for the one behind the
    /// last. Where every thread has several pieces of many things, each of its own is smaller than
    /// the one before, so that in the end all threads have little left to wait for: with n pieces
    /// the shares are 2n-1, 2n-3, ..., 1 of n^2.
    std::int64_t begin_of_piece(std::int64_t piece, std::int64_t pieces, std::int64_t units) const {
        const std::int64_t each = pieces / size_;
        if (pieces % size_ != 0 || units * 2 < pieces * each) return units * piece / pieces;
        const std::int64_t thread = piece / each, left = each - piece % each;
        const std::int64_t begin = units * thread / size_, end = units * (thread + 1) / size_;
        return begin + (end - begin) * (each * each - left * left) / (each * each);
    }

    /// Runs `body(piece, thread)` for every piece of [0, pieces), as for_pieces.
    template <class Body>
    void for_each(std::int64_t pieces, Body&& body) {
        if (size_ == 1 || pieces == 1) {
            for (std::int64_t piece = 0; piece < pieces; ++piece)
                body(piece, 0);
            return;
        }
        struct Call {
            ThreadTeam* team;
            std::remove_reference_t<Body>* body;
        } call{this, &body};
        start(
            pieces,
            [](void* context, int thread) {
                const Call& at = *static_cast<Call*>(context);
                for (std::int64_t piece = at.team->claim(thread); piece >= 0;
                     piece = at.team->claim(thread))
                    (*at.body)(piece, thread);
            },
            &call);
    }

    /// Pieces of every thread: with eight, a thread that loses its processor holds up the others
    /// for a sixteenth of the work of two.
    static constexpr int kPieces = 8;
    static constexpr std::int64_t most_pieces(int threads) {
        return threads > 1 ? std::int64_t{threads} * kPieces : 1;
    }

  private:
    struct Shared;

    /// Calls `body(context, thread)` on every thread that comes while there are pieces left, and
    /// returns when there are none and all who came are done.
    void start(std::int64_t pieces, void (*body)(void*, int), void* context);
    void run_all(std::int64_t pieces, void (*body)(void*, int), void* context);
    /// The next piece for a thread; -1 when all are taken.
    std::int64_t claim(int thread);

    std::unique_ptr<Shared> shared_;
    int size_;
    ShareObserver* observer_ = nullptr;
};

}  // namespace dtnn::kernels
