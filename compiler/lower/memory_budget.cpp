#include "compiler/lower/memory_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/quantity_text.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/recomputed.hpp"

namespace dtnn::compiler {

namespace {

// The program with the largest transient region, and the bytes of each layer (the last entry: no
// layer) at the step of it where most is alive, persistent ones included.
std::vector<std::int64_t> bytes_by_layer(const plan::Plan& plan) {
    std::vector<std::int64_t> by_layer(plan.layers.size() + 1, 0);
    auto share = [&](int layer) -> std::int64_t& {
        return layer < 0 ? by_layer.back() : by_layer[std::size_t(layer)];
    };
    for (const plan::Parameter& parameter : plan.parameters)
        share(parameter.layer) += plan.buffers[std::size_t(parameter.buffer)].bytes;

    int worst_program = -1, worst_step = 0;
    std::int64_t most = -1;
    for (std::size_t p = 0; p < plan.programs.size(); ++p) {
        const plan::Program& program = plan.programs[p];
        std::vector<std::int64_t> change(program.prologue.size() + program.steps.size() + 1, 0);
        for (const plan::Buffer& buffer : plan.buffers) {
            if (buffer.program != int(p)) continue;
            change[std::size_t(buffer.first_step)] += buffer.bytes;
            change[std::size_t(buffer.last_step) + 1] -= buffer.bytes;
        }
        std::int64_t alive = 0;
        for (std::size_t s = 0; s < change.size(); ++s)
            if ((alive += change[s]) > most)
                most = alive, worst_program = int(p), worst_step = int(s);
    }
    if (worst_program < 0) return by_layer;
    const plan::Program& program = plan.programs[std::size_t(worst_program)];
    // The bytes at one place of a buffer are of the layer that is the first to write it; gradients
    // of several layers share the buffer of their exchange.
    std::set<std::pair<int, std::int64_t>> counted;
    auto count = [&](int index, std::int64_t offset, std::int64_t bytes, int layer) {
        const plan::Buffer& buffer = plan.buffers[std::size_t(index)];
        if (buffer.program != worst_program || buffer.first_step > worst_step ||
            buffer.last_step < worst_step || !counted.emplace(index, offset).second)
            return;
        share(layer) += bytes;
    };
    for (const auto* list : {&program.prologue, &program.steps})
        for (const plan::Step& step : *list) {
            for (int destination : step.destinations) {
                const plan::Tensor& tensor = program.tensors[std::size_t(destination)];
                count(tensor.buffer, tensor.offset,
                      element_count(tensor.dims) * size_of(tensor.dtype), step.layer);
            }
            if (step.workspace >= 0)
                count(step.workspace, 0, plan.buffers[std::size_t(step.workspace)].bytes,
                      step.layer);
        }
    return by_layer;
}

std::string largest_layers(const plan::Plan& plan) {
    std::vector<std::int64_t> bytes = bytes_by_layer(plan);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        if (bytes[i] > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
        text += fmt::format("{}`{}` ({})", i ? ", " : "", plan.layers[order[i]].name,
                            bytes_text(bytes[order[i]]));
    return text;
}

// By bisection below `batch`, which does not fit; 0 when none does. Need grows with the batch but
// for the choice of kernels, so what is returned does fit, and at worst a slightly larger one would
// have.
std::int64_t largest_fitting(std::int64_t batch, std::int64_t budget,
                             const std::function<std::int64_t(std::int64_t)>& need_of) {
    std::int64_t fits = 0, fails = batch;
    while (fails - fits > 1) {
        std::int64_t middle = fits + (fails - fits) / 2;
        (need_of(middle) <= budget ? fits : fails) = middle;
    }
    return fits;
}

/// Plans that are made for the budget, beside those with the most and the least to recompute.
constexpr int kTries = 10;

/// The plan with the least values does not fit. Another may, which keeps more of them: the
/// workspaces and gaps of the steps that it does not repeat are more than that. The first that fits
/// of those between, from `most` live bytes down; else the one that needs least, `least` included.
/// Which are tried does not depend on the budget, so a figure that was named is met again.
FittedPlan least_found(FittedPlan least, std::int64_t most, std::int64_t budget,
                       const std::function<plan::Plan(std::int64_t live_bytes)>& assemble) {
    // Without workspaces and gaps its values take less; by how much, nobody says.
    const std::int64_t low = least.plan.memory.transient / 2, step = (most - low) / (kTries + 1);
    for (int i = kTries; i >= 0 && step > 0; --i) {
        const std::int64_t live_bytes = low + i * step;
        FittedPlan tried{assemble(live_bytes), live_bytes};
        const std::int64_t need = plan::memory_need(tried.plan).bounded();
        if (need < plan::memory_need(least.plan).bounded()) least = std::move(tried);
        if (need <= budget) break;
    }
    return least;
}

}  // namespace

FittedPlan fit_budget(std::int64_t budget, bool recomputes,
                      const std::function<plan::Plan(std::int64_t live_bytes)>& assemble) {
    const auto fits = [&](const plan::Plan& plan) {
        return plan::memory_need(plan).bounded() <= budget;
    };
    FittedPlan best{assemble(0), 0};
    if (!recomputes || fits(best.plan)) return best;
    // The figure asked for counts values alone, the one that fits counts workspaces and gaps, too:
    // so it is searched for. More bytes mean less to recompute.
    std::int64_t fails = best.plan.memory.transient, works = kLeastLiveBytes;
    best = {assemble(works), works};
    if (!fits(best.plan)) return least_found(std::move(best), fails, budget, assemble);
    for (int i = 0; i < kTries && fails - works > 1; ++i) {
        const std::int64_t middle = works + (fails - works) / 2;
        FittedPlan tried{assemble(middle), middle};
        if (!fits(tried.plan)) {
            fails = middle;
            continue;
        }
        works = middle;
        if (plan::recomputed(tried.plan).flops <= plan::recomputed(best.plan).flops)
            best = std::move(tried);
    }
    return best;
}

void check_budget(const plan::Plan& plan, std::int64_t budget, const Span& span,
                  const std::function<std::int64_t(std::int64_t batch)>& need_of,
                  Diagnostics& diagnostics) {
    const plan::Memory& memory = plan.memory;
    const std::int64_t need = plan::memory_need(plan).bounded();
    if (budget <= 0 || need <= budget) return;
    std::int64_t batch = plan.training.batch_size;
    std::int64_t fitting = largest_fitting(batch, budget, need_of);
    const plan::Recomputed recomputed = plan::recomputed(plan);
    std::string text = recomputed.steps > 0 ? fmt::format("even recomputing {} in backward, ",
                                                          plan::recomputed_text(recomputed))
                                            : "";
    text += fmt::format(
        "the plan needs {} of memory per rank, the budget is {}: parameters {}, optimizer state "
        "{}, inputs {}, activations, gradients and workspaces {}, prepared batches {}, samples {}",
        bytes_text(need), bytes_text(budget), bytes_text(memory.parameters),
        bytes_text(memory.optimizer), bytes_text(memory.inputs), bytes_text(memory.transient),
        bytes_text(memory.staging), bytes_text(memory.samples));
    if (std::string layers = largest_layers(plan); !layers.empty())
        text += "; most at the peak take " + layers;
    const std::string enough = bytes_text(need, BytesForm::enough);
    std::string help =
        fitting >= 1
            ? fmt::format("batch_size {} instead of {} fits; or raise memory_budget to {}", fitting,
                          batch, enough)
            : fmt::format(
                  "no batch size fits: even batch_size 1 needs {}; raise memory_budget to {}, or "
                  "make {} smaller",
                  bytes_text(batch > 1 ? need_of(1) : need), enough,
                  memory.samples > memory.arena && plan.dataset.attributes.contains("cache")
                      ? "dataset.cache"
                      : "the largest layers");
    diagnostics.error(Code::over_budget, span, std::move(text), std::move(help));
}

}  // namespace dtnn::compiler
