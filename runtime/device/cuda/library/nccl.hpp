#pragma once
/// NCCL, opened when ranks meet: a run of one rank does not need it.

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime::cuda {

/// A communicator of ranks with a device each. Errors are ApiFailures.
class Nccl {
  public:
    /// Opens the library.
    Nccl();
    ~Nccl();
    Nccl(const Nccl&) = delete;
    Nccl& operator=(const Nccl&) = delete;

    /// The identity that ranks meet by: one of them makes it.
    std::vector<std::byte> make_id() const;
    /// Together, on the current device.
    void join(std::span<const std::byte> id, int rank, int ranks);
    bool joined() const { return communicator_ != nullptr; }

    /// In place; numbers and parts as in Device::bind_exchange.
    void exchange(plan::CollectiveKind kind, std::byte* data, std::int64_t count, DType dtype,
                  cudaStream_t stream) const;

    /// Throws what has gone wrong at this rank or at another since.
    void check_others() const;
    /// Ends what is under way, which waits for a rank that does not come.
    void abort() noexcept;

  private:
    /// Throws what the call has answered.
    void check(ncclResult_t result, const char* call) const;

    struct Functions {
        decltype(&ncclGetUniqueId) get_unique_id;
        decltype(&ncclCommInitRank) init_rank;
        decltype(&ncclCommDestroy) destroy;
        decltype(&ncclCommAbort) abort;
        decltype(&ncclCommGetAsyncError) get_async_error;
        decltype(&ncclAllReduce) all_reduce;
        decltype(&ncclReduceScatter) reduce_scatter;
        decltype(&ncclAllGather) all_gather;
        decltype(&ncclGetErrorString) error_string;
        decltype(&ncclGetLastError) last_error;
    };
    Functions functions_{};
    ncclComm_t communicator_ = nullptr;
    int rank_ = 0;
};

}  // namespace dtnn::runtime::cuda
