#include "tools/dtnn_run/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/exec/roofs.hpp"
#include "runtime/report/bench_report.hpp"
#include "runtime/report/roofline.hpp"
#include "runtime/report/trace.hpp"
#include "runtime/train/bench.hpp"
#include "tools/dtnn_run/allocation_count.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

constexpr std::int64_t kTracedSteps = 20;

/// Behind what is measured, which is not slowed by it. All ranks step; the trace is rank 0's.
void trace_steps(const Options& options, Session& session, BenchRequest request) {
    request.steps = std::min(request.steps, kTracedSteps);
    request.warm_up = 1;
    request.per_step = false;
    request.resident = false;
    std::optional<Trace> trace;
    if (session.rank() == 0) trace.emplace(session.executor());
    static_cast<void>(bench(session, request));
    if (!trace) return;
    write_file(options.trace, trace->json());
    tell_written(options.trace);
}

void draw_roofline(const Options& options, const BenchResult& result, const BenchFacts& facts) {
    const std::string title =
        fmt::format("{}: {}, {} samples, {}", facts.plan->name, plan::name_of(result.program->kind),
                    result.batch, count_text(facts.threads, "thread"));
    write_file(options.roofline, roofline_svg(result, facts.roofs, title));
    tell_written(options.roofline);
}

int run_bench(const Options& options, Communicator& communicator) {
    Start start = start_together(communicator, options, [&] { return options.plan; });
    const plan::Plan& plan = start.loaded.plan;
    if (options.trace == "-" || options.roofline == "-")
        throw RunError(Exit::usage,
                       fmt::format("{} -: the figures go to standard output",
                                   options.trace == "-" ? "--trace" : "--roofline"),
                       "name a file");
    if (!options.roofline.empty() && plan::has_own_memory(plan.target))
        throw RunError(Exit::usage, "--roofline needs a plan of CPU kernels",
                       "use --per-step or --trace for the times of a device");
    std::unique_ptr<SampleSource> source =
        options.synthetic_data
            ? open_together(communicator, [&] { return made_up_source(plan.dataset); })
            : open_data(communicator, start.loaded.plan).source;
    std::optional<Session> session;
    together(communicator, "the memory", [&] {
        session.emplace(plan, start.threads, std::move(source), communicator);
        pin_threads(start, *session);
    });
    // A file that cannot be written is better known now; until the end it is a trace of nothing.
    together(communicator, "the trace and the drawing", [&] {
        if (!options.trace.empty() && communicator.rank() == 0)
            write_file(options.trace, "{\"traceEvents\": []}\n");
        if (!options.roofline.empty() && communicator.rank() == 0)
            write_file(options.roofline, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    });
    BenchRequest request;
    plan::parse_name(options.program, request.program);
    request.steps = options.steps;
    request.per_step = options.per_step || !options.roofline.empty();
    request.resident = options.resident;
    request.allocations = allocation_count;
    const BenchResult result = bench(*session, request);
    if (session->agreement().stopped()) return int(Exit::interrupted);
    if (!options.trace.empty()) trace_steps(options, *session, request);
    if (communicator.rank() != 0) return int(Exit::done);
    BenchFacts facts{&plan, plan.memory.arena, session->executor().arena_bytes(), peak_memory(),
                     session->executor().team().size()};
    if (request.per_step) facts.roofs = measure_roofs(plan.target, facts.threads);
    if (!options.roofline.empty()) draw_roofline(options, result, facts);
    print_out(options.format == tools::Format::json ? bench_json(result, facts)
                                                    : bench_text(result, facts));
    return int(Exit::done);
}

}  // namespace

int bench_command(const Options& options) {
    return with_ranks(options,
                      [&](Communicator& communicator) { return run_bench(options, communicator); });
}

}  // namespace dtnn
