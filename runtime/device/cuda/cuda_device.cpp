#include "runtime/device/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/quantity_text.hpp"
#include "plan/rules/memory_need.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime::cuda {
namespace {

/// The bytes that the host reads and writes at once of memory that is not an input or output.
constexpr std::int64_t kPiece = plan::kCopiedAtOnce;

std::string text_of(const ApiFailure& failure) {
    return fmt::format("{} failed: {} ({})", failure.call, failure.text, failure.code);
}

std::string help_of(const ApiFailure& failure) {
    if (failure.no_such_engine)
        return "the plan was tuned with other versions of NVIDIA's libraries: tune it here, or "
               "compile it again";
    if (failure.out_of_memory)
        return "others may use the device: see what nvidia-smi lists; or take a smaller batch_size";
    return "the log of the machine (dmesg, nvidia-smi -q) may say more; try another device";
}

/// Does what f does; the failure of a call is a RunError.
template <class F>
auto guarded(const F& f) {
    try {
        return f();
    } catch (const ApiFailure& failure) {
        throw RunError(Exit::failed, "the device: " + text_of(failure), help_of(failure));
    }
}

/// Does what f does; the failure of a call is one of the step that is run.
template <class F>
void as_step(const F& f) {
    try {
        f();
    } catch (const ApiFailure& failure) {
        throw DeviceError{failure.no_such_engine ? Exit::mismatch : Exit::failed, text_of(failure),
                          help_of(failure), failure.no_such_engine};
    }
}

class PinnedMemory {
  public:
    PinnedMemory() = default;
    PinnedMemory(Api& api, std::int64_t bytes)
        : api_(&api), data_(bytes > 0 ? api.allocate_pinned(bytes) : nullptr) {}
    ~PinnedMemory() { reset(); }
    PinnedMemory(PinnedMemory&& other) noexcept
        : api_(other.api_), data_(std::exchange(other.data_, nullptr)) {}
    PinnedMemory& operator=(PinnedMemory&& other) noexcept {
        if (this == &other) return *this;
        reset();
        api_ = other.api_;
        data_ = std::exchange(other.data_, nullptr);
        return *this;
    }
    std::byte* data() const { return data_; }

  private:
    void reset() noexcept {
        if (data_ != nullptr) api_->release_pinned(data_);
    }
    Api* api_ = nullptr;
    std::byte* data_ = nullptr;
};

/// The streams that the programs of a device share.
struct Streams {
    explicit Streams(Api& api)
        : compute(api, api.make_stream()),
          copies(api, api.make_stream()),
          exchanges(api, api.make_stream()),
          arrived(api, api.make_event()),
          taken(api, api.make_event()) {}

    Owned<Stream> compute, copies, exchanges;
    Owned<Event> arrived;  ///< the inputs of a run, in the room
    Owned<Event> taken;    ///< from there
    /// The bytes that go to the room, laid out like it; made with the first program.
    PinnedMemory mirror;
};

class CudaStep final : public DeviceStep {
  public:
    CudaStep(std::unique_ptr<ApiKernel> kernel, Stream stream)
        : kernel_(std::move(kernel)), stream_(stream) {}
    void run() override {
        as_step([&] { kernel_->run(stream_); });
    }

  private:
    std::unique_ptr<ApiKernel> kernel_;
    Stream stream_;
};

/// Starts behind the steps before it, on the stream of exchanges, and is waited for by the steps
/// behind it; the host waits for nothing.
class CudaExchange final : public Exchange {
  public:
    CudaExchange(Api& api, Streams& streams, plan::CollectiveKind kind, std::byte* data,
                 std::int64_t count, DType dtype)
        : api_(api),
          streams_(streams),
          kind_(kind),
          data_(data),
          count_(count),
          dtype_(dtype),
          ready_(api, api.make_event()),
          done_(api, api.make_event()) {}
    void start() override {
        as_step([&] {
            const Stream exchanges = streams_.exchanges.get();
            api_.record(ready_.get(), streams_.compute.get());
            api_.wait(exchanges, ready_.get());
            api_.exchange(kind_, data_, count_, dtype_, exchanges);
            api_.record(done_.get(), exchanges);
        });
    }
    void wait() override {
        as_step([&] { api_.wait(streams_.compute.get(), done_.get()); });
    }

