#pragma once
/// How the numbers of one exchange travel between ranks that are processes. There is a class for
/// each way: library_reduction (MPI's own calls), ring, rounded_sum, selected_sum. What an exchange
/// is called, its turn among the others, and waiting are the communicator's.

#include <cstdint>
#include <memory>

namespace dtnn::runtime::mpi {

/// The use of the memory (communicator.hpp: all_reduce, reduce_scatter, all_gather_parts).
enum class TransferKind { all_reduce, reduce_scatter, all_gather };

/// Can be started any number of times, once at a time.
class Transfer {
  public:
    Transfer() = default;
    virtual ~Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    /// `number` is the collective's, the same on all ranks.
    virtual void start(std::int64_t number) = 0;
    /// Whether it is done. Moves it on; so must ranks that wait for something else.
    virtual bool advance() = 0;
    /// Steps that have ended since the transfer was made. Nobody but MPI counts the steps of its
    /// own calls: they have none.
    std::int64_t steps() const { return steps_; }

  protected:
    std::int64_t steps_ = 0;
};

}  // namespace dtnn::runtime::mpi
