#include "plan/rules/memory_need.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "plan/rules/resident.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::plan {
namespace {

/// Two runs under way, and the one whose outputs are looked at.
constexpr std::int64_t kOutputsKept = 3;

/// The host's side of copies: a mirror of the inputs, the outputs of every program, and a piece of
/// anything else.
std::int64_t mirror_bytes(const Plan& plan) {
    std::int64_t total = saturating_sum({input_stretch(plan).bytes, kCopiedAtOnce});
    for (const Program& program : plan.programs) {
        for (const Output& output : program.outputs) {
            const Tensor& tensor = program.tensors[std::size_t(output.tensor)];
            total =
                saturating_sum({total, saturating_product({kOutputsKept, element_count(tensor.dims),
                                                           size_of(tensor.dtype)})});
        }
    }
    return total;
}

}  // namespace

MemoryNeed memory_need(const Plan& plan) {
    const Memory& memory = plan.memory;
    const std::int64_t beside = saturating_sum({memory.staging, memory.samples});
    const std::int64_t limit =
        memory.samples - std::min(memory.samples, certain_sample_bytes(plan));
    MemoryNeed need;
    if (has_own_memory(plan.target)) {
        need.host = saturating_sum({beside, mirror_bytes(plan)});
        need.device = memory.arena;
    } else {
        need.host = saturating_sum({memory.arena, beside});
    }
    need.certain = need.host - limit;
    return need;
}

std::int64_t asked_mebibytes(std::int64_t host) {
    constexpr std::int64_t kMiB = 1 << 20;
    const std::int64_t all = saturating_sum({host, kBesidePlan});
    return all / kMiB + (all % kMiB > 0 ? 1 : 0);
}

std::string need_words(const MemoryNeed& need) {
    std::string text = need.device > 0
                           ? fmt::format("{} of the device and ", bytes_text(double(need.device)))
                           : "";
    text += bytes_text(double(need.certain)) + " a rank";
    if (need.certain < need.host)
        text += fmt::format(", at most {}", bytes_text(double(need.host)));
    return text;
}

}  // namespace dtnn::plan
