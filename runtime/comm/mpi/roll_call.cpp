#include "runtime/comm/mpi/roll_call.hpp"

namespace dtnn::runtime::mpi {
namespace {

constexpr int kQuestion = 1;
constexpr int kAnswer = 2;

}  // namespace

RollCall::RollCall() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    int ranks = 0;
    MPI_Comm_size(comm_, &ranks);
    positions_.resize(std::size_t(ranks));
    answers_.assign(std::size_t(ranks), MPI_REQUEST_NULL);
    questions_.assign(std::size_t(ranks), MPI_REQUEST_NULL);
    MPI_Irecv(&asked_, 1, MPI_INT, MPI_ANY_SOURCE, kQuestion, comm_, &question_);
}

void RollCall::answer(const Position& mine) {
    int sent = 0;
    // One answer at a time: its memory belongs to MPI until it is sent.
    MPI_Test(&reply_sent_, &sent, MPI_STATUS_IGNORE);
    if (sent == 0) return;
    int come = 0;
    MPI_Status status;
    MPI_Test(&question_, &come, &status);
    if (come == 0) return;
    reply_ = mine;
    MPI_Isend(&reply_, int(sizeof reply_), MPI_BYTE, status.MPI_SOURCE, kAnswer, comm_,
              &reply_sent_);
    MPI_Irecv(&asked_, 1, MPI_INT, MPI_ANY_SOURCE, kQuestion, comm_, &question_);
}

void RollCall::ask() {
    static const int nothing = 0;
    int me = 0;
    MPI_Comm_rank(comm_, &me);
    for (int rank = 0; rank < int(positions_.size()); ++rank) {
        Position& position = positions_[std::size_t(rank)];
        position = {};
        position.number = -1;
        if (rank == me) continue;
        MPI_Irecv(&position, int(sizeof position), MPI_BYTE, rank, kAnswer, comm_,
                  &answers_[std::size_t(rank)]);
        MPI_Isend(&nothing, 1, MPI_INT, rank, kQuestion, comm_, &questions_[std::size_t(rank)]);
    }
}

bool RollCall::heard() {
    int all = 0;
    MPI_Testall(int(questions_.size()), questions_.data(), &all, MPI_STATUSES_IGNORE);
    MPI_Testall(int(answers_.size()), answers_.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
}

void RollCall::close() {
    MPI_Cancel(&question_);
    MPI_Request_free(&question_);
    MPI_Comm_free(&comm_);
}

}  // namespace dtnn::runtime::mpi
