#include "tests/gpu/host_api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "kernels/cuda/dispatch.hpp"
#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/race_detector.hpp"

namespace dtnn::runtime::cuda {
namespace {

using kernels::cuda::HostOrder;
using Work = std::function<void(HostOrder)>;

/// An operation that is put on a stream: its work, and what that reads and writes of the device's
/// memory.
struct Operation {
    std::string name;
    std::vector<Access> accesses;
    Work work;
};

/// Something that was called of a stream while it was captured.
struct Captured {
    enum class Kind { operation, record, wait } kind = Kind::operation;
    std::size_t stream = 0;  // by its place among the captured
    std::uint64_t event = 0;
    Operation operation;
};

struct CapturedGraph {
    std::vector<Captured> calls;
    std::size_t streams = 0;
};

class HostApi final : public Api {
  public:
    HostApi(HostReport& report, const HostFaults& faults, std::shared_ptr<HostNetwork> network)
        : report_(report), faults_(faults), network_(std::move(network)) {}
    ~HostApi() override {
        if (network_) network_->leave();
        const auto kept = [&](const char* what, std::size_t count) {
            if (count > 0) find(fmt::format("{} {} never released", count, what));
        };
        kept("allocations", memory_.size());
        kept("pinned allocations", pinned_.size());
        kept("streams", live_streams_.size());
        kept("events", events_.size());
        kept("graphs", graphs_.size());
        kept("kernels", std::size_t(bound_));
    }
    HostApi(const HostApi&) = delete;
    HostApi& operator=(const HostApi&) = delete;

    std::byte* allocate(std::int64_t bytes) override {
        call("cudaMalloc", true);
        auto memory = std::make_unique<DeviceMemory>(bytes);
        if (network_) memory->open(true);
        std::byte* const data = memory->data();
        memory_[data] = std::move(memory);
        return data;
    }
    void release(std::byte* memory) noexcept override {
        not_in_capture("cudaFree");
        // As on a device: what is under way is done first.
        finish();
        memory_.erase(memory);
    }
    std::byte* allocate_pinned(std::int64_t bytes) override {
        call("cudaMallocHost", true);
        auto memory = std::make_unique<std::byte[]>(std::size_t(bytes));
        std::byte* const data = memory.get();
        std::memset(data, int(kAnything), std::size_t(bytes));
        pinned_[data] = std::move(memory);
        return data;
    }
    void release_pinned(std::byte* memory) noexcept override {
        not_in_capture("cudaFreeHost");
        finish();
        pinned_.erase(memory);
    }

    Stream make_stream() override {
        call("cudaStreamCreateWithFlags", true);
        const std::size_t stream = new_stream();
        live_streams_.insert(stream);
        return Stream(stream + 1);
    }
    void release(Stream stream) noexcept override { live_streams_.erase(index(stream)); }
    Event make_event() override {
        call("cudaEventCreateWithFlags", true);
        events_[++last_event_] = {};
        return Event(last_event_);
    }
    void release(Event event) noexcept override { events_.erase(std::uint64_t(event)); }

    void record(Event event, Stream stream) override {
        call("cudaEventRecord");
        if (Capture* capture = capturing(stream)) {
            capture->events.insert(std::uint64_t(event));
            capture->graph.calls.push_back(
                {Captured::Kind::record, place_in(*capture, stream), std::uint64_t(event), {}});
            return;
        }
        events_.at(std::uint64_t(event)) = clocks_[index(stream)];
    }
    void wait(Stream stream, Event event) override {
        call("cudaStreamWaitEvent");
        if (report_.waits++ == faults_.lost_wait) return;
        Capture* const capture = capture_ ? capture_.get() : nullptr;
        const bool captured_event = capture && capture->events.contains(std::uint64_t(event));
        if (captured_event) {
            // A stream that waits for what is captured is captured from now on.
            capture->graph.calls.push_back(
                {Captured::Kind::wait, place_in(*capture, stream), std::uint64_t(event), {}});
            return;
        }
        if (capturing(stream)) {
            fail_rule("cudaStreamWaitEvent", 905, "a captured stream waits for an event of before");
        }
        clocks_[index(stream)].join(events_.at(std::uint64_t(event)));
    }
    void synchronize(Event event) override {
        call("cudaEventSynchronize", true);
        do_until(events_.at(std::uint64_t(event)));
    }
    void synchronize(Stream stream) override {
        call("cudaStreamSynchronize", true);
        do_until(clocks_[index(stream)]);
    }

