#include "runtime/comm/mpi/mpi_communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "plan/rules/wire.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/mpi/handlers.hpp"
#include "runtime/comm/mpi/patience.hpp"
#include "runtime/comm/mpi/ring.hpp"
#include "runtime/comm/mpi/roll_call.hpp"
#include "runtime/comm/mpi/wire_sum.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// MPI counts in int. A piece is as much of a reduction or gather as one call takes.
constexpr std::int64_t kPieceElements = std::int64_t(1) << 28;
constexpr std::int64_t kPieceBytes = std::int64_t(1) << 30;
/// How long ranks are given to say how far they are.
constexpr double kRollCallSeconds = 1.0;
/// Between two looks at whether somebody asks, in progress().
constexpr double kAnswerEvery = 0.002;

MPI_Datatype type_of(plan::DType dtype, const std::string& name) {
    if (dtype == plan::DType::f32) return MPI_FLOAT;
    if (dtype == plan::DType::f64) return MPI_DOUBLE;
    if (dtype == plan::DType::i64) return MPI_INT64_T;
    throw RunError(Exit::internal, "all_reduce `" + name + "` is of a type that ranks do not add",
                   "please report this");
}

/// A rank as its messages call it.
struct Identity {
    char host[72] = {};
    std::int64_t process = 0;
};

class MpiCommunicator;

class MpiExchange final : public Exchange {
  public:
    /// `elements` of all, or of a part.
    MpiExchange(MpiCommunicator& owner, RingKind kind, void* data, std::int64_t elements,
                plan::DType dtype, Reduction reduction, const std::string& name);
    /// Numbers that travel in fewer bytes.
    MpiExchange(MpiCommunicator& owner, std::unique_ptr<WireSum> sum, const std::string& name)
        : owner_(owner), name_(name), sum_(std::move(sum)) {}
    ~MpiExchange() override;
    MpiExchange(const MpiExchange&) = delete;
    MpiExchange& operator=(const MpiExchange&) = delete;
    void start() override;
    void wait() override;

    bool done();
    /// Steps of its ring or sum, if it is one, that have ended.
    std::int64_t steps() const { return ring_ ? ring_->steps() : sum_ ? sum_->steps() : 0; }

  private:
    bool parts() const { return kind_ != RingKind::all_reduce; }
    void start_parts();

    MpiCommunicator& owner_;
    RingKind kind_ = RingKind::all_reduce;
    char* data_ = nullptr;
    std::int64_t elements_ = 0;
    std::int64_t element_bytes_ = 4;
    MPI_Datatype type_ = MPI_FLOAT;
    MPI_Op op_ = MPI_SUM;
    std::string name_;
    std::vector<MPI_Request> requests_;  ///< a piece each; none where it is a ring
    std::optional<Ring> ring_;
    std::unique_ptr<WireSum> sum_;
    Position position_;
    bool under_way_ = false;
};

class MpiCommunicator final : public Communicator {
  public:
    MpiCommunicator(double seconds, void (*parted)());
    ~MpiCommunicator() override;
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;

    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }
    std::string name_of(int rank) const override;
    std::unique_ptr<Exchange> all_reduce(void* data, std::int64_t elements, plan::DType dtype,
                                         Reduction reduction, const std::string& name) override {
        return std::make_unique<MpiExchange>(*this, RingKind::all_reduce, data, elements, dtype,
                                             reduction, name);
    }
    std::unique_ptr<Exchange> all_reduce_as(const WireForm& form, float* data,
                                            std::int64_t elements,
                                            const std::string& name) override;
    std::unique_ptr<Exchange> reduce_scatter(void* data, std::int64_t part, plan::DType dtype,
                                             const std::string& name) override {
        return std::make_unique<MpiExchange>(*this, RingKind::reduce_scatter, data, part, dtype,
                                             Reduction::sum, name);
    }
    std::unique_ptr<Exchange> all_gather_parts(void* data, std::int64_t part, plan::DType dtype,
                                               const std::string& name) override {
        return std::make_unique<MpiExchange>(*this, RingKind::all_gather, data, part, dtype,
                                             Reduction::sum, name);
    }
    void progress() override;
    std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                   const std::string& name) override;
    void broadcast(std::span<std::byte> bytes, int root, const std::string& name) override;
    void barrier(const std::string& name) override;
    void abort(int code, const std::string&) override { MPI_Abort(MPI_COMM_WORLD, code); }
    void set_time_limit(double seconds) override { limit_ = seconds; }

    /// This rank begins its next collective.
    Position begin(const char* kind, const std::string& name);
    void add(MpiExchange& exchange) { active_.push_back(&exchange); }
    void remove(MpiExchange& exchange) { std::erase(active_, &exchange); }
    MPI_Comm world() const { return world_; }
    MPI_Comm rings() const { return rings_; }

    /// Tests until `done`, and moves everything else on meanwhile. RunError behind the time limit.
    template <typename Done>
    void wait_for(const Position& position, Done&& done);
    void wait_for(const Position& position, MPI_Request& request);

  private:
    template <typename Done>
    void call_roll(const Position& position, Done&& done);
    RunError late(const Position& position) const;
    void join(double seconds);
    /// Everything that is under way; whether some of it has moved.
    bool move_on();
    void meet();
    MPI_Comm comm_of(const std::string& name);

    MPI_Comm world_ = MPI_COMM_NULL;
    MPI_Comm rings_ = MPI_COMM_NULL;  ///< carries nothing but rings and sums
    /// Of the exchanges of a name, of which one is under way at a time: programs for batches of
    /// several sizes, which ranks may run in the same step, call them alike.
    std::map<std::string, MPI_Comm> comms_;
    int rank_ = 0;
    int ranks_ = 1;
    double limit_ = 0;
    void (*parted_)();
    int exceptions_ = std::uncaught_exceptions();
    std::thread::id thread_ = std::this_thread::get_id();
    std::vector<Identity> identities_;  ///< by rank
    std::unique_ptr<RollCall> roll_;
    Position position_;                 ///< the newest collective of this rank
    std::vector<MpiExchange*> active_;  ///< started and not waited for, the oldest first
    double next_answer_ = 0;
    bool failed_ = false;
};

