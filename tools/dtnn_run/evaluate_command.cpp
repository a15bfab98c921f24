/// The loss and the metrics on one split.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/json_text.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/report/history_writer.hpp"
#include "runtime/report/progress.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"
#include "tools/dtnn_run/trained_network.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

int evaluate(const Options& options, Communicator& communicator) {
    TrainedNetwork network;
    Start start = start_together(communicator, options, [&] {
        network = trained_network(options.plan, options.weights);
        return network.plan;
    });
    const plan::Plan& plan = start.loaded.plan;
    together(communicator, "the split", [&] { require_split(plan, options.split); });
    OpenData data = open_data(communicator, start.loaded.plan);
    std::optional<Session> session;
    together(communicator, "the memory and the weights", [&] {
        session.emplace(plan, start.threads, std::move(data.source), communicator,
                        FirstValues::loaded);
        load_wanted_weights(session->executor(), network.weights, options.weight_options);
    });
    session->share_parameters();
    std::optional<ProgressReport> progress;
    if (communicator.rank() == 0) {
        progress.emplace(choose_progress(options.progress), false, plan, options.progress_seconds);
        session->watch_evaluation([&](std::int64_t done, std::int64_t batches) {
            progress->part(options.split + ": batch", done, batches);
        });
    }
    const SplitSamples samples = samples_of(session->sampler(), options.split);
    const PassValues values = session->evaluate(samples.split, samples.order);
    if (values.stopped) return int(Exit::interrupted);
    together(communicator, "the loss", [&] { require_number(values, options.split); });
    if (communicator.rank() != 0) return int(Exit::done);
    progress->clear();
    if (options.format == tools::Format::json) {
        print_out(fmt::format("{{\"version\": 1, \"name\": {}, \"samples\": {}, \"{}\": {}}}\n",
                              json_text(plan.name), values.samples, options.split,
                              measures_json(values)));
    } else {
        print_out(fmt::format("{}: {} ({} samples)\n", options.split, measures_text(values),
                              values.samples));
    }
    return int(Exit::done);
}

}  // namespace

int evaluate_command(const Options& options) {
    return with_ranks(options,
                      [&](Communicator& communicator) { return evaluate(options, communicator); });
}

}  // namespace dtnn
