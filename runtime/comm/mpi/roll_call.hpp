#pragma once
/// Who is missing: ranks ask each other, over a communicator of their own, how far they are.

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dtnn::runtime::mpi {

/// The newest collective that a rank has begun.
struct Position {
    std::int64_t number = 0;
    char what[120] = {};  ///< "all_reduce number 41 `gradients_2`"
};

/// Ranks answer each other whenever answer() is called: in every wait, and in progress().
class RollCall {
  public:
    /// All ranks call it: MPI_Comm_dup.
    RollCall();
    RollCall(const RollCall&) = delete;
    RollCall& operator=(const RollCall&) = delete;

    /// Answers a rank that asks, if one does. Cheap.
    void answer(const Position& mine);

    /// Asks all others. Their answers come in with heard().
    void ask();
    /// Whether all have answered.
    bool heard();
    /// Which rank has answered since ask(), and what; number -1: it has not.
    const std::vector<Position>& positions() const { return positions_; }

    /// In good order: nothing may be under way. All ranks call it.
    void close();

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Request question_ = MPI_REQUEST_NULL;  ///< the next question from whomever
    int asked_ = 0;                            ///< what it says: nothing
    Position reply_;
    MPI_Request reply_sent_ = MPI_REQUEST_NULL;
    std::vector<Position> positions_;
    std::vector<MPI_Request> answers_, questions_;
};

}  // namespace dtnn::runtime::mpi
