#pragma once
/// This rank's collectives: every one has its number, and waiting for one moves on all that are
/// under way, answers ranks that ask, and ends at the time limit with who is missing.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/mpi/rank_inquiry.hpp"
#include "runtime/comm/mpi/transfer.hpp"

namespace dtnn::runtime::mpi {

class CollectiveLedger {
  public:
    /// All ranks make it together (RankInquiry). `name_of` is what messages call a rank. `seconds`
    /// is the time limit of a wait; 0: none.
    CollectiveLedger(double seconds, std::function<std::string(int)> name_of);

    /// This rank begins its next collective. RunError where another thread than the one that made
    /// the ledger calls it.
    Position begin(const char* kind, const std::string& name);

    /// Adds a transfer, which is moved on, the oldest first, while this rank waits for anything,
    /// until it is removed.
    void add(Transfer& transfer) { active_.push_back(&transfer); }
    void remove(Transfer& transfer) { std::erase(active_, &transfer); }

    /// Returns when `done` says so, which is asked again and again. Behind the time limit a
    /// RunError that names who is missing; the collectives of the ledger are lost then. `whom` is
    /// the rank that is waited for, or kAll.
    void wait_for(const Position& position, const std::function<bool()>& done, int whom = kAll);
    void wait_for(const Position& position, MPI_Request& request, int whom = kAll);

    /// Moves on what is under way, and now and then answers a rank that asks.
    void progress();

    double limit() const { return limit_; }
    void set_limit(double seconds) { limit_ = seconds; }
    /// Whether a wait has ended at the time limit.
    bool failed() const { return failed_; }
    /// All ranks call it, in good order: nothing may be under way.
    void close() { inquiry_.close(); }

  private:
    /// Whether some of what is under way has moved.
    bool move_on();
    void call_roll(const Position& position, const std::function<bool()>& done);
    int find_reporter(const Position& position, const std::function<bool()>& done);
    /// Listens and answers for so long; whether `enough` has said so.
    bool listen(double seconds, const std::function<bool()>& enough);
    Standing standing() const;
    void answer();
    RunError late(const Position& position) const;

    double limit_;
    std::function<std::string(int)> name_of_;
    int rank_ = 0;
    int ranks_ = 1;
    std::thread::id thread_ = std::this_thread::get_id();
    RankInquiry inquiry_;
    Position position_;  ///< the newest collective of this rank
    Begun begun_;        ///< the latest ones
    /// The exchange that this rank waits for, and since when; several, where one wait is within
    /// another.
    std::int64_t waits_in_ = 0;
    int waits_for_ = kNobody;
    double waits_since_ = 0;
    std::vector<Transfer*> active_;  ///< started and not waited for, the oldest first
    double next_answer_ = 0;
    bool failed_ = false;
};

}  // namespace dtnn::runtime::mpi
