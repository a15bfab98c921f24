/// The API on a device: CUDA's runtime, and the kernels of kernels/cuda, which call cuDNN and
/// cuBLASLt.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kernels/cuda/dispatch.hpp"
#include "kernels/cuda/libraries/handles.hpp"
#include "runtime/device/cuda/api.hpp"
#include "runtime/device/cuda/library.hpp"
#include "runtime/device/cuda/library/nccl.hpp"

namespace dtnn::runtime::cuda {
namespace {

void check(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    // An error that is told is not told again by the next call.
    cudaGetLastError();
    throw ApiFailure{call, int(error), cudaGetErrorString(error),
                     error == cudaErrorMemoryAllocation};
}

#define DTNN_CALL(function, ...) check(function(__VA_ARGS__), #function)

/// CUDA's handles are pointers, and ours their numbers.
template <class To, class From>
To handle(From from) {
    return reinterpret_cast<To>(std::uintptr_t(from));
}
template <class To>
To number(const void* from) {
    return To(reinterpret_cast<std::uintptr_t>(from));
}

class Kernel final : public ApiKernel {
  public:
    explicit Kernel(std::unique_ptr<kernels::cuda::BoundDeviceKernel> kernel)
        : kernel_(std::move(kernel)) {}
    void run(Stream stream) override {
        try {
            kernel_->run(handle<cudaStream_t>(stream));
        } catch (const kernels::cuda::LaunchFailed& failed) {
            check(cudaError_t(failed.code), "cudaLaunchKernel");
        } catch (const kernels::cuda::LibraryFailed& failed) {
            throw ApiFailure{failed.call, failed.code, failed.text, false};
        } catch (const kernels::cuda::NoSuchEngine&) {
            throw no_such_engine();
        }
    }

  private:
    std::unique_ptr<kernels::cuda::BoundDeviceKernel> kernel_;
};

class CudaApi final : public Api {
  public:
    explicit CudaApi(int device) { DTNN_CALL(cudaSetDevice, device); }

    std::byte* allocate(std::int64_t bytes) override {
        void* memory = nullptr;
        DTNN_CALL(cudaMalloc, &memory, std::size_t(std::max<std::int64_t>(bytes, 1)));
        return static_cast<std::byte*>(memory);
    }
    void release(std::byte* memory) noexcept override { cudaFree(memory); }
    std::byte* allocate_pinned(std::int64_t bytes) override {
        void* memory = nullptr;
        DTNN_CALL(cudaMallocHost, &memory, std::size_t(std::max<std::int64_t>(bytes, 1)));
        return static_cast<std::byte*>(memory);
    }
    void release_pinned(std::byte* memory) noexcept override { cudaFreeHost(memory); }

    Stream make_stream() override {
        cudaStream_t stream = nullptr;
        DTNN_CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
        return number<Stream>(stream);
    }
    void release(Stream stream) noexcept override {
        cudaStreamDestroy(handle<cudaStream_t>(stream));
    }
    Event make_event() override {
        cudaEvent_t event = nullptr;
        DTNN_CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
        return number<Event>(event);
    }
    void release(Event event) noexcept override { cudaEventDestroy(handle<cudaEvent_t>(event)); }

    void record(Event event, Stream stream) override {
        DTNN_CALL(cudaEventRecord, handle<cudaEvent_t>(event), handle<cudaStream_t>(stream));
    }
    void wait(Stream stream, Event event) override {
        DTNN_CALL(cudaStreamWaitEvent, handle<cudaStream_t>(stream), handle<cudaEvent_t>(event), 0);
    }
    void synchronize(Event event) override {
        if (joined())
            wait_for([&] { return cudaEventQuery(handle<cudaEvent_t>(event)); }, "cudaEventQuery");
        else
            DTNN_CALL(cudaEventSynchronize, handle<cudaEvent_t>(event));
    }
    void synchronize(Stream stream) override {
        if (joined())
            wait_for([&] { return cudaStreamQuery(handle<cudaStream_t>(stream)); },
                     "cudaStreamQuery");
        else
            DTNN_CALL(cudaStreamSynchronize, handle<cudaStream_t>(stream));
    }

