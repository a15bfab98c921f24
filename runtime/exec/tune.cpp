#include "runtime/exec/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "kernels/catalogue.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {
namespace {

/// No library proposes more that are worth a try.
constexpr int kMostEngines = 16;

bool same(const std::vector<TensorType>& a, const std::vector<TensorType>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return std::tie(x.dtype, x.dims, x.order) == std::tie(y.dtype, y.dims, y.order);
    });
}

/// A problem of a library, with the operands of the first step that has it.
struct Measured {
    const kernels::KernelInfo* kernel;
    kernels::Problem problem;
    TunedSteps result;

    bool covers(const kernels::KernelInfo* other, const kernels::Problem& more) const {
        return kernel == other && problem.attributes == more.attributes &&
               problem.dtype == more.dtype && same(problem.sources, more.sources) &&
               same(problem.destinations, more.destinations);
    }
};

class Tuner {
  public:
    Tuner(plan::Plan& plan, Device& device, int repeats)
        : plan_(plan),
          device_(device),
          repeats_(repeats),
          arena_(device.allocate(plan.memory.arena, "the plan's arena")) {}

    std::vector<TunedSteps> run() {
        for (plan::Program& program : plan_.programs) {
            int number = 0;
            for (auto* list : {&program.prologue, &program.steps})
                for (plan::Step& step : *list)
                    tune_step(program, step, number++);
        }
        std::vector<TunedSteps> results;
        for (const Measured& one : measured_)
            results.push_back(one.result);
        return results;
    }

  private:
    void tune_step(const plan::Program& program, plan::Step& step, int number) {
        const kernels::KernelInfo* kernel =
            kernels::find_kernel(step.op, step.kernel, device_.name());
        if (kernel == nullptr || !kernel->library) return;
        step.attributes.erase("engine");
        const kernels::Problem problem = problem_of(plan_, program, step);
        auto found = std::find_if(measured_.begin(), measured_.end(),
                                  [&](const Measured& one) { return one.covers(kernel, problem); });
        if (found == measured_.end()) {
            measured_.push_back({kernel, problem, {step.name}});
            found = measured_.end() - 1;
            measure(*found, program, step, number);
        }
        ++found->result.steps;
        if (found->result.chosen > 0)
            step.attributes["engine"] = std::int64_t{found->result.chosen};
    }

    void measure(Measured& of, const plan::Program& program, const plan::Step& step, int number) {
        for (int engine = 0; engine < kMostEngines; ++engine) {
            try {
                const double seconds = seconds_of(of, engine, program, step);
                if (engine == 0) of.result.first_seconds = seconds;
                if (engine == 0 || seconds < of.result.seconds) {
                    of.result.chosen = engine;
                    of.result.seconds = seconds;
                }
                of.result.engines = engine + 1;
            } catch (const DeviceError& error) {
                if (error.no_such_engine) return;
                throw RunError(
                    error.exit,
                    fmt::format("{}, engine {}: {}", describe_step(plan_, program, number, step),
                                engine, error.fact),
                    error.help);
            }
        }
    }

    double seconds_of(const Measured& of, int engine, const plan::Program& program,
                      const plan::Step& step) {
        std::vector<const void*> sources;
        std::vector<void*> destinations;
        for (const int id : step.sources)
            sources.push_back(address(program, id));
        for (const int id : step.destinations)
            destinations.push_back(address(program, id));
        std::span<std::byte> workspace;
        if (step.workspace >= 0) {
            const plan::Buffer& buffer = plan_.buffers[std::size_t(step.workspace)];
            workspace = {arena_ + buffer.offset, std::size_t(buffer.bytes)};
        }
        kernels::Problem problem = of.problem;
        problem.attributes["engine"] = std::int64_t{engine};
        const auto bound = device_.bind(*of.kernel, problem, sources, destinations, workspace);
        if (bound == nullptr)
            throw DeviceError{Exit::mismatch,
                              "the kernel `" + step.kernel + "` is not built into this program",
                              "compile the job again with the dtnnc of this version"};
        bound->run();  // which makes what the library keeps
        device_.finish();
        const Stopwatch watch;
        for (int i = 0; i < repeats_; ++i)
            bound->run();
        device_.finish();
        return watch.seconds() / repeats_;
    }

    std::byte* address(const plan::Program& program, int id) const {
        const plan::Tensor& tensor = program.tensors[std::size_t(id)];
        return arena_ + plan_.buffers[std::size_t(tensor.buffer)].offset + tensor.offset;
    }

    plan::Plan& plan_;
    Device& device_;
    int repeats_;
    std::byte* arena_;
    std::vector<Measured> measured_;
};

}  // namespace

std::vector<TunedSteps> tune(plan::Plan& plan, Device& device, int repeats) {
    return Tuner(plan, device, repeats).run();
}

}  // namespace dtnn::runtime