  private:
    Api& api_;
    Streams& streams_;
    plan::CollectiveKind kind_;
    std::byte* data_;
    std::int64_t count_;
    DType dtype_;
    Owned<Event> ready_, done_;
};

class CudaProgram final : public DeviceProgram {
  public:
    CudaProgram(Api& api, Streams& streams, std::vector<Transfer> inputs,
                std::vector<Transfer> outputs, const std::byte* room, std::function<void()> steps)
        : api_(api),
          streams_(streams),
          inputs_(std::move(inputs)),
          outputs_(std::move(outputs)),
          steps_(std::move(steps)) {
        for (const Transfer& input : inputs_)
            mirrors_.push_back(streams.mirror.data() + (input.ahead - room));
        std::int64_t size = 0;
        for (const Transfer& output : outputs_) {
            places_.push_back(size);
            size += (output.bytes + 63) / 64 * 64;
        }
        host_.resize(std::size_t(size));
        for (Arrival& arrival : arrivals_) {
            arrival.memory = PinnedMemory(api, size);
            arrival.done = Owned<Event>(api, api.make_event());
        }
    }
    ~CudaProgram() override {
        // Whatever is under way uses the program's memory.
        try {
            api_.synchronize(streams_.compute.get());
        } catch (const ApiFailure&) {
            // A device that has failed runs nothing.
        }
    }
    CudaProgram(const CudaProgram&) = delete;
    CudaProgram& operator=(const CudaProgram&) = delete;

    std::byte* input(std::size_t i) override { return mirrors_[i]; }
    std::byte* output(std::size_t i) override { return host_.data() + places_[i]; }

    void run() override {
        put(true, [this] { put_steps(); });
    }
    void run(const std::function<void()>& steps) override { put(true, steps); }
    void run_again() override {
        put(false, [this] { put_steps(); });
    }

    void wait() override {
        guarded([&] {
            const Arrival& arrival = arrivals_[(next_ - under_way_) % kRunsAhead];
            api_.synchronize(arrival.done.get());
            std::copy_n(arrival.memory.data(), host_.size(), host_.data());
        });
        --under_way_;
    }

  private:
    /// Outputs of a run that is under way.
    struct Arrival {
        PinnedMemory memory;
        Owned<Event> done;
    };

    /// One by one at first, then as a graph.
    void put_steps() {
        if (!ran_) {
            steps_();
            ran_ = true;
            return;
        }
        if (!graph_) graph_ = captured();
        api_.launch(graph_.get(), streams_.compute.get());
    }

    void put(bool with_inputs, const std::function<void()>& steps) {
        const bool copies_inputs = with_inputs && !inputs_.empty();
        if (under_way_ == kRunsAhead)
            throw RunError(Exit::internal, "more runs of a program are under way than may be");
        guarded([&] {
            const Stream compute = streams_.compute.get(), copies = streams_.copies.get();
            if (copies_inputs) {
                api_.wait(copies, streams_.taken.get());
                for (std::size_t i = 0; i < inputs_.size(); ++i)
                    api_.copy_to_device(inputs_[i].ahead, mirrors_[i], inputs_[i].bytes, copies);
                api_.record(streams_.arrived.get(), copies);
                api_.wait(compute, streams_.arrived.get());
                for (const Transfer& input : inputs_)
                    api_.copy_on_device(input.memory, input.ahead, input.bytes, compute);
                api_.record(streams_.taken.get(), compute);
            }
            steps();
            const Arrival& arrival = arrivals_[next_ % kRunsAhead];
            for (std::size_t i = 0; i < outputs_.size(); ++i)
                api_.copy_to_host(arrival.memory.data() + places_[i], outputs_[i].memory,
                                  outputs_[i].bytes, compute);
            api_.record(arrival.done.get(), compute);
            ++next_;
            ++under_way_;
            // The mirror may be written again.
            if (copies_inputs) api_.synchronize(streams_.arrived.get());
        });
    }

    Owned<Graph> captured() {
        const Stream compute = streams_.compute.get();
        api_.begin_capture(compute);
        try {
            steps_();
        } catch (...) {
            // The stream is of use again only behind the end of its capture.
            try {
                Owned<Graph>(api_, api_.end_capture(compute));
            } catch (const ApiFailure&) {
                // The failure before is what is told.
            }
            throw;
        }
        return Owned<Graph>(api_, api_.end_capture(compute));
    }

    Api& api_;
    Streams& streams_;
    std::vector<Transfer> inputs_, outputs_;
    std::vector<std::byte*> mirrors_;   // of inputs
    std::vector<std::int64_t> places_;  // of outputs, in host_ and in arrivals
    std::vector<std::byte> host_;       // the outputs that were waited for
    std::function<void()> steps_;
    std::array<Arrival, kRunsAhead> arrivals_;
    std::size_t next_ = 0, under_way_ = 0;
    bool ran_ = false;
    Owned<Graph> graph_;
};

class CudaDevice final : public Device {
  public:
    explicit CudaDevice(std::unique_ptr<Api> api)
        : api_(std::move(api)), streams_(*api_), piece_(*api_, kPiece) {}
    ~CudaDevice() override {
        if (arena_ != nullptr) api_->release(arena_);
    }
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    std::string_view name() const override { return "cuda"; }
    bool is_host() const override { return false; }

