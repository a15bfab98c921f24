#include "tests/ranks/threads/in_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/enum_names.hpp"
#include "base/quantity_text.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/reduce.hpp"
#include "tests/ranks/threads/compression_in_memory.hpp"

namespace dtnn::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// The first of them are exchanges that go on beside computation.
enum class CollectiveKind {
    all_reduce,
    all_reduce_compressed,
    reduce_scatter,
    all_gather_parts,
    all_gather,
    gather,
    broadcast,
    barrier,
};
constexpr auto names_of(CollectiveKind) {
    return std::to_array<const char*>({"all_reduce", "all_reduce_compressed", "reduce_scatter",
                                       "all_gather_parts", "all_gather", "gather", "broadcast",
                                       "barrier"});
}

/// One collective operation: what the ranks have brought to it.
struct Operation {
    CollectiveKind kind = CollectiveKind::barrier;
    std::string name;
    std::int64_t elements = 0;
    DType dtype = DType::f32;
    Reduction reduction = Reduction::sum;
    int root = 0;
    std::vector<const GradientCompression*> compressions;  ///< by rank, of all_reduce_compressed
    std::vector<void*> memory;                             ///< by rank; null: it has not come
    std::vector<std::vector<std::byte>> given;             ///< all_gather
    std::vector<bool> come;
    int missing = 0;  ///< ranks that have not come
    int inside = 0;   ///< ranks that have not left
    bool done = false;
};

