#include "runtime/comm/mpi/mpi_communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <utility>

#include "plan/rules/compression.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/mpi/collective_ledger.hpp"
#include "runtime/comm/mpi/compressed_sum.hpp"
#include "runtime/comm/mpi/handlers.hpp"
#include "runtime/comm/mpi/library_reduction.hpp"
#include "runtime/comm/mpi/patience.hpp"
#include "runtime/comm/mpi/ring.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// MPI counts in int. A piece is as much of a gather or broadcast as one call takes.
constexpr std::int64_t kPieceBytes = std::int64_t(1) << 30;

/// Ranks whose bytes come to rank 0 between two meetings of all.
constexpr int kGatherTurn = 16;
constexpr int kGatherTag = 1;

/// The names that messages have for a rank.
struct Identity {
    char host[72] = {};
    std::int64_t process = 0;
};

/// An exchange: its name, its turn among the others, and waiting for it. A Transfer moves its
/// numbers.
class MpiExchange final : public Exchange {
  public:
    /// `transfer` is null where nothing has to travel.
    MpiExchange(CollectiveLedger& ledger, const char* kind, std::string name,
                std::unique_ptr<Transfer> transfer)
        : ledger_(ledger), kind_(kind), name_(std::move(name)), transfer_(std::move(transfer)) {}
    ~MpiExchange() override {
        // Under way only while an error is unwound: its memory must stay, which the job's end sees
        // to.
        if (under_way_) end();
    }
    MpiExchange(const MpiExchange&) = delete;
    MpiExchange& operator=(const MpiExchange&) = delete;

    void start() override {
        position_ = ledger_.begin(kind_, name_);
        if (transfer_) {
            transfer_->start(position_.number);
            ledger_.add(*transfer_);
        }
        under_way_ = true;
    }

    void wait() override {
        if (!under_way_) return;
        if (transfer_) ledger_.wait_for(position_, [this] { return transfer_->advance(); });
        end();
    }

  private:
    void end() {
        under_way_ = false;
        if (transfer_) ledger_.remove(*transfer_);
    }

    CollectiveLedger& ledger_;
    const char* kind_;
    std::string name_;
    std::unique_ptr<Transfer> transfer_;
    Position position_;
    bool under_way_ = false;
};

class MpiCommunicator final : public Communicator {
  public:
    MpiCommunicator(double seconds, void (*parted)(), const MpiFlavour& flavour);
    ~MpiCommunicator() override;
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;

    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }
    std::string name_of(int rank) const override;
    std::unique_ptr<Exchange> all_reduce(void* data, std::int64_t elements, DType dtype,
                                         Reduction reduction, const std::string& name) override {
        return bound("all_reduce", TransferKind::all_reduce, data, elements, dtype, reduction,
                     name);
    }
    std::unique_ptr<Exchange> all_reduce_compressed(const GradientCompression& compression,
                                                    float* data, std::int64_t elements,
                                                    const std::string& name) override;
    std::unique_ptr<Exchange> reduce_scatter(void* data, std::int64_t part, DType dtype,
                                             const std::string& name) override {
        return bound("reduce_scatter", TransferKind::reduce_scatter, data, part, dtype,
                     Reduction::sum, name);
    }
    std::unique_ptr<Exchange> all_gather_parts(void* data, std::int64_t part, DType dtype,
                                               const std::string& name) override {
        return bound("all_gather_parts", TransferKind::all_gather, data, part, dtype,
                     Reduction::sum, name);
    }
    void progress() override { ledger_->progress(); }
    std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                   const std::string& name) override;
    void gather(std::span<const std::byte> mine, const std::string& name,
                const TakePiece& take) override;
    void broadcast(std::span<std::byte> bytes, int root, const std::string& name) override;
    void barrier(const std::string& name) override;
    void abort(int code, const std::string&) override { MPI_Abort(MPI_COMM_WORLD, code); }
    void set_time_limit(double seconds) override { ledger_->set_limit(seconds); }

  private:
    std::unique_ptr<Exchange> bound(const char* name_of_kind, TransferKind kind, void* data,
                                    std::int64_t elements, DType dtype, Reduction reduction,
                                    const std::string& name);
    std::vector<std::int64_t> sizes_of_all(const Position& position, std::int64_t mine);
    void join(double seconds, const MpiFlavour& flavour);
    void meet();
    MPI_Comm comm_of(const std::string& name);

    MPI_Comm world_ = MPI_COMM_NULL;
    MPI_Comm rings_ = MPI_COMM_NULL;  ///< carries nothing but rings and compressed sums
    /// A communicator for the exchanges of each name, of which one is under way at a time: programs
    /// for batches of several sizes, which ranks may run in the same step, call them alike.
    std::map<std::string, MPI_Comm> comms_;
    int rank_ = 0;
    int ranks_ = 1;
    void (*parted_)();
    int exceptions_ = std::uncaught_exceptions();
    std::vector<Identity> identities_;  ///< by rank
    std::unique_ptr<CollectiveLedger> ledger_;
};

