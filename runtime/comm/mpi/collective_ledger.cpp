#include "runtime/comm/mpi/collective_ledger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/quantity_text.hpp"
#include "runtime/comm/mpi/patience.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// How long ranks are given to say how far they are.
constexpr double kInquirySeconds = 1.0;
/// How long a rank waits for the one that reports to end the job.
constexpr double kReportSeconds = 6.0;
/// So many ranks are asked who is to report, one after the other, before a rank does it itself.
constexpr int kMostAsked = 4;
/// A rank that has waited for this share of the limit reports by itself.
constexpr double kNearlyLate = 0.75;
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
    begun_.add(position_);
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
    answer();
}

Standing CollectiveLedger::standing() const {
    Standing mine;
    mine.newest = position_;
    mine.waits_in = waits_in_;
    mine.waits_for = waits_for_;
    return mine;
}

void CollectiveLedger::answer() {
    const bool late =
        waits_for_ != kNobody && limit_ > 0 && MPI_Wtime() - waits_since_ > kNearlyLate * limit_;
    inquiry_.answer(standing(), begun_, late);
}

void CollectiveLedger::wait_for(const Position& position, const std::function<bool()>& done,
                                int whom) {
    const double start = MPI_Wtime();
    waits_in_ = position.number;
    waits_for_ = whom;
    waits_since_ = start;
    struct Over {
        int& waits_for;
        ~Over() { waits_for = kNobody; }
    } const over{waits_for_};
    for (Patience patience; !done(); patience.rest()) {
        // Another rank may wait for one of these before it comes to what this one waits for.
        if (move_on()) patience.renew();
        // The time is looked at when the first spins have not sufficed.
        if (patience.rests() % 16 != 15) continue;
        answer();
        if (limit_ > 0 && MPI_Wtime() - start > limit_) {
            call_roll(position, done);
            return;
        }
    }
}

void CollectiveLedger::wait_for(const Position& position, MPI_Request& request, int whom) {
    wait_for(
        position,
        [&request] {
            int done = 0;
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            return done != 0;
        },
        whom);
}

/// Others whose limit passes at the same time ask this rank: it answers to the end.
bool CollectiveLedger::listen(double seconds, const std::function<bool()>& enough) {
    const double start = MPI_Wtime();
    for (Patience patience; MPI_Wtime() - start < seconds; patience.rest()) {
        inquiry_.heard();
        answer();
        move_on();
        if (enough()) return true;
    }
    return false;
}

/// One rank reports, so that messages grow with the ranks and not with their square: that which the
/// first rank that answers names. This rank where nobody does; -1 where the operation has ended.
int CollectiveLedger::find_reporter(const Position& position, const std::function<bool()>& done) {
    for (int asked = 0; asked < std::min(rank_, kMostAsked); ++asked) {
        if (inquiry_.reporter() >= 0) break;
        bool ended = false;
        inquiry_.ask(asked, position.number, true);
        listen(kInquirySeconds, [&] {
            ended = done();
            return ended || inquiry_.standings()[std::size_t(asked)].newest.number >= 0;
        });
        if (ended) return -1;
        const Standing& answer = inquiry_.standings()[std::size_t(asked)];
        if (answer.newest.number >= 0 && answer.reporter >= 0) return answer.reporter;
    }
    if (inquiry_.reporter() < 0) inquiry_.set_reporter(rank_);
    return inquiry_.reporter();
}

/// Throws, unless the operation ends while the ranks are asked.
void CollectiveLedger::call_roll(const Position& position, const std::function<bool()>& done) {
    const int reporter = find_reporter(position, done);
    if (reporter < 0) return;
    if (reporter != rank_) {
        if (listen(kReportSeconds, done)) return;
        failed_ = true;
        throw RunError(Exit::failed,
                       fmt::format("rank {}: waited {} in {}, and {} has not ended the job", rank_,
                                   limit_text(limit_), position.what, name_of_(reporter)),
                       "see what the other ranks say; parallel.timeout is the limit");
    }
    // It may have answered before, as one of those that were asked who is to report.
    inquiry_.ask_all(position.number);
    bool ended = false;
    listen(kInquirySeconds, [&] { return ended = done(); });
    if (ended) return;
    failed_ = true;
    throw late(position);
}

RunError CollectiveLedger::late(const Position& position) const {
    const std::vector<Standing>& standings = inquiry_.standings();
    const Missing missing = find_missing(rank_, standing(), begun_.at(position.number), standings);
    std::vector<std::string> names;
    for (const int rank : missing.silent)
        names.push_back(name_of_(rank) + ", which does not answer");
    for (const int rank : missing.behind)
        names.push_back(fmt::format("{}, which is at {}", name_of_(rank),
                                    standings[std::size_t(rank)].newest.what));
    for (const int rank : missing.other)
        names.push_back(fmt::format("{}, which has come to something else: it is at {}",
                                    name_of_(rank), standings[std::size_t(rank)].newest.what));
    constexpr std::size_t kShown = 8;
    if (names.size() > kShown) {
        const std::size_t more = names.size() - kShown;
        names.resize(kShown);
        names.push_back(fmt::format("{} more", more));
    }
    return {Exit::failed,
            fmt::format("rank {}: waited {} in {} for {}", rank_, limit_text(limit_), position.what,
                        names.empty() ? std::string("the network: all ranks have come to it")
                                      : fmt::format("{}", fmt::join(names, "; "))),
            "see what the missing rank's node says; parallel.timeout is the limit"};
}

}  // namespace dtnn::runtime::mpi
