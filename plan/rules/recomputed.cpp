#include "plan/rules/recomputed.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace dtnn::plan {

Recomputed recomputed(const Plan& plan) {
    Recomputed sum;
    for (const Program& program : plan.programs) {
        if (program.kind != ProgramKind::train) continue;
        for (const Step& step : program.steps) {
            const bool again = step.phase == StepPhase::recompute;
            sum.steps += again;
            (again ? sum.flops : sum.others) += step.flops;
        }
        break;  // what is left of an epoch recomputes alike
    }
    return sum;
}

std::string recomputed_text(const Recomputed& recomputed) {
    if (recomputed.steps == 0) return "none";
    const double share =
        recomputed.others > 0 ? 100.0 * double(recomputed.flops) / double(recomputed.others) : 0;
    return fmt::format("{} (+{:.{}f} % FLOPs)", count_text(recomputed.steps, "step"), share,
                       share < 9.95 ? 1 : 0);
}

}  // namespace dtnn::plan