std::unique_ptr<Exchange> MpiCommunicator::bound(const char* name_of_kind, TransferKind kind,
                                                 void* data, std::int64_t elements, DType dtype,
                                                 Reduction reduction, const std::string& name) {
    static_cast<void>(type_of(dtype, name));
    const std::int64_t all = elements * (kind == TransferKind::all_reduce ? 1 : ranks_);
    const std::int64_t bytes = all * (dtype == DType::f32 ? 4 : 8);
    std::unique_ptr<Transfer> transfer;
    if (bytes >= kRingBytes && ranks_ <= kRingRanks)
        transfer = std::make_unique<Ring>(rings_, kind, data, elements, dtype, reduction);
    else
        transfer = make_library_reduction(world_, kind, data, elements, dtype, reduction, name);
    return std::make_unique<MpiExchange>(*ledger_, name_of_kind, name, std::move(transfer));
}

MpiCommunicator::MpiCommunicator(double seconds, void (*parted)(), const MpiFlavour& flavour)
    : parted_(parted) {
    {
        // MPI_Init waits for all ranks, and cannot be told for how long.
        const Watchdog watchdog(seconds, "for the other ranks to start");
        join(seconds, flavour);
    }
    meet();
}

void MpiCommunicator::join(double seconds, const MpiFlavour& flavour) {
    int provided = MPI_THREAD_SINGLE;
    let_others_abort_first();
    const KeepHandlers handlers;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        throw RunError(Exit::failed, "MPI does not start",
                       fmt::format("see what {} says above", flavour.name));
    if (provided < MPI_THREAD_FUNNELED)
        throw RunError(
            Exit::failed, "this MPI serves only programs of one thread (MPI_THREAD_SINGLE)",
            fmt::format("install an {} that is built with threads, as Debian's is", flavour.name));
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_dup(MPI_COMM_WORLD, &rings_);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &ranks_);
    // An MPI that does not know the launcher's ways takes each of its processes for the only one.
    const StartedRanks started = started_ranks();
    if (ranks_ != started.ranks)
        throw RunError(Exit::usage,
                       fmt::format("{} has started {} ranks, and {} finds {}: it cannot meet the "
                                   "others by this launcher",
                                   started.launcher, started.ranks, flavour.name, ranks_),
                       how_to_start_ranks(flavour));
    ledger_ =
        std::make_unique<CollectiveLedger>(seconds, [this](int rank) { return name_of(rank); });
}

void MpiCommunicator::meet() {
    Identity me;
    if (gethostname(me.host, sizeof me.host - 1) != 0) std::strcpy(me.host, "unknown host");
    me.process = getpid();
    identities_.resize(std::size_t(ranks_));
    const Position position = ledger_->begin("all_gather", "names");
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&me, int(sizeof me), MPI_BYTE, identities_.data(), int(sizeof me), MPI_BYTE,
                   world_, &request);
    ledger_->wait_for(position, request);
}

MpiCommunicator::~MpiCommunicator() {
    // An error: this rank does not come to what others may wait in. main ends the job.
    if (ledger_->failed() || std::uncaught_exceptions() > exceptions_) return;
    try {
        barrier("end of the run");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "dtnn-run: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, int(Exit::failed));
    }
    const double limit = ledger_->limit();
    const Watchdog watchdog(limit > 0 ? std::max(limit, 10.0) : 0, "for MPI to end");
    ledger_->close();
    for (auto& [name, comm] : comms_)
        MPI_Comm_free(&comm);
    MPI_Comm_free(&rings_);
    MPI_Comm_free(&world_);
    MPI_Finalize();
    parted_();
}

std::unique_ptr<Exchange> MpiCommunicator::all_reduce_compressed(
    const GradientCompression& compression, float* data, std::int64_t elements,
    const std::string& name) {
    if (elements > plan::kMostCompressedElements)
        throw RunError(Exit::mismatch,
                       fmt::format("`{}` has {} numbers, which cannot travel as {}", name, elements,
                                   plan::name_of(compression.form)),
                       "compile the job again with a smaller parallel.bucket_size");
    std::unique_ptr<Transfer> sum;
    if (ranks_ > 1 && elements > 0)
        sum = compression.form == plan::Compression::top_k
                  ? make_selected_sum(comm_of(name), compression, data, elements)
                  : make_rounded_sum(rings_, compression, data, elements);
    return std::make_unique<MpiExchange>(*ledger_, "all_reduce", name, std::move(sum));
}

