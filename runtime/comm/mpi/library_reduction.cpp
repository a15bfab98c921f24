#include "runtime/comm/mpi/library_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// MPI counts in int. A piece is as much of a reduction as one call takes.
constexpr std::int64_t kPieceElements = std::int64_t(1) << 28;

/// The array's bytes, type and sums as MPI's calls take them.
struct Numbers {
    Numbers(void* memory, std::int64_t count, DType dtype, Reduction reduction,
            const std::string& name)
        : data(static_cast<char*>(memory)),
          elements(count),
          element_bytes(dtype == DType::f32 ? 4 : 8),
          type(type_of(dtype, name)),
          op(reduction == Reduction::sum ? MPI_SUM : MPI_MAX) {}

    char* data;
    std::int64_t elements;
    std::int64_t element_bytes;
    MPI_Datatype type;
    MPI_Op op;
};

/// A whole array on all ranks, piece by piece.
class WholeReduction final : public Transfer {
  public:
    WholeReduction(MPI_Comm comm, const Numbers& numbers)
        : comm_(comm),
          numbers_(numbers),
          requests_(std::size_t((numbers.elements + kPieceElements - 1) / kPieceElements),
                    MPI_REQUEST_NULL) {}

    void start(std::int64_t) override {
        for (std::size_t piece = 0; piece < requests_.size(); ++piece) {
            const std::int64_t first = std::int64_t(piece) * kPieceElements;
            MPI_Iallreduce(MPI_IN_PLACE, numbers_.data + first * numbers_.element_bytes,
                           int(std::min(kPieceElements, numbers_.elements - first)), numbers_.type,
                           numbers_.op, comm_, &requests_[piece]);
        }
    }

    bool advance() override {
        int all = 0;
        MPI_Testall(int(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
        return all != 0;
    }

  private:
    MPI_Comm comm_;
    const Numbers numbers_;
    std::vector<MPI_Request> requests_;  ///< one for each piece
};

/// The ranks' parts, by one call: what MPI takes piece by piece would not be parts.
class PartReduction final : public Transfer {
  public:
    PartReduction(MPI_Comm comm, TransferKind kind, const Numbers& numbers)
        : comm_(comm), kind_(kind), numbers_(numbers) {
        MPI_Comm_rank(comm, &rank_);
    }

    void start(std::int64_t) override {
        const int part = int(numbers_.elements);
        moved_ = kind_ == TransferKind::all_gather || rank_ == 0;
        if (kind_ == TransferKind::reduce_scatter)
            MPI_Ireduce_scatter_block(MPI_IN_PLACE, numbers_.data, part, numbers_.type, numbers_.op,
                                      comm_, &request_);
        else
            MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers_.data, part, numbers_.type,
                           comm_, &request_);
    }

    bool advance() override {
        int done = 0;
        MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
        if (done == 0) return false;
        if (!moved_) {
            // MPI puts the sums where the first part was.
            const std::int64_t bytes = numbers_.elements * numbers_.element_bytes;
            std::memcpy(numbers_.data + rank_ * bytes, numbers_.data, std::size_t(bytes));
            moved_ = true;
        }
        return true;
    }

  private:
    MPI_Comm comm_;
    TransferKind kind_;
    const Numbers numbers_;
    int rank_ = 0;
    bool moved_ = true;  ///< the sums are in this rank's part
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

MPI_Datatype type_of(DType dtype, const std::string& name) {
    if (dtype == DType::f32) return MPI_FLOAT;
    if (dtype == DType::f64) return MPI_DOUBLE;
    if (dtype == DType::i64) return MPI_INT64_T;
    throw RunError(Exit::internal, "all_reduce `" + name + "` is of a type that ranks do not add",
                   "please report this");
}

std::unique_ptr<Transfer> make_library_reduction(MPI_Comm comm, TransferKind kind, void* data,
                                                 std::int64_t elements, DType dtype,
                                                 Reduction reduction, const std::string& name) {
    const Numbers numbers(data, elements, dtype, reduction, name);
    if (kind == TransferKind::all_reduce) return std::make_unique<WholeReduction>(comm, numbers);
    if (elements > INT_MAX)
        throw RunError(Exit::mismatch,
                       fmt::format("the parts of `{}` have {} numbers each, MPI takes {}", name,
                                   elements, INT_MAX),
                       "compile the job again with a smaller parallel.bucket_size");
    return std::make_unique<PartReduction>(comm, kind, numbers);
}

}  // namespace dtnn::runtime::mpi
