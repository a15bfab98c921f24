#include "runtime/exec/roofs.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/roofs.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::runtime {

Roofs measure_roofs(const plan::Target& target, int threads) {
    kernels::Isa isa{};
    if (plan::has_own_memory(target) || !kernels::parse_name(target.isa, isa)) return {};
    const DType dtype = target.dtype == DType::f64 ? DType::f64 : DType::f32;
    kernels::ThreadTeam team(threads);
    return {kernels::arithmetic_roof(isa, dtype, team), kernels::memory_roof(team)};
}

double measure_memory_roof(int threads) {
    kernels::ThreadTeam team(threads);
    return kernels::memory_roof(team);
}

}  // namespace dtnn::runtime
