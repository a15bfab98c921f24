#include "tools/dtnn_run/commands.hpp"

#include <fmt/format.h>

#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/report/bench_report.hpp"
#include "runtime/train/bench.hpp"
#include "tools/dtnn_run/allocation_count.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

int bench_command(const Options& options) {
    const Start start(options.plan);
    const plan::Plan& plan = start.loaded.plan;
    Session session(
        plan, start.threads,
        options.synthetic_data ? made_up_source(plan.dataset) : open_source(plan.dataset));
    BenchRequest request;
    request.steps = options.steps;
    request.per_step = options.per_step;
    request.allocations = allocation_count;
    const BenchResult result = bench(session, request);
    if (stop_requested() != 0) return int(Exit::interrupted);
    const BenchFacts facts{&plan, plan.memory.arena, session.executor().arena_bytes(),
                           peak_memory(), session.executor().team().size()};
    print_out(options.format == "json" ? bench_json(result, facts) : bench_text(result, facts));
    return int(Exit::done);
}

}  // namespace dtnn