    void copy_to_device(std::byte* to, const std::byte* from, std::int64_t bytes,
                        Stream stream) override {
        call("cudaMemcpyAsync");
        need_pinned(from);
        // The bytes that the copy is to bring; the host may not change them before it is done.
        auto promised = std::make_shared<std::vector<std::byte>>(from, from + bytes);
        put(stream, {"a copy to the device",
                     {{to, bytes, true}},
                     [this, to, from, bytes, promised](HostOrder) {
                         if (std::memcmp(from, promised->data(), std::size_t(bytes)) != 0)
                             find("the host wrote what a copy to the device had yet to read");
                         std::memcpy(to, from, std::size_t(bytes));
                     }});
    }
    void copy_to_host(std::byte* to, const std::byte* from, std::int64_t bytes,
                      Stream stream) override {
        call("cudaMemcpyAsync");
        need_pinned(to);
        if (!capturing(stream)) std::memset(to, int(kAnything), std::size_t(bytes));
        put(stream, {"a copy to the host", {{from, bytes, false}}, [to, from, bytes](HostOrder) {
                         std::memcpy(to, from, std::size_t(bytes));
                     }});
    }
    void copy_on_device(std::byte* to, const std::byte* from, std::int64_t bytes,
                        Stream stream) override {
        call("cudaMemcpyAsync");
        put(stream, {"a copy on the device",
                     {{to, bytes, true}, {from, bytes, false}},
                     [to, from, bytes](HostOrder) { std::memcpy(to, from, std::size_t(bytes)); }});
    }
    void clear(std::byte* memory, std::int64_t bytes, Stream stream) override {
        call("cudaMemsetAsync");
        put(stream, {"a clearing", {{memory, bytes, true}}, [memory, bytes](HostOrder) {
                         std::memset(memory, 0, std::size_t(bytes));
                     }});
    }

    void begin_capture(Stream stream) override {
        call("cudaStreamBeginCapture");
        if (capture_) fail_rule("cudaStreamBeginCapture", 901, "a capture is under way");
        capture_ = std::make_unique<Capture>();
        place_in(*capture_, stream);
    }
    Graph end_capture(Stream stream) override {
        // It ends, whatever comes of it.
        const auto capture = std::move(capture_);
        call("cudaStreamEndCapture");
        if (!capture || capture->streams.front() != index(stream))
            fail_rule("cudaStreamEndCapture", 903, "the stream is not the one that was captured");
        capture->graph.streams = capture->streams.size();
        if (!joined(capture->graph))
            fail_rule("cudaStreamEndCapture", 904, "a stream that was forked is not joined");
        graphs_[++last_graph_] = std::move(capture->graph);
        return Graph(last_graph_);
    }
    void launch(Graph graph, Stream stream) override {
        call("cudaGraphLaunch");
        if (capture_) fail_rule("cudaGraphLaunch", 900, "a capture is under way");
        ++report_.launches;
        const CapturedGraph& recorded = graphs_.at(std::uint64_t(graph));
        replay(recorded, stream);
    }
    void release(Graph graph) noexcept override { graphs_.erase(std::uint64_t(graph)); }

    std::vector<std::byte> make_id() override {
        call("ncclGetUniqueId", true);
        return std::vector<std::byte>(128, std::byte(++report_.ids));
    }
    void join(std::span<const std::byte>, int rank, int, double) override {
        call("ncclCommInitRank", true);
        rank_ = rank;
    }
    void exchange(plan::CollectiveKind kind, std::byte* data, std::int64_t count, DType dtype,
                  Stream stream) override {
        const bool whole = kind == plan::CollectiveKind::all_reduce;
        const char* const name = whole ? "ncclAllReduce"
                                 : kind == plan::CollectiveKind::reduce_scatter
                                     ? "ncclReduceScatter"
                                     : "ncclAllGather";
        call(name);
        const std::int64_t numbers = whole ? count : count * network_->ranks();
        ++report_.exchanges;
        put(stream, {name,
                     {{data, numbers * size_of(dtype), true}},
                     [this, kind, data, count, dtype, name](HostOrder) {
                         const std::string problem =
                             network_->exchange(rank_, kind, data, count, dtype);
                         if (!problem.empty()) throw ApiFailure{name, 6, problem, false};
                     }});
    }

    std::unique_ptr<ApiKernel> bind(const kernels::KernelInfo& kernel,
                                    const kernels::Problem& problem,
                                    std::span<const void* const> sources,
                                    std::span<void* const> destinations,
                                    std::span<std::byte> workspace) override {
        auto bound = kernels::cuda::bind(kernel, problem, sources, destinations, workspace);
        if (!bound) return nullptr;
        std::vector<Access> accesses;
        for (std::size_t i = 0; i < sources.size(); ++i)
            accesses.push_back(
                {static_cast<const std::byte*>(sources[i]), problem.sources[i].bytes(), false});
        for (std::size_t i = 0; i < destinations.size(); ++i)
            accesses.push_back({static_cast<const std::byte*>(destinations[i]),
                                problem.destinations[i].bytes(), true});
        if (!workspace.empty())
            accesses.push_back({workspace.data(), std::int64_t(workspace.size()), true});
        ++bound_;
        return std::make_unique<Kernel>(*this, std::move(bound), std::string(kernel.op),
                                        std::move(accesses));
    }

