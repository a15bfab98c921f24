#include "runtime/comm/mpi/collective_ledger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "runtime/comm/mpi/patience.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// How long ranks are given to say how far they are.
constexpr double kRollCallSeconds = 1.0;
/// Between two looks at whether somebody asks, in progress().
constexpr double kAnswerEvery = 0.002;

}  // namespace

CollectiveLedger::CollectiveLedger(double seconds, std::function<std::string(int)> name_of)
    : limit_(seconds), name_of_(std::move(name_of)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    active_.reserve(64);
}

Position CollectiveLedger::begin(const char* kind, const std::string& name) {
    if (std::this_thread::get_id() != thread_)
        throw RunError(Exit::internal,
                       fmt::format("{} `{}` comes from another thread than MPI's", kind, name),
                       "please report this");
    ++position_.number;
    const auto end = fmt::format_to_n(position_.what, sizeof position_.what - 1,
                                      "{} number {} `{}`", kind, position_.number, name);
    *end.out = '\0';
    return position_;
}

bool CollectiveLedger::move_on() {
    std::int64_t before = 0, after = 0;
    for (Transfer* transfer : active_) {
        before += transfer->steps();
        transfer->advance();
        after += transfer->steps();
    }
    return after != before;
}

void CollectiveLedger::progress() {
    move_on();
    const double now = MPI_Wtime();
    if (now < next_answer_) return;
    next_answer_ = now + kAnswerEvery;
    roll_.answer(position_);
}

void CollectiveLedger::wait_for(const Position& position, const std::function<bool()>& done) {
    const double start = MPI_Wtime();
    for (Patience patience; !done(); patience.rest()) {
        // Another rank may wait for one of these before it comes to what this one waits for.
        if (move_on()) patience.renew();
        // The time is looked at when the first spins have not sufficed.
        if (patience.rests() % 16 != 15) continue;
        roll_.answer(position_);
        if (limit_ > 0 && MPI_Wtime() - start > limit_) {
            call_roll(position, done);
            return;
        }
    }
}

void CollectiveLedger::wait_for(const Position& position, MPI_Request& request) {
    wait_for(position, [&request] {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
}

/// Throws, unless the operation ends while the ranks are asked.
void CollectiveLedger::call_roll(const Position& position, const std::function<bool()>& done) {
    roll_.ask();
    const double start = MPI_Wtime();
    // Others whose limit passes at the same time ask this one: it answers to the end, even when it
    // has heard from all.
    for (Patience patience; MPI_Wtime() - start < kRollCallSeconds; patience.rest()) {
        roll_.heard();
        roll_.answer(position_);
        move_on();
        if (done()) return;
    }
    failed_ = true;
    throw late(position);
}

RunError CollectiveLedger::late(const Position& position) const {
    // Who does not answer first: another one that is behind may only wait for it.
    std::vector<std::string> missing, behind;
    for (int rank = 0; rank < ranks_; ++rank) {
        const Position& other = roll_.positions()[std::size_t(rank)];
        if (rank == rank_ || other.number >= position.number) continue;
        if (other.number < 0)
            missing.push_back(name_of_(rank) + ", which does not answer");
        else
            behind.push_back(fmt::format("{}, which is at {}", name_of_(rank), other.what));
    }
    missing.insert(missing.end(), behind.begin(), behind.end());
    return {Exit::failed,
            fmt::format("rank {}: waited {:g} s in {} for {}", rank_, limit_, position.what,
                        missing.empty() ? std::string("the network: all ranks have come to it")
                                        : fmt::format("{}", fmt::join(missing, "; "))),
            "see what the missing rank's node says; parallel.timeout is the limit"};
}

}  // namespace dtnn::runtime::mpi