    std::byte* allocate(std::int64_t bytes, const std::string& purpose) override {
        try {
            arena_ = api_->allocate(bytes);
            api_->clear(arena_, bytes, streams_.compute.get());
        } catch (const ApiFailure& failure) {
            throw RunError(Exit::failed,
                           fmt::format("no memory of the device for {}, {}: {}", purpose,
                                       bytes_text(double(bytes)), text_of(failure)),
                           help_of(failure));
        }
        return arena_;
    }

    void read(std::span<std::byte> to, const std::byte* from) override {
        guarded([&] {
            for_pieces(to.size(), [&](std::size_t at, std::int64_t bytes) {
                api_->copy_to_host(piece_.data(), from + at, bytes, streams_.compute.get());
                api_->synchronize(streams_.compute.get());
                std::memcpy(to.data() + at, piece_.data(), std::size_t(bytes));
            });
        });
    }
    void write(std::byte* to, std::span<const std::byte> from) override {
        guarded([&] {
            for_pieces(from.size(), [&](std::size_t at, std::int64_t bytes) {
                std::memcpy(piece_.data(), from.data() + at, std::size_t(bytes));
                api_->copy_to_device(to + at, piece_.data(), bytes, streams_.compute.get());
                api_->synchronize(streams_.compute.get());
            });
        });
    }
    void clear(std::span<std::byte> memory) override {
        guarded([&] {
            api_->clear(memory.data(), std::int64_t(memory.size()), streams_.compute.get());
        });
    }

    std::unique_ptr<DeviceStep> bind(const kernels::KernelInfo& kernel,
                                     const kernels::Problem& problem,
                                     std::span<const void* const> sources,
                                     std::span<void* const> destinations,
                                     std::span<std::byte> workspace) override {
        return guarded([&]() -> std::unique_ptr<DeviceStep> {
            auto bound = api_->bind(kernel, problem, sources, destinations, workspace);
            if (!bound) return nullptr;
            return std::make_unique<CudaStep>(std::move(bound), streams_.compute.get());
        });
    }
    std::unique_ptr<DeviceProgram> bind_program(std::vector<Transfer> inputs,
                                                std::vector<Transfer> outputs,
                                                std::span<std::byte> room,
                                                std::function<void()> steps) override {
        return guarded([&] {
            if (streams_.mirror.data() == nullptr) {
                streams_.mirror = PinnedMemory(*api_, std::int64_t(room.size()));
                // Inputs that nobody writes are zeros, as on the CPU.
                std::fill_n(streams_.mirror.data(), room.size(), std::byte{0});
            }
            return std::make_unique<CudaProgram>(*api_, streams_, std::move(inputs),
                                                 std::move(outputs), room.data(), std::move(steps));
        });
    }
    void join(const DeviceRanks& ranks) override {
        if (ranks.ranks == 1) return;
        guarded([&] {
            // All ranks make one, so that all know its size; rank 0's counts.
            std::vector<std::byte> id = api_->make_id();
            ranks.broadcast(id);
            api_->join(id, ranks.rank, ranks.ranks, ranks.seconds);
        });
    }
    std::unique_ptr<Exchange> bind_exchange(plan::CollectiveKind kind, std::byte* data,
                                            std::int64_t count, DType dtype) override {
        return guarded([&] {
            return std::make_unique<CudaExchange>(*api_, streams_, kind, data, count, dtype);
        });
    }
    void finish() override {
        guarded([&] { api_->synchronize(streams_.compute.get()); });
    }
    kernels::ThreadTeam& team() override { return team_; }

  private:
    static void for_pieces(std::size_t bytes, auto visit) {
        for (std::size_t at = 0; at < bytes; at += std::size_t(kPiece))
            visit(at, std::min(kPiece, std::int64_t(bytes - at)));
    }

    std::unique_ptr<Api> api_;
    Streams streams_;
    PinnedMemory piece_;
    std::byte* arena_ = nullptr;
    kernels::ThreadTeam team_{1};
};

}  // namespace

std::unique_ptr<Device> make_device(std::unique_ptr<Api> api) {
    return guarded([&] { return std::make_unique<CudaDevice>(std::move(api)); });
}

}  // namespace dtnn::runtime::cuda
