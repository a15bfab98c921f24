#pragma once
/// The calls by which a CUDA device asks CUDA and NVIDIA's libraries. libdtnn_cuda.so answers on a
/// device (cuda/library/), tests/gpu on the host, where every call is written down and looked at.
///
/// Streams, events and graphs are numbers that the API hands out. What is put on a stream is done
/// in its order, later; streams wait for each other by events alone. Every call may throw
/// ApiFailure.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/catalogue.hpp"
#include "plan/plan.hpp"

namespace dtnn::runtime::cuda {

enum class Stream : std::uint64_t { none };
enum class Event : std::uint64_t { none };
enum class Graph : std::uint64_t { none };

/// A call, or work that an earlier one has put on the device, has failed.
struct ApiFailure {
    std::string call;            ///< "cudaMalloc"
    int code = 0;                ///< the library's
    std::string text;            ///< its words for it
    bool out_of_memory = false;  ///< of the device
    /// A step asks for an engine that its library does not have (kernels::KernelInfo::library).
    bool no_such_engine = false;
};

inline ApiFailure no_such_engine() {
    return {"the choice of an engine", 0, "the library has not so many for this", false, true};
}

/// A kernel with its operands.
class ApiKernel {
  public:
    virtual ~ApiKernel() = default;
    /// The first run of a kernel may allocate, so that it must be outside of a capture.
    virtual void run(Stream stream) = 0;
};

class Api {
  public:
    virtual ~Api() = default;

    /// Memory of the device, aligned to 256 bytes, holding anything.
    virtual std::byte* allocate(std::int64_t bytes) = 0;
    virtual void release(std::byte* memory) noexcept = 0;
    /// Memory of the host that copies are quick from and to.
    virtual std::byte* allocate_pinned(std::int64_t bytes) = 0;
    virtual void release_pinned(std::byte* memory) noexcept = 0;

    virtual Stream make_stream() = 0;
    virtual void release(Stream stream) noexcept = 0;
    virtual Event make_event() = 0;
    virtual void release(Event event) noexcept = 0;

    /// The event happens when what is on the stream by now is done.
    virtual void record(Event event, Stream stream) = 0;
    /// Makes what is put on the stream from now on begin when the event, as it was recorded last,
    /// has happened; at once if it never was.
    virtual void wait(Stream stream, Event event) = 0;
    /// The host waits.
    virtual void synchronize(Event event) = 0;
    virtual void synchronize(Stream stream) = 0;

    /// The host's memory is pinned, and is left alone until the copy is done.
    virtual void copy_to_device(std::byte* to, const std::byte* from, std::int64_t bytes,
                                Stream stream) = 0;
    virtual void copy_to_host(std::byte* to, const std::byte* from, std::int64_t bytes,
                              Stream stream) = 0;
    virtual void copy_on_device(std::byte* to, const std::byte* from, std::int64_t bytes,
                                Stream stream) = 0;
    virtual void clear(std::byte* memory, std::int64_t bytes, Stream stream) = 0;

    /// Begins a capture: what is put on the stream until the end, and on streams that wait for it,
    /// is not done but becomes a graph; these streams are waited for by the first before the end.
    /// Meanwhile nothing is allocated or waited for by the host.
    virtual void begin_capture(Stream stream) = 0;
    virtual Graph end_capture(Stream stream) = 0;
    virtual void launch(Graph graph, Stream stream) = 0;
    virtual void release(Graph graph) noexcept = 0;

    /// Joins other ranks, each with a device of its own: together, by what one of them has made.
    /// From now on the host waits at most `seconds` (0: for ever), and what goes wrong at another
    /// rank ends its waiting.
    virtual std::vector<std::byte> make_id() = 0;
    virtual void join(std::span<const std::byte> id, int rank, int ranks, double seconds) = 0;
    /// In place, on all ranks in the same order; numbers and parts as in Device::bind_exchange.
    virtual void exchange(plan::CollectiveKind kind, std::byte* data, std::int64_t count,
                          DType dtype, Stream stream) = 0;

    /// Null where the kernel is not built into the library, or cannot do the problem. Throws
    /// kernels::MissingAttribute.
    virtual std::unique_ptr<ApiKernel> bind(const kernels::KernelInfo& kernel,
                                            const kernels::Problem& problem,
                                            std::span<const void* const> sources,
                                            std::span<void* const> destinations,
                                            std::span<std::byte> workspace) = 0;
};

/// A stream, an event or a graph that is given back at the end of its life.
template <class Handle>
class Owned {
  public:
    Owned() = default;
    Owned(Api& api, Handle handle) : api_(&api), handle_(handle) {}
    ~Owned() { reset(); }
    Owned(Owned&& other) noexcept : api_(other.api_), handle_(other.handle_) {
        other.handle_ = Handle::none;
    }
    Owned& operator=(Owned&& other) noexcept {
        if (this == &other) return *this;
        reset();
        api_ = other.api_;
        handle_ = other.handle_;
        other.handle_ = Handle::none;
        return *this;
    }

    Handle get() const { return handle_; }
    explicit operator bool() const { return handle_ != Handle::none; }
    void reset() noexcept {
        if (handle_ != Handle::none) api_->release(handle_);
        handle_ = Handle::none;
    }

  private:
    Api* api_ = nullptr;
    Handle handle_ = Handle::none;
};

}  // namespace dtnn::runtime::cuda
