#include <cstring>
#include <utility>

#include "kernels/dispatch.hpp"
#include "runtime/device/arena.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/generated_code.hpp"

namespace dtnn::runtime {
namespace {

class CpuStep final : public DeviceStep {
  public:
    CpuStep(std::unique_ptr<kernels::BoundKernel> kernel, kernels::ThreadTeam& team)
        : kernel_(std::move(kernel)), team_(team) {}
    void run() override { kernel_->run(team_); }

  private:
    std::unique_ptr<kernels::BoundKernel> kernel_;
    kernels::ThreadTeam& team_;
};

class CpuProgram final : public DeviceProgram {
  public:
    CpuProgram(std::vector<Transfer> inputs, std::vector<Transfer> outputs,
               std::function<void()> steps)
        : inputs_(std::move(inputs)), outputs_(std::move(outputs)), steps_(std::move(steps)) {}
    std::byte* input(std::size_t i) override { return inputs_[i].memory; }
    std::byte* output(std::size_t i) override { return outputs_[i].memory; }
    void run() override { steps_(); }
    void run(const std::function<void()>& steps) override { steps(); }
    void run_again() override { steps_(); }
    void wait() override {}

  private:
    std::vector<Transfer> inputs_, outputs_;
    std::function<void()> steps_;
};

class Cpu final : public Device {
  public:
    explicit Cpu(int threads) : team_(threads), code_(GeneratedCode::of_process()) {}

    std::string_view name() const override { return "cpu"; }
    std::byte* allocate(std::int64_t bytes, const std::string& purpose) override {
        arena_ = Arena(bytes, purpose);
        return arena_.data();
    }
    bool is_host() const override { return true; }
    void read(std::span<std::byte> to, const std::byte* from) override {
        std::memcpy(to.data(), from, to.size());
    }
    void write(std::byte* to, std::span<const std::byte> from) override {
        std::memcpy(to, from.data(), from.size());
    }
    std::unique_ptr<DeviceStep> bind(const kernels::KernelInfo& kernel,
                                     const kernels::Problem& problem,
                                     std::span<const void* const> sources,
                                     std::span<void* const> destinations,
                                     std::span<std::byte> workspace) override {
        kernels::Problem with_code;
        if (code_ != nullptr && kernels::reads_terms(kernel, problem)) {
            with_code = problem;
            with_code.loop = code_->loop_for(problem);
        }
        auto bound = kernels::bind(kernel, with_code.loop == nullptr ? problem : with_code, sources,
                                   destinations, workspace);
        if (!bound) return nullptr;
        return std::make_unique<CpuStep>(std::move(bound), team_);
    }
    void clear(std::span<std::byte> memory) override {
        std::memset(memory.data(), 0, memory.size());
    }
    std::unique_ptr<DeviceProgram> bind_program(std::vector<Transfer> inputs,
                                                std::vector<Transfer> outputs, std::span<std::byte>,
                                                std::function<void()> steps) override {
        return std::make_unique<CpuProgram>(std::move(inputs), std::move(outputs),
                                            std::move(steps));
    }
    void join(const DeviceRanks&) override {}
    std::unique_ptr<Exchange> bind_exchange(plan::CollectiveKind, std::byte*, std::int64_t,
                                            DType) override {
        return nullptr;
    }
    void finish() override {}
    kernels::ThreadTeam& team() override { return team_; }

  private:
    Arena arena_;
    kernels::ThreadTeam team_;
    GeneratedCode* code_;  ///< null: expressions are interpreted
};

}  // namespace

std::unique_ptr<Device> open_cpu(int threads) {
    return std::make_unique<Cpu>(threads);
}

}  // namespace dtnn::runtime