/// The state that all ranks share. The lock guards everything.
struct Shared {
    Shared(int count, const Delay& given) : ranks(count), delay(given), heard(count) {
        if (delay.alpha > 0 || delay.seconds_per_byte > 0) {
            slow = true;
            network = std::thread([this] { carry(); });
        }
    }
    ~Shared() {
        {
            const std::lock_guard<std::mutex> hold(lock);
            closing = true;
        }
        changed.notify_all();
        if (network.joinable()) network.join();
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    /// The operation is complete: all ranks have come and the network has carried it.
    void finish(Operation& operation) {
        if (operation.kind == CollectiveKind::all_reduce) {
            void* sum = operation.memory[0];
            for (int rank = 1; rank < ranks; ++rank)
                reduce(sum, operation.memory[std::size_t(rank)], operation.elements,
                       operation.dtype, operation.reduction);
            const std::size_t bytes = std::size_t(operation.elements * size_of(operation.dtype));
            for (int rank = 1; rank < ranks && bytes > 0; ++rank)
                std::memcpy(operation.memory[std::size_t(rank)], sum, bytes);
        } else if (operation.kind == CollectiveKind::all_reduce_compressed) {
            sum_compressed_in_memory(operation.elements, operation.memory, operation.compressions);
        } else if (operation.kind == CollectiveKind::reduce_scatter) {
            // In the memory of rank 0, as the whole sum would be.
            for (int owner = 0; owner < ranks; ++owner) {
                std::byte* const sum = part_of(operation, 0, owner);
                for (int rank = 1; rank < ranks; ++rank)
                    reduce(sum, part_of(operation, rank, owner), operation.elements / ranks,
                           operation.dtype, Reduction::sum);
            }
            for (int owner = 1; owner < ranks; ++owner)
                copy_part(operation, owner, 0, owner);
        } else if (operation.kind == CollectiveKind::all_gather_parts) {
            for (int owner = 0; owner < ranks; ++owner)
                for (int rank = 0; rank < ranks; ++rank)
                    if (rank != owner) copy_part(operation, owner, owner, rank);
        } else if (operation.kind == CollectiveKind::broadcast) {
            const void* from = operation.memory[std::size_t(operation.root)];
            for (int rank = 0; rank < ranks; ++rank)
                if (rank != operation.root && operation.elements > 0)
                    std::memcpy(operation.memory[std::size_t(rank)], from,
                                std::size_t(operation.elements));
        }
        operation.done = true;
        changed.notify_all();
    }

    /// The part of `owner` in the memory that `rank` has brought.
    std::byte* part_of(const Operation& operation, int rank, int owner) const {
        return static_cast<std::byte*>(operation.memory[std::size_t(rank)]) +
               operation.elements / ranks * owner * size_of(operation.dtype);
    }
    void copy_part(const Operation& operation, int owner, int from, int to) const {
        const auto bytes = std::size_t(operation.elements / ranks * size_of(operation.dtype));
        if (bytes > 0)
            std::memcpy(part_of(operation, to, owner), part_of(operation, from, owner), bytes);
    }

    /// The network's thread: one exchange at a time, in their order.
    void carry() {
        std::unique_lock<std::mutex> hold(lock);
        while (true) {
            changed.wait(hold, [this] { return closing || !carried.empty(); });
            if (closing) return;
            const std::shared_ptr<Operation> operation = carried.front();
            double bytes = double(operation->elements) * double(size_of(operation->dtype));
            if (operation->kind == CollectiveKind::all_reduce_compressed)
                bytes = compressed_bytes(*operation->compressions.front(), operation->elements);
            const bool whole = operation->kind == CollectiveKind::all_reduce ||
                               operation->kind == CollectiveKind::all_reduce_compressed;
            const double seconds =
                (whole ? 1 : 0.5) * (delay.alpha + delay.seconds_per_byte * bytes);
            const auto end = Clock::now() + std::chrono::duration<double>(seconds);
            while (!closing && Clock::now() < end)
                changed.wait_until(hold, std::chrono::time_point_cast<Clock::duration>(end));
            if (closing) return;
            carried.pop_front();
            if (!failed) finish(*operation);
        }
    }

    const int ranks;
    const Delay delay;
    bool slow = false;
    std::mutex lock;
    std::condition_variable changed;
    /// The operations that some rank has not left, the oldest first; `first` is the oldest one's
    /// number.
    /// Shared: the rank that leaves last drops it while others may still look at it.
    std::deque<std::shared_ptr<Operation>> operations;
    std::int64_t first = 1;
    std::deque<std::shared_ptr<Operation>> carried;
    struct Heard {
        std::int64_t number = 0;
        std::string what;
    };
    std::vector<Heard> heard;  ///< by rank: the newest operation it has begun
    std::optional<RunError> failed;
    bool closing = false;
    std::thread network;
};

class InProcess;

class InProcessExchange final : public Exchange {
  public:
    InProcessExchange(InProcess& owner, CollectiveKind kind, void* data, std::int64_t elements,
                      DType dtype, Reduction reduction, std::string name)
        : owner_(owner),
          kind_(kind),
          data_(data),
          elements_(elements),
          dtype_(dtype),
          reduction_(reduction),
          name_(std::move(name)) {}
    void compress(const GradientCompression& compression) { compression_ = compression; }
    void start() override;
    void wait() override;

  private:
    InProcess& owner_;
    CollectiveKind kind_;
    void* data_;
    std::int64_t elements_;
    DType dtype_;
    Reduction reduction_;
    std::string name_;
    GradientCompression compression_;
    std::int64_t number_ = 0;  ///< the number of the operation under way; 0: none
};

class InProcess final : public Communicator {
  public:
    InProcess(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}

    int rank() const override { return rank_; }
    int ranks() const override { return shared_->ranks; }
    std::string name_of(int rank) const override { return fmt::format("rank {} (thread)", rank); }

