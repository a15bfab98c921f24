#pragma once
/// The operations by which ranks meet. One interface, several ways: `self` (one rank), `null` (dry
/// runs of any size), MPI (a shared library of ours, loaded only when a job has more than one
/// rank), and for tests ranks that are threads (tests/ranks/threads).
///
/// All ranks call the same operations in the same order. An operation that waits longer than the
/// time limit for the others throws RunError(Exit::failed) that names the operation and the ranks
/// that have not come. No call but those of the constructor, those that bind exchanges,
/// `all_gather` and `gather` allocates memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/base/exchange.hpp"

namespace dtnn::runtime {

/// How the gradients of an exchange are compressed on their way, and the memory that this takes
/// (plan/rules/compression.hpp). All ranks give the same form and density.
struct GradientCompression {
    plan::Compression form = plan::Compression::bf16;  ///< not full
    double density = 0;  ///< top_k: the share of the numbers that travels
    /// top_k: what this rank still owes, as many numbers as the exchange has.
    float* residual = nullptr;
    std::span<std::byte>
        scratch;  ///< plan::compression_scratch_bytes of them, used between start and end
};

enum class Reduction { sum, maximum };

constexpr std::size_t kGatherPiece = std::size_t(1) << 20;
using TakePiece = std::function<void(int rank, std::span<const std::byte> piece)>;

/// Calls `take` with the bytes of a rank that lie in memory, piece by piece.
inline void take_pieces(int rank, std::span<const std::byte> bytes, const TakePiece& take) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(kGatherPiece, bytes.size())))
        take(rank, bytes.first(std::min(kGatherPiece, bytes.size())));
}

class Communicator {
  public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int ranks() const = 0;
    /// For messages: "rank 3 (node17, process 4242)"; of `self` "this process".
    virtual std::string name_of(int rank) const = 0;

    /// Binds a reduction of `elements` numbers (f32, f64, i64): they become those of all ranks
    /// together. `name` is what messages call it.
    /// The memory outlives the result, which must not outlive the communicator.
    virtual std::unique_ptr<Exchange> all_reduce(void* data, std::int64_t elements, DType dtype,
                                                 Reduction reduction, const std::string& name) = 0;

    /// Likewise a sum of f32, which are compressed on their way. Every rank has the same bits,
    /// which do not depend on time: numbers are added in the order of the ranks. With one rank
    /// nothing travels, and nothing changes. All ranks bind such exchanges in the same order.
    virtual std::unique_ptr<Exchange> all_reduce_compressed(const GradientCompression& compression,
                                                            float* data, std::int64_t elements,
                                                            const std::string& name) = 0;

    /// Likewise a sum of ranks() parts of `part` numbers each, one after the other: the rank's own
    /// part becomes the sum over all ranks, the others hold anything.
    virtual std::unique_ptr<Exchange> reduce_scatter(void* data, std::int64_t part, DType dtype,
                                                     const std::string& name) = 0;
    /// Likewise a gather of such parts: every part becomes what its own rank has there.
    virtual std::unique_ptr<Exchange> all_gather_parts(void* data, std::int64_t part, DType dtype,
                                                       const std::string& name) = 0;

    /// Moves what is under way on. Called between steps; cheap when nothing is.
    virtual void progress() {}

    /// Gathers what every rank gives, by rank. Sizes may differ. Waits for all.
    virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                           const std::string& name) = 0;
    /// Every rank's bytes come to rank 0, and nowhere else: `take` is called there, rank after
    /// rank, rank 0's own first, with pieces of at most kGatherPiece bytes in their order. Sizes
    /// may differ. Takes the memory of one piece on rank 0, and of 8 bytes for each rank. Waits for
    /// all.
    virtual void gather(std::span<const std::byte> mine, const std::string& name,
                        const TakePiece& take) = 0;
    /// Rank `root`'s bytes on all ranks; all give the same size.
    virtual void broadcast(std::span<std::byte> bytes, int root, const std::string& name) = 0;
    virtual void barrier(const std::string& name) = 0;

    /// Ends the whole job because this rank has failed: the others end with this code within
    /// seconds. The caller has printed why. Does not return where ranks are processes.
    virtual void abort(int code, const std::string& reason) = 0;

    /// From now on; 0: no limit.
    virtual void set_time_limit(double seconds) = 0;
};

/// One rank: everything is done at once and changes nothing.
std::unique_ptr<Communicator> make_self();

}  // namespace dtnn::runtime
