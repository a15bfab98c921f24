#include <dlfcn.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "runtime/device/cuda/api.hpp"
#include "runtime/device/cuda/library/nccl.hpp"

namespace dtnn::runtime::cuda {
namespace {

constexpr const char* kNccl = "libnccl.so.2";

template <class Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr)
        throw ApiFailure{"dlsym", 0, std::string(kNccl) + " has no " + name, false};
}

ncclDataType_t type_of(DType dtype) {
    if (dtype == DType::f64) return ncclFloat64;
    if (dtype == DType::i64) return ncclInt64;
    return ncclFloat32;
}

}  // namespace

Nccl::Nccl() {
    // It stays loaded: its threads may outlive the communicator.
    void* const library = dlopen(kNccl, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw ApiFailure{"dlopen", 0, dlerror(), false};
    find(library, "ncclGetUniqueId", functions_.get_unique_id);
    find(library, "ncclCommInitRank", functions_.init_rank);
    find(library, "ncclCommDestroy", functions_.destroy);
    find(library, "ncclCommAbort", functions_.abort);
    find(library, "ncclCommGetAsyncError", functions_.get_async_error);
    find(library, "ncclAllReduce", functions_.all_reduce);
    find(library, "ncclReduceScatter", functions_.reduce_scatter);
    find(library, "ncclAllGather", functions_.all_gather);
    find(library, "ncclGetErrorString", functions_.error_string);
    find(library, "ncclGetLastError", functions_.last_error);
}

Nccl::~Nccl() {
    if (communicator_ != nullptr) functions_.destroy(communicator_);
}

void Nccl::check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess) return;
    std::string text = functions_.error_string(result);
    if (const char* more = functions_.last_error(communicator_); more != nullptr && *more != '\0')
        text += std::string(": ") + more;
    throw ApiFailure{call, int(result), text, false};
}

std::vector<std::byte> Nccl::make_id() const {
    ncclUniqueId id;
    check(functions_.get_unique_id(&id), "ncclGetUniqueId");
    std::vector<std::byte> bytes(sizeof id);
    std::memcpy(bytes.data(), &id, sizeof id);
    return bytes;
}

void Nccl::join(std::span<const std::byte> id, int rank, int ranks) {
    ncclUniqueId copy;
    static_assert(std::is_trivially_copyable_v<ncclUniqueId>);
    std::memcpy(&copy, id.data(), sizeof copy);
    rank_ = rank;
    check(functions_.init_rank(&communicator_, ranks, copy, rank), "ncclCommInitRank");
}

void Nccl::exchange(plan::CollectiveKind kind, std::byte* data, std::int64_t count, DType dtype,
                    cudaStream_t stream) const {
    const ncclDataType_t type = type_of(dtype);
    const auto numbers = std::size_t(count);
    std::byte* const own = data + std::int64_t{rank_} * count * size_of(dtype);
    if (kind == plan::CollectiveKind::all_reduce)
        check(functions_.all_reduce(data, data, numbers, type, ncclSum, communicator_, stream),
              "ncclAllReduce");
    else if (kind == plan::CollectiveKind::reduce_scatter)
        check(functions_.reduce_scatter(data, own, numbers, type, ncclSum, communicator_, stream),
              "ncclReduceScatter");
    else
        check(functions_.all_gather(own, data, numbers, type, communicator_, stream),
              "ncclAllGather");
}

void Nccl::check_others() const {
    if (communicator_ == nullptr) return;
    ncclResult_t result = ncclSuccess;
    check(functions_.get_async_error(communicator_, &result), "ncclCommGetAsyncError");
    if (result != ncclInProgress) check(result, "an exchange by NCCL");
}

void Nccl::abort() noexcept {
    if (communicator_ != nullptr) functions_.abort(communicator_);
    communicator_ = nullptr;
}

}  // namespace dtnn::runtime::cuda