/// Made the first time, by all ranks.
MPI_Comm MpiCommunicator::comm_of(const std::string& name) {
    MPI_Comm& comm = comms_.try_emplace(name, MPI_COMM_NULL).first->second;
    if (comm != MPI_COMM_NULL) return comm;
    const Position position = ledger_->begin("communicator", name);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(world_, &comm, &request);
    ledger_->wait_for(position, request);
    return comm;
}

std::string MpiCommunicator::name_of(int rank) const {
    const Identity& who = identities_[std::size_t(rank)];
    if (who.process == 0) return fmt::format("rank {}", rank);
    return fmt::format("rank {} ({}, process {})", rank, who.host, who.process);
}

std::vector<std::vector<std::byte>> MpiCommunicator::all_gather(std::span<const std::byte> mine,
                                                                const std::string& name) {
    const Position position = ledger_->begin("all_gather", name);
    const std::vector<std::int64_t> sizes = sizes_of_all(position, std::int64_t(mine.size()));
    MPI_Request request = MPI_REQUEST_NULL;
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
        ledger_->wait_for(position, request);
        for (std::size_t rank = 0; rank < counts.size(); ++rank)
            if (counts[rank] > 0)
                std::memcpy(all[rank].data() + first, row.data() + places[rank],
                            std::size_t(counts[rank]));
    }
    return all;
}

std::vector<std::int64_t> MpiCommunicator::sizes_of_all(const Position& position,
                                                        std::int64_t mine) {
    std::vector<std::int64_t> sizes(std::size_t(ranks_), 0);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&mine, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, world_, &request);
    ledger_->wait_for(position, request);
    return sizes;
}

/// Ranks come in turns of a few, between which all meet: a rank waits no longer than a turn takes,
/// and rank 0 has no more messages before it than those of one turn.
void MpiCommunicator::gather(std::span<const std::byte> mine, const std::string& name,
                             const TakePiece& take) {
    const std::vector<std::int64_t> sizes =
        sizes_of_all(ledger_->begin("gather", name), std::int64_t(mine.size()));
    std::vector<std::byte> room;
    if (rank_ == 0) {
        room.resize(
            std::min(kGatherPiece, std::size_t(*std::max_element(sizes.begin(), sizes.end()))));
        take_pieces(0, mine, take);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    for (int first = 1; first < ranks_; first += kGatherTurn) {
        const Position position = ledger_->begin("gather", name);
        const int end = std::min(ranks_, first + kGatherTurn);
        for (int owner = first; owner < end; ++owner) {
            if (rank_ != 0 && rank_ != owner) continue;
            const auto all = std::size_t(sizes[std::size_t(owner)]);
            for (std::size_t done = 0; done < all; done += kGatherPiece) {
                const std::size_t piece = std::min(kGatherPiece, all - done);
                if (rank_ == 0)
                    MPI_Irecv(room.data(), int(piece), MPI_BYTE, owner, kGatherTag, world_,
                              &request);
                else
                    MPI_Isend(mine.data() + done, int(piece), MPI_BYTE, 0, kGatherTag, world_,
                              &request);
                ledger_->wait_for(position, request, rank_ == 0 ? owner : 0);
                if (rank_ == 0) take(owner, std::span(room).first(piece));
            }
        }
        MPI_Ibarrier(world_, &request);
        ledger_->wait_for(position, request);
    }
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int root, const std::string& name) {
    const Position position = ledger_->begin("broadcast", name);
    const std::int64_t size = std::int64_t(bytes.size());
    for (std::int64_t first = 0; first < size; first += kPieceBytes) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(bytes.data() + first, int(std::min(kPieceBytes, size - first)), MPI_BYTE, root,
                   world_, &request);
        ledger_->wait_for(position, request);
    }
}

void MpiCommunicator::barrier(const std::string& name) {
    const Position position = ledger_->begin("barrier", name);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(world_, &request);
    ledger_->wait_for(position, request);
}

}  // namespace

std::unique_ptr<Communicator> join_ranks(double seconds, void (*parted)(),
                                         const MpiFlavour& flavour) {
    return std::make_unique<MpiCommunicator>(seconds, parted, flavour);
}

}  // namespace dtnn::runtime::mpi
