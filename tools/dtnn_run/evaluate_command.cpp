/// The loss and the metrics on one split.

#include <fmt/format.h>

#include <span>

#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/report/history.hpp"
#include "runtime/report/progress.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/split.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

int evaluate_command(const Options& options) {
    const Start start(options.plan);
    const plan::Plan& plan = start.loaded.plan;
    require_split(plan, options.split);
    Session session(plan, start.threads, open_source(plan.dataset));
    load_wanted_weights(session.executor(), options.weights, options.weight_options);
    const SplitSamples samples = samples_of(session.sampler(), options.split);
    const PassValues values = session.evaluate(samples.split, samples.order);
    if (stop_requested() != 0) return int(Exit::interrupted);
    require_number(values, options.split);
    if (options.format == "json") {
        print_out(fmt::format("{{\"version\": 1, \"name\": \"{}\", \"samples\": {}, \"{}\": {}}}\n",
                              json_text(plan.name), values.samples, options.split,
                              measures_json(values)));
    } else {
        print_out(fmt::format("{}: {} ({} samples)\n", options.split, measures_text(values),
                              values.samples));
    }
    return int(Exit::done);
}

}  // namespace dtnn
