#include "runtime/exec/number_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "plan/rules/parallel.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {
namespace {

/// What a list of numbers holds besides finite ones.
struct NumberFinding {
    std::int64_t not_finite = 0;
    bool nan = false;
    double first = 0;
};

template <class Real>
NumberFinding examine(const std::byte* memory, std::int64_t count) {
    const std::span<const Real> numbers(reinterpret_cast<const Real*>(memory), std::size_t(count));
    // x - x is zero for finite numbers and NaN for all others; a sum over blocks keeps the common
    // case a plain loop.
    constexpr std::size_t kBlock = 1024;
    NumberFinding finding;
    for (std::size_t begin = 0; begin < numbers.size(); begin += kBlock) {
        const auto block = numbers.subspan(begin, std::min(kBlock, numbers.size() - begin));
        Real sum = 0;
        for (const Real x : block)
            sum += x - x;
        if (sum == Real(0)) continue;
        for (const Real x : block) {
            if (std::isfinite(x)) continue;
            if (finding.not_finite++ == 0) finding.first = double(x);
            finding.nan = finding.nan || std::isnan(x);
        }
    }
    return finding;
}

NumberFinding examine(DType dtype, const std::byte* memory, std::int64_t count) {
    if (dtype == DType::f32) return examine<float>(memory, count);
    if (dtype == DType::f64) return examine<double>(memory, count);
    return {};
}

std::string fact_of(const NumberFinding& finding, std::int64_t count, const std::string& name) {
    if (count == 1) return fmt::format("`{}` is {}", name, number_text(finding.first));
    return fmt::format("{} of the {} numbers of `{}` {} not finite, the first is {}",
                       finding.not_finite, count, name, finding.not_finite == 1 ? "is" : "are",
                       number_text(finding.first));
}

}  // namespace

std::string number_text(double value) {
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

NumberCheck::NumberCheck(Executor& executor, StepObserver* next)
    : executor_(executor), next_(next) {
    executor_.observe(this);
}

NumberCheck::~NumberCheck() {
    executor_.observe(next_);
}

void NumberCheck::look(const plan::Program& program, int tensor, const plan::Step* step) {
    const plan::Plan& plan = executor_.plan();
    const plan::Tensor& t = program.tensors[std::size_t(tensor)];
    const std::int64_t count = element_count(t.dims);
    const plan::Buffer& buffer = plan.buffers[std::size_t(t.buffer)];
    const NumberFinding finding = examine(t.dtype, executor_.view(t).bytes().data(), count);
    if (finding.not_finite == 0) return;
    matters_ = matters_ || finding.nan || buffer.role == plan::BufferRole::parameter ||
               buffer.role == plan::BufferRole::state;
    if (suspect_) return;
    NotFinite found;
    found.fact = fact_of(finding, count, t.name);
    if (step == nullptr) {
        found.place = fmt::format("the input `{}`", t.name);
    } else {
        int number = int(program.prologue.size());
        for (const auto* list : {&program.prologue, &program.steps}) {
            if (!list->empty() && step >= list->data() && step < list->data() + list->size())
                number = int(step - list->data()) +
                         (list == &program.steps ? int(program.prologue.size()) : 0);
        }
        found.place = describe_step(plan, program, number, *step);
    }
    suspect_ = std::move(found);
}

void NumberCheck::begin_run(const plan::Program& program) {
    suspect_.reset();
    matters_ = false;
    for (const plan::Input& input : program.inputs)
        look(program, input.tensor, nullptr);
}

void NumberCheck::begin(const plan::Program& program, const plan::Step& step) {
    if (next_ != nullptr) next_->begin(program, step);
}

void NumberCheck::end(const plan::Program& program, const plan::Step& step) {
    if (next_ != nullptr) next_->end(program, step);
    // The rest of such a run is not looked at: everything behind it holds more of them.
    if (matters_) return;
    // An exchange's memory is the communicator's until the wait.
    if (const auto end = plan::exchange_end_of(step.op); end && end->end == plan::End::start)
        return;
    for (const int destination : step.destinations)
        look(program, destination, &step);
}

std::optional<NotFinite> parameter_not_finite(const Executor& executor) {
    const plan::Plan& plan = executor.plan();
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        const std::int64_t count = element_count(parameter.dims);
        const HostView view = executor.parameter_view(i);
        const NumberFinding finding = examine(parameter.dtype, view.bytes().data(), count);
        if (finding.not_finite == 0) continue;
        return NotFinite{fmt::format("the parameter `{}`", parameter.name),
                         fact_of(finding, count, parameter.name)};
    }
    return std::nullopt;
}

}  // namespace dtnn::runtime