    std::unique_ptr<Exchange> all_reduce(void* data, std::int64_t elements, DType dtype,
                                         Reduction reduction, const std::string& name) override {
        require_reducible(dtype, name);
        return std::make_unique<InProcessExchange>(*this, CollectiveKind::all_reduce, data,
                                                   elements, dtype, reduction, name);
    }
    std::unique_ptr<Exchange> all_reduce_compressed(const GradientCompression& compression,
                                                    float* data, std::int64_t elements,
                                                    const std::string& name) override {
        auto exchange =
            std::make_unique<InProcessExchange>(*this, CollectiveKind::all_reduce_compressed, data,
                                                elements, DType::f32, Reduction::sum, name);
        exchange->compress(compression);
        return exchange;
    }
    std::unique_ptr<Exchange> reduce_scatter(void* data, std::int64_t part, DType dtype,
                                             const std::string& name) override {
        return of_parts(CollectiveKind::reduce_scatter, data, part, dtype, name);
    }
    std::unique_ptr<Exchange> all_gather_parts(void* data, std::int64_t part, DType dtype,
                                               const std::string& name) override {
        return of_parts(CollectiveKind::all_gather_parts, data, part, dtype, name);
    }
    std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                   const std::string& name) override {
        Operation like;
        like.kind = CollectiveKind::all_gather;
        like.name = name;
        like.given.resize(std::size_t(ranks()));
        std::vector<std::byte> copy(mine.begin(), mine.end());
        return leave(enter(like, nullptr, &copy));
    }
    /// Rank 0 reads the others' memory, which they keep until it has.
    void gather(std::span<const std::byte> mine, const std::string& name,
                const TakePiece& take) override {
        Operation like;
        like.kind = CollectiveKind::gather;
        like.name = name;
        like.given.resize(std::size_t(ranks()));
        const auto place_of_mine = std::as_bytes(std::span(&mine, 1));
        std::vector<std::byte> place(place_of_mine.begin(), place_of_mine.end());
        const std::vector<std::vector<std::byte>> places = leave(enter(like, nullptr, &place));
        for (int other = 0; rank_ == 0 && other < ranks(); ++other) {
            std::span<const std::byte> bytes;
            std::ranges::copy(places[std::size_t(other)],
                              std::as_writable_bytes(std::span(&bytes, 1)).begin());
            take_pieces(other, bytes, take);
        }
        barrier(name);
    }
    void broadcast(std::span<std::byte> bytes, int root, const std::string& name) override {
        Operation like;
        like.kind = CollectiveKind::broadcast;
        like.name = name;
        like.elements = std::int64_t(bytes.size());
        like.root = root;
        leave(enter(like, bytes.data(), nullptr));
    }
    void barrier(const std::string& name) override {
        Operation like;
        like.kind = CollectiveKind::barrier;
        like.name = name;
        leave(enter(like, nullptr, nullptr));
    }
    void abort(int code, const std::string& reason) override {
        const std::lock_guard<std::mutex> hold(shared_->lock);
        if (!shared_->failed)
            shared_->failed.emplace(Exit(code),
                                    fmt::format("{} ended the job: {}", name_of(rank_), reason));
        shared_->changed.notify_all();
    }
    void set_time_limit(double seconds) override { limit_ = seconds; }

    /// This rank comes to its next operation; its number.
    std::int64_t enter(const Operation& like, void* memory, std::vector<std::byte>* given,
                       const GradientCompression* compression = nullptr) {
        Shared& shared = *shared_;
        const std::lock_guard<std::mutex> hold(shared.lock);
        if (shared.failed) throw *shared.failed;
        const std::int64_t number = ++begun_;
        const std::size_t at = std::size_t(number - shared.first);
        if (at == shared.operations.size()) {
            auto made = std::make_shared<Operation>(like);
            made->memory.assign(std::size_t(shared.ranks), nullptr);
            made->compressions.assign(std::size_t(shared.ranks), nullptr);
            made->come.assign(std::size_t(shared.ranks), false);
            made->missing = made->inside = shared.ranks;
            shared.operations.push_back(std::move(made));
        }
        const std::shared_ptr<Operation> operation = shared.operations[at];
        require_same(*operation, like, number);
        operation->memory[std::size_t(rank_)] = memory;
        operation->compressions[std::size_t(rank_)] = compression;
        if (given != nullptr) operation->given[std::size_t(rank_)] = std::move(*given);
        operation->come[std::size_t(rank_)] = true;
        shared.heard[std::size_t(rank_)] = {
            number, fmt::format("{} `{}`", dtnn::name_of(like.kind), like.name)};
        if (--operation->missing == 0) {
            if (shared.slow && operation->kind <= CollectiveKind::all_gather_parts) {
                shared.carried.push_back(operation);
                shared.changed.notify_all();
            } else {
                shared.finish(*operation);
            }
        }
        return number;
    }