    void copy_to_device(std::byte* to, const std::byte* from, std::int64_t bytes,
                        Stream stream) override {
        copy(to, from, bytes, cudaMemcpyHostToDevice, stream);
    }
    void copy_to_host(std::byte* to, const std::byte* from, std::int64_t bytes,
                      Stream stream) override {
        copy(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    }
    void copy_on_device(std::byte* to, const std::byte* from, std::int64_t bytes,
                        Stream stream) override {
        copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    }
    void clear(std::byte* memory, std::int64_t bytes, Stream stream) override {
        DTNN_CALL(cudaMemsetAsync, memory, 0, std::size_t(bytes), handle<cudaStream_t>(stream));
    }

    void begin_capture(Stream stream) override {
        // The threads that prepare batches may call CUDA meanwhile, as may libraries of theirs.
        DTNN_CALL(cudaStreamBeginCapture, handle<cudaStream_t>(stream),
                  cudaStreamCaptureModeThreadLocal);
    }
    Graph end_capture(Stream stream) override {
        cudaGraph_t graph = nullptr;
        DTNN_CALL(cudaStreamEndCapture, handle<cudaStream_t>(stream), &graph);
        cudaGraphExec_t ready = nullptr;
        const cudaError_t error = cudaGraphInstantiate(&ready, graph, 0);
        cudaGraphDestroy(graph);
        check(error, "cudaGraphInstantiate");
        return number<Graph>(ready);
    }
    void launch(Graph graph, Stream stream) override {
        DTNN_CALL(cudaGraphLaunch, handle<cudaGraphExec_t>(graph), handle<cudaStream_t>(stream));
    }
    void release(Graph graph) noexcept override {
        cudaGraphExecDestroy(handle<cudaGraphExec_t>(graph));
    }

    std::vector<std::byte> make_id() override {
        if (!nccl_) nccl_.emplace();
        return nccl_->make_id();
    }
    void join(std::span<const std::byte> id, int rank, int ranks, double seconds) override {
        if (!nccl_) nccl_.emplace();
        limit_ = seconds;
        nccl_->join(id, rank, ranks);
    }
    void exchange(plan::CollectiveKind kind, std::byte* data, std::int64_t count, DType dtype,
                  Stream stream) override {
        nccl_->exchange(kind, data, count, dtype, handle<cudaStream_t>(stream));
    }

    std::unique_ptr<ApiKernel> bind(const kernels::KernelInfo& kernel,
                                    const kernels::Problem& problem,
                                    std::span<const void* const> sources,
                                    std::span<void* const> destinations,
                                    std::span<std::byte> workspace) override {
        // The library has a catalogue of its own, in the same words.
        const kernels::KernelInfo* const own = kernels::find_kernel(kernel.op, kernel.name, "cuda");
        if (own == nullptr) return nullptr;
        auto bound = kernels::cuda::bind(*own, problem, sources, destinations, workspace);
        if (!bound) return nullptr;
        return std::make_unique<Kernel>(std::move(bound));
    }

  private:
    bool joined() const { return nccl_ && nccl_->joined(); }

    /// Waits for what may wait for other ranks: no longer than the limit, and not when one of them
    /// has failed.
    template <class Query>
    void wait_for(const Query& query, const char* call) {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        for (std::int64_t turn = 0;; ++turn) {
            const cudaError_t state = query();
            if (state == cudaSuccess) return;
            if (state != cudaErrorNotReady) check(state, call);
            // Most waits are short.
            if (turn < 1000) continue;
            const std::chrono::duration<double> waited = Clock::now() - begin;
            try {
                nccl_->check_others();
                if (limit_ > 0 && waited.count() > limit_)
                    throw ApiFailure{"an exchange by NCCL", 0,
                                     "other ranks have not come within parallel.timeout_seconds",
                                     false};
            } catch (const ApiFailure&) {
                nccl_->abort();
                throw;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(waited.count() < 0.1 ? 20 : 500));
        }
    }

    static void copy(std::byte* to, const std::byte* from, std::int64_t bytes, cudaMemcpyKind kind,
                     Stream stream) {
        DTNN_CALL(cudaMemcpyAsync, to, from, std::size_t(bytes), kind,
                  handle<cudaStream_t>(stream));
    }

    std::optional<Nccl> nccl_;  // where ranks have met
    double limit_ = 0;
};

}  // namespace

extern "C" int dtnn_cuda_version() {
    return kLibraryVersion;
}

/// The entry `dtnn_cuda_open` of library.hpp.
extern "C" Api* dtnn_cuda_open(int local_rank, kernels::cuda::PlanStore* store) {
    int count = 0;
    DTNN_CALL(cudaGetDeviceCount, &count);
    if (count == 0)
        throw ApiFailure{"cudaGetDeviceCount", int(cudaErrorNoDevice),
                         cudaGetErrorString(cudaErrorNoDevice), false};
    // A launcher that binds devices to ranks shows each rank its own.
    if (count > 1 && local_rank >= count)
        throw ApiFailure{"cudaSetDevice", int(cudaErrorInvalidDevice),
                         "more ranks on this machine than devices", false};
    kernels::cuda::keep_plans_in(store);
    return new CudaApi(count == 1 ? 0 : local_rank);
}

}  // namespace dtnn::runtime::cuda
