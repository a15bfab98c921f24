#pragma once
/// The search for missing ranks: they ask each other, over a communicator of their own, how far
/// they are.

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/comm/missing_ranks.hpp"

namespace dtnn::runtime::mpi {

/// Ranks answer each other whenever answer() is called: in every wait, and in progress().
class RankInquiry {
  public:
    /// All ranks call it: MPI_Comm_dup.
    RankInquiry();
    RankInquiry(const RankInquiry&) = delete;
    RankInquiry& operator=(const RankInquiry&) = delete;

    /// Answers a rank that asks, if one does. Cheap. Whoever asks who is to report gets the rank
    /// that has asked this one first, or, where this rank's own time is nearly over (`late`), this
    /// rank.
    void answer(const Standing& mine, const Begun& begun, bool late);

    /// Asks one other, or all, about the collective of this number; with `report` who is to report.
    /// Their answers come in with heard().
    void ask(int rank, std::int64_t number, bool report);
    void ask_all(std::int64_t number);
    /// Takes what has come. Whether all that were asked have answered.
    bool heard();
    /// The answers of ranks since they were asked last; newest.number -1: none.
    const std::vector<Standing>& standings() const { return standings_; }

    /// The rank that reports, as far as this one knows; -1: nobody has asked it.
    int reporter() const { return reporter_; }
    void set_reporter(int rank) { reporter_ = rank; }

    /// In good order: nothing may be under way. All ranks call it.
    void close();

  private:
    struct Question {
        std::int64_t number = 0;
        std::int64_t report = 0;
    };

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int reporter_ = -1;
    MPI_Request question_ = MPI_REQUEST_NULL;  ///< the next question from whomever
    Question asked_;
    Standing reply_;
    MPI_Request reply_sent_ = MPI_REQUEST_NULL;
    std::vector<Standing> standings_;
    std::vector<Question> asking_;
    std::vector<MPI_Request> answers_, questions_;
};

}  // namespace dtnn::runtime::mpi
