#pragma once
/// A large reduction as a ring: every rank adds to what comes from the rank before it and passes it
/// on, in blocks that stay in the caches.
///
/// MPI's own nonblocking reduction takes memory as large as the array each time, which the system
/// clears page by page, and adds without vector instructions. This one takes its memory once. Sums
/// are added along the ring, each by one rank for all: the same bits on all ranks, in every run.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi/transfer.hpp"

namespace dtnn::runtime::mpi {

/// Arrays of fewer bytes are MPI's: a ring of p ranks takes 2 (p - 1) messages one after another.
constexpr std::int64_t kRingBytes = 256 << 10;
constexpr int kRingRanks = 16;

class Ring final : public Transfer {
  public:
    /// `comm` carries nothing but rings and compressed sums. `elements` are those of the array, or
    /// of one rank's part.
    Ring(MPI_Comm comm, TransferKind kind, void* data, std::int64_t elements, DType dtype,
         Reduction reduction);

    void start(std::int64_t number) override;
    bool advance() override;

  private:
    /// A block under way. There are several, so that one is added while another travels.
    struct Slot {
        std::int64_t first = 0, count = 0;  ///< elements of the array, or of every part
        int step = -1;  ///< one of 2 (ranks - 1) steps, or of half as many; -1: none
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        std::vector<std::byte> come;  ///< a chunk, to be added
    };
    struct Chunk {
        char* data = nullptr;
        std::int64_t count = 0;
    };

    bool advance(Slot& slot, int tag);
    /// Slot i has blocks i, i + slots, ... on every rank, whichever of them end first.
    void begin_block(Slot& slot, std::int64_t first, int tag);
    void post(Slot& slot, int tag);
    void add(Slot& slot);
    /// One of as many chunks of a block as there are ranks, or the block of a part; any whole
    /// index.
    Chunk chunk(const Slot& slot, int index) const;

    MPI_Comm comm_;
    TransferKind kind_;
    int first_step_ = 0, last_step_ = 0;
    int shift_ = 0;  ///< to the chunk that a rank has added up, from the one behind its own
    int rank_ = 0;
    int ranks_ = 1;
    char* data_;
    std::int64_t elements_;
    std::int64_t element_bytes_;
    std::int64_t block_;  ///< elements
    DType dtype_;
    MPI_Datatype type_;
    Reduction reduction_;
    int tag_ = 0;
    std::array<Slot, 2> slots_;
};

}  // namespace dtnn::runtime::mpi
