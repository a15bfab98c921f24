#include "tests/gpu/plans.hpp"

#include <doctest/doctest.h>

#include "compiler/driver/compile_job.hpp"
#include "plan/audit/audit.hpp"
#include "plan/json/json.hpp"

namespace dtnn::gpu_plans {

plan::Plan compiled(const std::string& job, const std::vector<std::string>& settings,
                    const std::string& device, int ranks,
                    const std::vector<std::string>& disabled_passes) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.spec_path = {"specs"};
    options.settings = settings;
    if (ranks > 1) options.ranks = ranks;
    const compiler::JobSpec spec = compiler::load_job(job, options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const auto plan = compiler::compile_job(
        spec,
        {.device = device, .threads = device == "cpu" ? 1 : 0, .disabled_passes = disabled_passes},
        diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    plan::ReadResult read = plan::read_plan(plan::to_json(*plan));
    REQUIRE_MESSAGE(read.plan.has_value(), read.error);
    CHECK(plan::audit(*read.plan).empty());
    return *read.plan;
}

}  // namespace dtnn::gpu_plans
