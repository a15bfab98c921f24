#include <optional>

#include "plan/rules/compression.hpp"
#include "runtime/comm/compression_rounding.hpp"
#include "runtime/comm/mpi/compressed_sum.hpp"
#include "runtime/comm/mpi/part_inbox.hpp"

namespace dtnn::runtime::mpi {
namespace {

class RoundedSum final : public Transfer {
  public:
    RoundedSum(MPI_Comm comm, const GradientCompression& compression, float* data,
               std::int64_t elements)
        : comm_(comm),
          fp16_(compression.form == plan::Compression::fp16),
          rounding_(fp16_ ? Rounding::fp16 : Rounding::bf16),
          data_(data),
          elements_(elements),
          packed_(compression.scratch.data()) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        const std::int64_t all = packed(elements);
        inbox_.emplace(comm, MPI_UINT16_T, 2, packed_ + all,
                       std::int64_t(compression.scratch.size()) - all, words(rank_));
        sent_.assign(std::size_t(ranks_), MPI_REQUEST_NULL);
        come_ = sent_;
    }

    void start(std::int64_t number) override {
        tag_ = first_tag(number);
        inbox_->start(tag_);
        pack(rounding_, data_, 0, elements_, packed_);
        // Not all to the same rank first.
        for (int i = 1; i < ranks_; ++i) {
            const int to = (rank_ + i) % ranks_;
            if (words(to) > 0)
                MPI_Isend(place(to), int(words(to)), MPI_UINT16_T, to, tag_, comm_,
                          &sent_[std::size_t(to)]);
        }
        std::fill(data_ + first(rank_), data_ + first(rank_ + 1), 0.0F);
        state_ = State::adding;
    }

    bool advance() override {
        if (state_ == State::adding && add()) gather();
        if (state_ == State::gathering && all_done()) {
            unpack(rounding_, packed_, 0, elements_, data_);
            state_ = State::done;
            ++steps_;
        }
        return state_ == State::done;
    }

  private:
    enum class State { adding, gathering, done };

    std::int64_t first(int rank) const { return first_of_part(elements_, rank, ranks_); }
    std::int64_t packed(std::int64_t elements) const { return plan::packed_bytes(fp16_, elements); }
    /// A rank's part in the packed numbers.
    std::byte* place(int rank) const { return packed_ + packed(first(rank)); }
    std::int64_t words(int rank) const {
        return (packed(first(rank + 1)) - packed(first(rank))) / 2;
    }

    bool add() {
        const std::int64_t count = first(rank_ + 1) - first(rank_);
        const bool added = inbox_->take([&](int, const std::byte* come, std::int64_t) {
            add_packed(rounding_, come != nullptr ? come : place(rank_), count,
                       data_ + first(rank_));
            ++steps_;
        });
        int sent = 0;
        if (added) MPI_Testall(ranks_, sent_.data(), &sent, MPI_STATUSES_IGNORE);
        return added && sent != 0;
    }

    /// Gathers the sums in the place of the packed numbers, which nobody reads any more.
    void gather() {
        pack(rounding_, data_, first(rank_), first(rank_ + 1) - first(rank_), packed_);
        for (int i = 1; i < ranks_; ++i) {
            const int from = (rank_ + ranks_ - i) % ranks_;
            if (words(from) > 0)
                MPI_Irecv(place(from), int(words(from)), MPI_UINT16_T, from, tag_ + 1, comm_,
                          &come_[std::size_t(from)]);
        }
        for (int i = 1; i < ranks_ && words(rank_) > 0; ++i) {
            const int to = (rank_ + i) % ranks_;
            MPI_Isend(place(rank_), int(words(rank_)), MPI_UINT16_T, to, tag_ + 1, comm_,
                      &sent_[std::size_t(to)]);
        }
        state_ = State::gathering;
        ++steps_;
    }

    bool all_done() {
        int come = 0, sent = 0;
        MPI_Testall(ranks_, come_.data(), &come, MPI_STATUSES_IGNORE);
        MPI_Testall(ranks_, sent_.data(), &sent, MPI_STATUSES_IGNORE);
        return come != 0 && sent != 0;
    }

    MPI_Comm comm_;
    bool fp16_;
    Rounding rounding_;
    float* data_;
    std::int64_t elements_;
    std::byte* packed_;
    int rank_ = 0, ranks_ = 1;
    int tag_ = 0;
    State state_ = State::done;
    std::optional<PartInbox> inbox_;
    std::vector<MPI_Request> sent_, come_;
};

}  // namespace

std::unique_ptr<Transfer> make_rounded_sum(MPI_Comm comm, const GradientCompression& compression,
                                           float* data, std::int64_t elements) {
    return std::make_unique<RoundedSum>(comm, compression, data, elements);
}

}  // namespace dtnn::runtime::mpi