  private:
    class Kernel final : public ApiKernel {
      public:
        Kernel(HostApi& api, std::unique_ptr<kernels::cuda::BoundDeviceKernel> kernel,
               std::string name, std::vector<Access> accesses)
            : api_(api),
              kernel_(std::move(kernel)),
              name_(std::move(name)),
              accesses_(std::move(accesses)) {}
        ~Kernel() override { --api_.bound_; }
        Kernel(const Kernel&) = delete;
        Kernel& operator=(const Kernel&) = delete;

        void run(Stream stream) override {
            api_.call("cudaLaunchKernel");
            // The memory is closed: what the kernel does before it launches, it does on the host.
            std::vector<Work> launches;
            if (!ran_) api_.not_in_capture("the first run of a kernel");
            ran_ = true;
            try {
                kernel_->run({HostOrder::forward, &launches});
            } catch (const kernels::cuda::NoSuchEngine&) {
                throw no_such_engine();
            }
            api_.report_.kernel_launches += std::int64_t(launches.size());
            api_.put(stream, {name_, accesses_, [this, launches](HostOrder order) {
                                  ++api_.report_.kernels;
                                  for (const Work& launch : launches)
                                      launch(order);
                              }});
        }

      private:
        HostApi& api_;
        std::unique_ptr<kernels::cuda::BoundDeviceKernel> kernel_;
        std::string name_;
        std::vector<Access> accesses_;
        bool ran_ = false;
    };

    struct Capture {
        std::vector<std::size_t> streams;
        std::set<std::uint64_t> events;  // recorded in it
        CapturedGraph graph;
    };

    struct Pending {
        std::size_t stream = 0;
        Clock clock;
        Work work;
    };

    static std::size_t index(Stream stream) { return std::size_t(stream) - 1; }
    std::size_t new_stream() {
        clocks_.emplace_back();
        pending_.emplace_back();
        return clocks_.size() - 1;
    }

    void find(std::string finding) noexcept { report_.findings.push_back(std::move(finding)); }

    /// Notes a call, which may fail. Some are not allowed while a stream is captured.
    void call(const char* name, bool outside_captures = false) {
        const auto number = std::int64_t(report_.calls.size());
        report_.calls.emplace_back(name);
        if (number == faults_.failing_call) {
            const bool memory = std::string_view(name).starts_with("cudaMalloc");
            throw ApiFailure{name, memory ? 2 : 719,
                             memory ? "out of memory" : "unspecified launch failure", memory};
        }
        if (outside_captures) not_in_capture(name);
    }
    void not_in_capture(const char* name) noexcept {
        if (capture_) find(fmt::format("{} while a stream is captured", name));
    }
    [[noreturn]] void fail_rule(const char* name, int code, const char* text) {
        find(fmt::format("{}: {}", name, text));
        throw ApiFailure{name, code, text, false};
    }
    void need_pinned(const std::byte* memory) {
        const auto after = pinned_.upper_bound(const_cast<std::byte*>(memory));
        if (after == pinned_.begin()) find("a copy of the host's memory that is not pinned");
    }

    /// Null: the stream is not captured.
    Capture* capturing(Stream stream) {
        if (!capture_) return nullptr;
        const auto& streams = capture_->streams;
        return std::find(streams.begin(), streams.end(), index(stream)) == streams.end()
                   ? nullptr
                   : capture_.get();
    }
    std::size_t place_in(Capture& capture, Stream stream) {
        const auto found = std::find(capture.streams.begin(), capture.streams.end(), index(stream));
        if (found != capture.streams.end()) return std::size_t(found - capture.streams.begin());
        capture.streams.push_back(index(stream));
        return capture.streams.size() - 1;
    }

    /// Whether everything is before the end of the first stream.
    static bool joined(const CapturedGraph& graph) {
        std::vector<Clock> clocks(graph.streams);
        std::map<std::uint64_t, Clock> events;
        for (const Captured& one : graph.calls) {
            if (one.kind == Captured::Kind::operation) clocks[one.stream].advance(one.stream);
            if (one.kind == Captured::Kind::record) events[one.event] = clocks[one.stream];
            if (one.kind == Captured::Kind::wait) clocks[one.stream].join(events[one.event]);
        }
        for (std::size_t i = 1; i < clocks.size(); ++i)
            if (clocks[0].of(i) < clocks[i].of(i)) return false;
        return true;
    }

