#include <optional>
#include <span>

#include "plan/rules/compression.hpp"
#include "runtime/comm/compression_selection.hpp"
#include "runtime/comm/mpi/compressed_sum.hpp"
#include "runtime/comm/mpi/part_inbox.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// MPI moves an entry as a whole number of the same size.
const MPI_Datatype kEntry = MPI_UINT64_T;

class SelectedSum final : public Transfer {
  public:
    SelectedSum(MPI_Comm comm, const GradientCompression& compression, float* data,
                std::int64_t elements)
        : comm_(comm),
          data_(data),
          residual_(compression.residual),
          count_(plan::selected_of(elements, compression.density)),
          own_(reinterpret_cast<Entry*>(compression.scratch.data())),
          result_(own_ + count_),
          bins_(reinterpret_cast<std::int32_t*>(result_ + 2 * count_)),
          selection_(count_) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        deal_ = {elements, ranks_};
        inbox_.emplace(comm, kEntry, plan::kEntryBytes, reinterpret_cast<std::byte*>(result_),
                       2 * count_ * plan::kEntryBytes, most(rank_));
        ends_.resize(std::size_t(ranks_));
        all_.resize(std::size_t(ranks_));
        counts_.resize(std::size_t(ranks_));
        places_.resize(std::size_t(ranks_));
        sent_.assign(std::size_t(ranks_), MPI_REQUEST_NULL);
        for (int rank = 0; rank < ranks_; ++rank)
            receives_.push_back(most(rank) > 0);
    }

    void start(std::int64_t number) override {
        const int tag = first_tag(number);
        inbox_->start(tag);
        select_own(deal_, data_, residual_, count_, own_, ends_.data(), bins_);
        for (int i = 1; i < ranks_; ++i) {
            const auto to = std::size_t((rank_ + i) % ranks_);
            const std::int64_t first = to == 0 ? 0 : ends_[to - 1];
            if (receives_[to])
                MPI_Isend(own_ + first, int(ends_[to] - first), kEntry, int(to), tag, comm_,
                          &sent_[to]);
        }
        deal_.for_blocks(rank_, [&](std::int64_t first, std::int64_t last) {
            std::fill(data_ + first, data_ + last, 0.0F);
        });
        state_ = State::adding;
    }

    bool advance() override {
        if (state_ == State::adding && add()) {
            selection_ = Selection(count_);
            round_ = 0;
            count_round();
        }
        while (state_ == State::counting && ended()) {
            selection_.narrow({bins_, std::size_t(plan::kSelectionBins)});
            if (++round_ < plan::kSelectionRounds)
                count_round();
            else
                tell_selected();
        }
        if (state_ == State::telling && ended()) gather();
        if (state_ == State::gathering && ended() && sent()) {
            take_result(deal_, {result_, std::size_t(count_)}, {own_, std::size_t(count_)}, data_,
                        residual_);
            go(State::done);
        }
        return state_ == State::done;
    }

  private:
    enum class State { adding, counting, telling, gathering, done };

    /// Entries that one rank sends another at most.
    std::int64_t most(int rank) const { return std::min(count_, deal_.owned(rank)); }
    void go(State state) {
        state_ = state;
        ++steps_;
    }
    bool ended() {
        int done = 0;
        MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
        return done != 0;
    }
    bool sent() {
        int done = 0;
        MPI_Testall(ranks_, sent_.data(), &done, MPI_STATUSES_IGNORE);
        return done != 0;
    }

    bool add() {
        const auto own = std::size_t(rank_);
        const std::int64_t first = rank_ == 0 ? 0 : ends_[own - 1];
        return inbox_->take([&](int, const std::byte* come, std::int64_t count) {
            const auto* entries = reinterpret_cast<const Entry*>(come);
            if (come == nullptr)
                add_entries({own_ + first, std::size_t(ends_[own] - first)}, data_);
            else
                add_entries({entries, std::size_t(count)}, data_);
            ++steps_;
        });
    }

    void count_round() {
        std::fill_n(bins_, plan::kSelectionBins, 0);
        deal_.for_blocks(rank_, [&](std::int64_t first, std::int64_t last) {
            selection_.count(data_ + first, last - first, bins_);
        });
        MPI_Iallreduce(MPI_IN_PLACE, bins_, int(plan::kSelectionBins), MPI_INT32_T, MPI_SUM, comm_,
                       &request_);
        go(State::counting);
    }

    void tell_selected() {
        mine_ = count_selected(deal_, rank_, data_, selection_.threshold());
        MPI_Iallgather(&mine_, 2, MPI_INT32_T, all_.data(), 2, MPI_INT32_T, comm_, &request_);
        go(State::telling);
    }

    /// All numbers above the threshold travel, and of those at it the ones of the first ranks.
    void gather() {
        std::int64_t left = selection_.at_threshold(), at_own = 0;
        int place = 0;
        for (std::size_t rank = 0; rank < all_.size(); ++rank) {
            const std::int64_t at = std::min<std::int64_t>(left, all_[rank].at);
            if (int(rank) == rank_) at_own = at;
            left -= at;
            counts_[rank] = all_[rank].above + int(at);
            places_[rank] = place;
            place += counts_[rank];
        }
        take_selected(deal_, rank_, data_, selection_.threshold(), at_own,
                      result_ + places_[std::size_t(rank_)]);
        MPI_Iallgatherv(MPI_IN_PLACE, 0, kEntry, result_, counts_.data(), places_.data(), kEntry,
                        comm_, &request_);
        go(State::gathering);
    }

    MPI_Comm comm_;
    float* data_;
    float* residual_;
    std::int64_t count_;
    Entry* own_;
    Entry* result_;  ///< behind it as much again; before, what comes to be added
    std::int32_t* bins_;
    Selection selection_;
    Deal deal_;
    int rank_ = 0, ranks_ = 1;
    int round_ = 0;
    State state_ = State::done;
    std::optional<PartInbox> inbox_;
    std::vector<std::int64_t> ends_;
    Selected mine_;
    std::vector<Selected> all_;
    std::vector<int> counts_, places_;
    std::vector<bool> receives_;
    std::vector<MPI_Request> sent_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Transfer> make_selected_sum(MPI_Comm comm, const GradientCompression& compression,
                                            float* data, std::int64_t elements) {
    return std::make_unique<SelectedSum>(comm, compression, data, elements);
}

}  // namespace dtnn::runtime::mpi