MpiExchange::MpiExchange(MpiCommunicator& owner, RingKind kind, void* data, std::int64_t elements,
                         plan::DType dtype, Reduction reduction, const std::string& name)
    : owner_(owner),
      kind_(kind),
      data_(static_cast<char*>(data)),
      elements_(elements),
      element_bytes_(plan::DType::f32 == dtype ? 4 : 8),
      type_(type_of(dtype, name)),
      op_(reduction == Reduction::sum ? MPI_SUM : MPI_MAX),
      name_(name),
      requests_(std::size_t((elements + kPieceElements - 1) / kPieceElements), MPI_REQUEST_NULL) {
    const std::int64_t all = elements * (parts() ? owner.ranks() : 1);
    if (all * element_bytes_ >= kRingBytes && owner.ranks() <= kRingRanks) {
        requests_.clear();
        ring_.emplace(owner.rings(), kind, data, elements, dtype, reduction);
    } else if (parts()) {
        // One call: what MPI takes piece by piece would not be parts.
        if (elements > INT_MAX)
            throw RunError(Exit::mismatch,
                           fmt::format("the parts of `{}` have {} numbers each, MPI takes {}", name,
                                       elements, INT_MAX),
                           "compile the job again with a smaller parallel.bucket_size");
        requests_.assign(1, MPI_REQUEST_NULL);
    }
}

MpiExchange::~MpiExchange() {
    // Under way only while an error is unwound: its memory must stay, which the job's end sees to.
    if (under_way_) owner_.remove(*this);
}

void MpiExchange::start() {
    constexpr const char* kNames[] = {"all_reduce", "reduce_scatter", "all_gather_parts"};
    position_ = owner_.begin(kNames[std::size_t(kind_)], name_);
    if (ring_) ring_->start(position_.number);
    if (sum_) sum_->start(position_.number);
    if (parts()) start_parts();
    for (std::size_t piece = 0; piece < requests_.size() && !parts(); ++piece) {
        const std::int64_t first = std::int64_t(piece) * kPieceElements;
        MPI_Iallreduce(MPI_IN_PLACE, data_ + first * element_bytes_,
                       int(std::min(kPieceElements, elements_ - first)), type_, op_, owner_.world(),
                       &requests_[piece]);
    }
    under_way_ = true;
    owner_.add(*this);
}

void MpiExchange::start_parts() {
    if (ring_) return;
    const int part = int(elements_);
    if (kind_ == RingKind::reduce_scatter)
        MPI_Ireduce_scatter_block(MPI_IN_PLACE, data_, part, type_, op_, owner_.world(),
                                  &requests_[0]);
    else
        MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data_, part, type_, owner_.world(),
                       &requests_[0]);
}

