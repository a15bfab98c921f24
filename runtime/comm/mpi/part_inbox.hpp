#pragma once
/// The parts that all other ranks send an owner, taken in the order of the ranks into places of one
/// size, as many as there is memory for.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dtnn::runtime::mpi {

class PartInbox {
  public:
    /// `memory` has room for as many `units` of the type, of `unit_bytes`, twice; less than a unit
    /// that never comes is a part without numbers.
    PartInbox(MPI_Comm comm, MPI_Datatype type, std::int64_t unit_bytes, std::byte* memory,
              std::int64_t memory_bytes, std::int64_t units)
        : comm_(comm), type_(type), unit_bytes_(unit_bytes), memory_(memory), units_(units) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        const std::int64_t others = units > 0 ? ranks_ - 1 : 0;
        const std::int64_t fit = units > 0 ? memory_bytes / (units * unit_bytes) : 0;
        requests_.assign(std::size_t(std::min(others, fit)), MPI_REQUEST_NULL);
    }

    void start(int tag) {
        tag_ = tag;
        taken_ = 0;
        for (std::size_t i = 0; i < requests_.size(); ++i)
            post(int(i));
    }

    /// Calls add(rank, memory, units) for each rank that has come to its turn, this one included
    /// (without memory). Whether all have.
    template <typename Add>
    bool take(Add add) {
        if (units_ == 0) return true;
        while (taken_ < ranks_) {
            if (taken_ == rank_) {
                add(taken_++, nullptr, std::int64_t{0});
                continue;
            }
            const int other = other_of(taken_);
            int come = 0;
            MPI_Status status;
            MPI_Test(&requests_[slot_of(other)], &come, &status);
            if (come == 0) return false;
            int units = 0;
            MPI_Get_count(&status, type_, &units);
            add(taken_++, place_of(other), std::int64_t{units});
            const int next = other + int(requests_.size());
            if (next < ranks_ - 1) post(next);
        }
        return true;
    }

  private:
    /// Others are numbered without this rank.
    int other_of(int rank) const { return rank < rank_ ? rank : rank - 1; }
    int rank_of(int other) const { return other < rank_ ? other : other + 1; }
    std::size_t slot_of(int other) const { return std::size_t(other) % requests_.size(); }
    std::byte* place_of(int other) const {
        return memory_ + std::int64_t(slot_of(other)) * units_ * unit_bytes_;
    }
    void post(int other) {
        MPI_Irecv(place_of(other), int(units_), type_, rank_of(other), tag_, comm_,
                  &requests_[slot_of(other)]);
    }

    MPI_Comm comm_;
    MPI_Datatype type_;
    std::int64_t unit_bytes_;
    std::byte* memory_;
    std::int64_t units_;
    int rank_ = 0, ranks_ = 1;
    int tag_ = 0;
    int taken_ = 0;  ///< ranks whose turn was
    std::vector<MPI_Request> requests_;
};

/// The first of two tags that nothing else under way has.
inline int first_tag(std::int64_t number) {
    return int(number % 4096) * 2;
}

}  // namespace dtnn::runtime::mpi
