#include "tools/dtnn_run/commands.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/report/bench_report.hpp"
#include "runtime/train/bench.hpp"
#include "tools/dtnn_run/allocation_count.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

int run_bench(const Options& options, Communicator& communicator) {
    Start start = start_together(communicator, options, [&] { return options.plan; });
    const plan::Plan& plan = start.loaded.plan;
    std::unique_ptr<SampleSource> source =
        options.synthetic_data
            ? open_together(communicator, [&] { return made_up_source(plan.dataset); })
            : open_data(communicator, start.loaded.plan).source;
    std::optional<Session> session;
    together(communicator, "the memory",
             [&] { session.emplace(plan, start.threads, std::move(source), communicator); });
    BenchRequest request;
    request.steps = options.steps;
    request.per_step = options.per_step;
    request.allocations = allocation_count;
    const BenchResult result = bench(*session, request);
    if (session->agreement().stopped()) return int(Exit::interrupted);
    if (communicator.rank() != 0) return int(Exit::done);
    const BenchFacts facts{&plan, plan.memory.arena, session->executor().arena_bytes(),
                           peak_memory(), session->executor().team().size()};
    print_out(options.format == "json" ? bench_json(result, facts) : bench_text(result, facts));
    return int(Exit::done);
}

}  // namespace

int bench_command(const Options& options) {
    return with_ranks(options,
                      [&](Communicator& communicator) { return run_bench(options, communicator); });
}

}  // namespace dtnn
