#include "runtime/comm/mpi/rank_inquiry.hpp"

namespace dtnn::runtime::mpi {
namespace {

constexpr int kQuestion = 1;
constexpr int kAnswer = 2;

}  // namespace

RankInquiry::RankInquiry() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    int ranks = 0;
    MPI_Comm_size(comm_, &ranks);
    MPI_Comm_rank(comm_, &rank_);
    standings_.resize(std::size_t(ranks));
    asking_.resize(std::size_t(ranks));
    answers_.assign(std::size_t(ranks), MPI_REQUEST_NULL);
    questions_.assign(std::size_t(ranks), MPI_REQUEST_NULL);
    MPI_Irecv(&asked_, int(sizeof asked_), MPI_BYTE, MPI_ANY_SOURCE, kQuestion, comm_, &question_);
}

void RankInquiry::answer(const Standing& mine, const Begun& begun, bool late) {
    int sent = 0;
    // One answer at a time: its memory belongs to MPI until it is sent.
    MPI_Test(&reply_sent_, &sent, MPI_STATUS_IGNORE);
    if (sent == 0) return;
    int come = 0;
    MPI_Status status;
    MPI_Test(&question_, &come, &status);
    if (come == 0) return;
    if (asked_.report != 0 && reporter_ < 0) reporter_ = late ? rank_ : status.MPI_SOURCE;
    reply_ = mine;
    reply_.reporter = reporter_;
    reply_.begun = begun.at(asked_.number);
    MPI_Isend(&reply_, int(sizeof reply_), MPI_BYTE, status.MPI_SOURCE, kAnswer, comm_,
              &reply_sent_);
    MPI_Irecv(&asked_, int(sizeof asked_), MPI_BYTE, MPI_ANY_SOURCE, kQuestion, comm_, &question_);
}

void RankInquiry::ask(int rank, std::int64_t number, bool report) {
    const auto at = std::size_t(rank);
    // One that was asked before and has not answered is not asked again: its answer may still come.
    if (answers_[at] != MPI_REQUEST_NULL) return;
    standings_[at] = {};
    standings_[at].newest.number = -1;
    asking_[at] = {number, report ? 1 : 0};
    MPI_Irecv(&standings_[at], int(sizeof standings_[at]), MPI_BYTE, rank, kAnswer, comm_,
              &answers_[at]);
    MPI_Isend(&asking_[at], int(sizeof asking_[at]), MPI_BYTE, rank, kQuestion, comm_,
              &questions_[at]);
}

void RankInquiry::ask_all(std::int64_t number) {
    for (int rank = 0; rank < int(standings_.size()); ++rank)
        if (rank != rank_) ask(rank, number, false);
}

bool RankInquiry::heard() {
    int all = 0;
    MPI_Testall(int(questions_.size()), questions_.data(), &all, MPI_STATUSES_IGNORE);
    // One by one: those that have answered may be asked again while others are silent.
    bool complete = true;
    for (MPI_Request& answer : answers_) {
        int come = 0;
        MPI_Test(&answer, &come, MPI_STATUS_IGNORE);
        complete = complete && come != 0;
    }
    return complete;
}

void RankInquiry::close() {
    MPI_Cancel(&question_);
    MPI_Request_free(&question_);
    MPI_Comm_free(&comm_);
}

}  // namespace dtnn::runtime::mpi