    /// Waits for the operation's end; what was gathered.
    std::vector<std::vector<std::byte>> leave(std::int64_t number) {
        Shared& shared = *shared_;
        std::unique_lock<std::mutex> hold(shared.lock);
        const std::shared_ptr<Operation> operation =
            shared.operations[std::size_t(number - shared.first)];
        const auto ended = [&] { return operation->done || shared.failed; };
        if (limit_ <= 0) {
            shared.changed.wait(hold, ended);
        } else if (!shared.changed.wait_for(hold, std::chrono::duration<double>(limit_), ended)) {
            shared.failed = late(*operation, number);
            shared.changed.notify_all();
        }
        if (!operation->done) throw *shared.failed;
        std::vector<std::vector<std::byte>> given = operation->given;
        if (--operation->inside == 0) {
            while (!shared.operations.empty() && shared.operations.front()->inside == 0) {
                shared.operations.pop_front();
                ++shared.first;
            }
        }
        return given;
    }

  private:
    std::unique_ptr<Exchange> of_parts(CollectiveKind kind, void* data, std::int64_t part,
                                       DType dtype, const std::string& name) {
        require_reducible(dtype, name);
        return std::make_unique<InProcessExchange>(*this, kind, data, part * ranks(), dtype,
                                                   Reduction::sum, name);
    }

    void require_same(const Operation& first, const Operation& mine, std::int64_t number) {
        if (first.kind == mine.kind && first.name == mine.name && first.elements == mine.elements &&
            first.dtype == mine.dtype && first.reduction == mine.reduction &&
            first.root == mine.root)
            return;
        shared_->failed.emplace(
            Exit::internal,
            fmt::format("{} comes to operation number {} with {} `{}` of {} elements, others with "
                        "{} `{}` of {}",
                        name_of(rank_), number, dtnn::name_of(mine.kind), mine.name, mine.elements,
                        dtnn::name_of(first.kind), first.name, first.elements),
            "please report this");
        shared_->changed.notify_all();
        throw *shared_->failed;
    }

    RunError late(const Operation& operation, std::int64_t number) const {
        std::string missing;
        for (int rank = 0; rank < shared_->ranks; ++rank) {
            if (operation.come[std::size_t(rank)]) continue;
            const Shared::Heard& heard = shared_->heard[std::size_t(rank)];
            if (!missing.empty()) missing += ", ";
            missing += name_of(rank);
            missing += heard.number == 0 ? ", which has begun none"
                                         : fmt::format(", which was last heard of at number {} {}",
                                                       heard.number, heard.what);
        }
        return {Exit::failed,
                fmt::format("rank {}: waited {} in {} number {} `{}` for {}", rank_,
                            limit_text(limit_), dtnn::name_of(operation.kind), number,
                            operation.name, missing.empty() ? "the network" : missing)};
    }

    std::shared_ptr<Shared> shared_;  ///< with the other ranks; the last to go ends the network
    int rank_;
    std::int64_t begun_ = 0;
    double limit_ = 0;
};

void InProcessExchange::start() {
    Operation like;
    like.kind = kind_;
    like.name = name_;
    like.elements = elements_;
    like.dtype = dtype_;
    like.reduction = reduction_;
    number_ = owner_.enter(like, data_, nullptr, &compression_);
}

void InProcessExchange::wait() {
    if (number_ == 0) return;
    owner_.leave(std::exchange(number_, 0));
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_in_process(int ranks, Delay delay) {
    const auto shared = std::make_shared<Shared>(ranks, delay);
    std::vector<std::unique_ptr<Communicator>> all;
    all.reserve(std::size_t(ranks));
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(std::make_unique<InProcess>(shared, rank));
    return all;
}

}  // namespace dtnn::runtime