    /// Streams that were captured beside the first are new ones in every launch.
    void replay(const CapturedGraph& graph, Stream stream) {
        std::vector<std::size_t> streams = {index(stream)};
        while (streams.size() < graph.streams) {
            streams.push_back(new_stream());
            clocks_[streams.back()] = clocks_[index(stream)];
        }
        std::map<std::uint64_t, Clock> events;
        for (const Captured& one : graph.calls) {
            const std::size_t on = streams[one.stream];
            if (one.kind == Captured::Kind::operation) enqueue(on, one.operation);
            if (one.kind == Captured::Kind::record) events[one.event] = clocks_[on];
            if (one.kind == Captured::Kind::wait) clocks_[on].join(events[one.event]);
        }
    }

    void put(Stream stream, Operation operation) {
        if (Capture* capture = capturing(stream))
            capture->graph.calls.push_back(
                {Captured::Kind::operation, place_in(*capture, stream), 0, std::move(operation)});
        else
            enqueue(index(stream), operation);
    }

    void enqueue(std::size_t stream, const Operation& operation) {
        Clock& clock = clocks_[stream];
        clock.join(host_);
        clock.advance(stream);
        const std::string race = races_.add(stream, clock, operation.name, operation.accesses);
        if (!race.empty()) find(race);
        pending_[stream].push_back({stream, clock, operation.work});
    }

    /// Whether all that is before the stream's next operation is done.
    bool ready(std::size_t stream) const {
        const Clock& clock = pending_[stream].front().clock;
        for (std::size_t other = 0; other < pending_.size(); ++other)
            if (other != stream && !pending_[other].empty() &&
                clock.of(other) >= pending_[other].front().clock.of(other))
                return false;
        return true;
    }

    /// Does what is before this time, and no more.
    void do_until(const Clock& until) {
        const MemoryUse use(*this);
        for (bool any = true; any;) {
            any = false;
            // Later streams first: what depends on the order of streams was not put in order.
            for (std::size_t i = pending_.size(); i-- > 0;) {
                while (!pending_[i].empty() && pending_[i].front().clock.of(i) <= until.of(i) &&
                       ready(i)) {
                    const Pending next = std::move(pending_[i].front());
                    pending_[i].pop_front();
                    do_now(next);
                    any = true;
                }
            }
        }
        host_.join(until);
        races_.forget(host_);
    }
    void finish() noexcept {
        Clock all;
        for (const Clock& clock : clocks_)
            all.join(clock);
        try {
            do_until(all);
        } catch (const ApiFailure&) {
            // A device that has failed runs nothing.
            for (auto& pending : pending_)
                pending.clear();
        }
    }
    /// While work is done.
    class MemoryUse {
      public:
        explicit MemoryUse(const HostApi& api) : api_(api) { api_.open_memory(true); }
        ~MemoryUse() { api_.open_memory(false); }
        MemoryUse(const MemoryUse&) = delete;
        MemoryUse& operator=(const MemoryUse&) = delete;

      private:
        const HostApi& api_;
    };
    void open_memory(bool open) const {
        // Ranks that are threads would wait for each other's page tables at every step; what a
        // device's memory may be touched by is seen with one.
        if (network_) return;
        for (const auto& [data, memory] : memory_)
            memory->open(open);
    }
    void do_now(const Pending& next) {
        // In another order of elements each time: what depends on it has a race.
        order_ = order_ == HostOrder::forward ? HostOrder::backward : HostOrder::forward;
        next.work(order_);
    }

    HostReport& report_;
    HostFaults faults_;
    std::shared_ptr<HostNetwork> network_;
    int rank_ = 0;
    std::map<std::byte*, std::unique_ptr<DeviceMemory>> memory_;
    std::map<std::byte*, std::unique_ptr<std::byte[]>> pinned_;
    std::set<std::size_t> live_streams_;
    std::map<std::uint64_t, Clock> events_;
    std::uint64_t last_event_ = 0, last_graph_ = 0;
    std::map<std::uint64_t, CapturedGraph> graphs_;
    std::unique_ptr<Capture> capture_;
    std::vector<Clock> clocks_;  // by stream
    std::vector<std::deque<Pending>> pending_;
    Clock host_;  // what the host has waited for
    RaceDetector races_;
    std::int64_t bound_ = 0;
    HostOrder order_ = HostOrder::backward;
};

}  // namespace

std::unique_ptr<Api> make_host_api(HostReport& report, const HostFaults& faults,
                                   std::shared_ptr<HostNetwork> network) {
    return std::make_unique<HostApi>(report, faults, std::move(network));
}

}  // namespace dtnn::runtime::cuda