bool MpiExchange::done() {
    if (ring_) return ring_->advance();
    if (sum_) return sum_->advance();
    int all = 0;
    MPI_Testall(int(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
}

void MpiExchange::wait() {
    if (!under_way_) return;
    owner_.wait_for(position_, [this] { return done(); });
    under_way_ = false;
    owner_.remove(*this);
    // MPI puts the sums where the first part was.
    if (kind_ == RingKind::reduce_scatter && !ring_ && owner_.rank() > 0)
        std::memcpy(data_ + owner_.rank() * elements_ * element_bytes_, data_,
                    std::size_t(elements_ * element_bytes_));
}

MpiCommunicator::MpiCommunicator(double seconds, void (*parted)())
    : limit_(seconds), parted_(parted) {
    active_.reserve(64);
    {
        // MPI_Init waits for all ranks, and cannot be told for how long.
        const Watchdog watchdog(seconds, "for the other ranks to start");
        join(seconds);
    }
    meet();
}

void MpiCommunicator::join(double seconds) {
    int provided = MPI_THREAD_SINGLE;
    let_others_abort_first();
    const KeepHandlers handlers;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        throw RunError(Exit::failed, "MPI does not start", "see what MPICH says above");
    if (provided < MPI_THREAD_FUNNELED)
        throw RunError(Exit::failed,
                       "this MPI serves only programs of one thread (MPI_THREAD_SINGLE)",
                       "install an MPICH that is built with threads, as Debian's is");
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_dup(MPI_COMM_WORLD, &rings_);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &ranks_);
    roll_ = std::make_unique<RollCall>();
    limit_ = seconds;
}

void MpiCommunicator::meet() {
    Identity me;
    if (gethostname(me.host, sizeof me.host - 1) != 0) std::strcpy(me.host, "unknown host");
    me.process = getpid();
    identities_.resize(std::size_t(ranks_));
    const Position position = begin("all_gather", "names");
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&me, int(sizeof me), MPI_BYTE, identities_.data(), int(sizeof me), MPI_BYTE,
                   world_, &request);
    wait_for(position, request);
}

MpiCommunicator::~MpiCommunicator() {
    // An error: this rank does not come to what others may wait in. main ends the job.
    if (failed_ || std::uncaught_exceptions() > exceptions_) return;
    try {
        barrier("end of the run");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "dtnn-run: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, int(Exit::failed));
    }
    const Watchdog watchdog(limit_ > 0 ? std::max(limit_, 10.0) : 0, "for MPI to end");
    roll_->close();
    for (auto& [name, comm] : comms_)
        MPI_Comm_free(&comm);
    MPI_Comm_free(&rings_);
    MPI_Comm_free(&world_);
    MPI_Finalize();
    parted_();
}

std::unique_ptr<Exchange> MpiCommunicator::all_reduce_as(const WireForm& form, float* data,
                                                         std::int64_t elements,
                                                         const std::string& name) {
    if (elements > plan::kMostWireElements)
        throw RunError(Exit::mismatch,
                       fmt::format("`{}` has {} numbers, which cannot travel as {}", name, elements,
                                   form.wire),
                       "compile the job again with a smaller parallel.bucket_size");
    std::unique_ptr<WireSum> sum;
    if (ranks_ > 1 && elements > 0)
        sum = form.wire == "top_k" ? make_selected_sum(comm_of(name), form, data, elements)
                                   : make_rounded_sum(rings_, form, data, elements);
    return std::make_unique<MpiExchange>(*this, std::move(sum), name);
}

/// Made the first time, by all ranks.
MPI_Comm MpiCommunicator::comm_of(const std::string& name) {
    MPI_Comm& comm = comms_.try_emplace(name, MPI_COMM_NULL).first->second;
    if (comm != MPI_COMM_NULL) return comm;
    const Position position = begin("communicator", name);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(world_, &comm, &request);
    wait_for(position, request);
    return comm;
}

std::string MpiCommunicator::name_of(int rank) const {
    const Identity& who = identities_[std::size_t(rank)];
    if (who.process == 0) return fmt::format("rank {}", rank);
    return fmt::format("rank {} ({}, process {})", rank, who.host, who.process);
}

Position MpiCommunicator::begin(const char* kind, const std::string& name) {
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

bool MpiCommunicator::move_on() {
    std::int64_t before = 0, after = 0;
    for (MpiExchange* exchange : active_) {
        before += exchange->steps();
        exchange->done();
        after += exchange->steps();
    }
    return after != before;
}

void MpiCommunicator::progress() {
    move_on();
    const double now = MPI_Wtime();
    if (now < next_answer_) return;
    next_answer_ = now + kAnswerEvery;
    roll_->answer(position_);
}

template <typename Done>
void MpiCommunicator::wait_for(const Position& position, Done&& done) {
    const double start = MPI_Wtime();
    for (Patience patience; !done(); patience.rest()) {
        // Another rank may wait for one of these before it comes to what this one waits for.
        if (move_on()) patience.renew();
        // The time is looked at when the first spins have not sufficed.
        if (patience.rests() % 16 != 15) continue;
        roll_->answer(position_);
        if (limit_ > 0 && MPI_Wtime() - start > limit_) {
            call_roll(position, done);
            return;
        }
    }
}

void MpiCommunicator::wait_for(const Position& position, MPI_Request& request) {
    wait_for(position, [&request] {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return done != 0;
    });
}

/// Throws, unless the operation ends while the ranks are asked.
template <typename Done>
void MpiCommunicator::call_roll(const Position& position, Done&& done) {
    roll_->ask();
    const double start = MPI_Wtime();
    // Others whose limit passes at the same time ask this one: it answers to the end, even when it
    // has heard from all.
    for (Patience patience; MPI_Wtime() - start < kRollCallSeconds; patience.rest()) {
        roll_->heard();
        roll_->answer(position_);
        move_on();
        if (done()) return;
    }
    failed_ = true;
    throw late(position);
}

RunError MpiCommunicator::late(const Position& position) const {
    // Who does not answer first: another one that is behind may only wait for it.
    std::vector<std::string> missing, behind;
    for (int rank = 0; rank < ranks_; ++rank) {
        const Position& other = roll_->positions()[std::size_t(rank)];
        if (rank == rank_ || other.number >= position.number) continue;
        if (other.number < 0)
            missing.push_back(name_of(rank) + ", which does not answer");
        else
            behind.push_back(fmt::format("{}, which is at {}", name_of(rank), other.what));
    }
    missing.insert(missing.end(), behind.begin(), behind.end());
    return {Exit::failed,
            fmt::format("rank {}: waited {:g} s in {} for {}", rank_, limit_, position.what,
                        missing.empty() ? std::string("the network: all ranks have come to it")
                                        : fmt::format("{}", fmt::join(missing, "; "))),
            "see what the missing rank's node says; parallel.timeout is the limit"};
}

std::vector<std::vector<std::byte>> MpiCommunicator::all_gather(std::span<const std::byte> mine,
                                                                const std::string& name) {
    const Position position = begin("all_gather", name);
    std::vector<std::int64_t> sizes(std::size_t(ranks_), 0);
    const std::int64_t size = std::int64_t(mine.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, world_, &request);
    wait_for(position, request);

    std::vector<std::vector<std::byte>> all;
    all.resize(sizes.size());
    for (int rank = 0; rank < ranks_; ++rank)
        all[std::size_t(rank)].resize(std::size_t(sizes[std::size_t(rank)]));
    const std::int64_t most = *std::max_element(sizes.begin(), sizes.end());
    const std::int64_t piece = std::min(most, kPieceBytes / ranks_);
    std::vector<std::byte> row;
    std::vector<int> counts(std::size_t(ranks_), 0), places(std::size_t(ranks_), 0);
    for (std::int64_t first = 0; first < most; first += piece) {
        int place = 0;
        for (std::size_t rank = 0; rank < counts.size(); ++rank) {
            counts[rank] = int(std::clamp<std::int64_t>(sizes[rank] - first, 0, piece));
            places[rank] = place;
            place += counts[rank];
        }
        row.resize(std::size_t(place));
        const int count = counts[std::size_t(rank_)];
        MPI_Iallgatherv(count > 0 ? mine.data() + first : nullptr, count, MPI_BYTE, row.data(),
                        counts.data(), places.data(), MPI_BYTE, world_, &request);
        wait_for(position, request);
        for (std::size_t rank = 0; rank < counts.size(); ++rank)
            if (counts[rank] > 0)
                std::memcpy(all[rank].data() + first, row.data() + places[rank],
                            std::size_t(counts[rank]));
    }
    return all;
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int root, const std::string& name) {
    const Position position = begin("broadcast", name);
    const std::int64_t size = std::int64_t(bytes.size());
    for (std::int64_t first = 0; first < size; first += kPieceBytes) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(bytes.data() + first, int(std::min(kPieceBytes, size - first)), MPI_BYTE, root,
                   world_, &request);
        wait_for(position, request);
    }
}

void MpiCommunicator::barrier(const std::string& name) {
    const Position position = begin("barrier", name);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(world_, &request);
    wait_for(position, request);
}

}  // namespace

std::unique_ptr<Communicator> join_ranks(double seconds, void (*parted)()) {
    return std::make_unique<MpiCommunicator>(seconds, parted);
}

}  // namespace dtnn::runtime::mpi
