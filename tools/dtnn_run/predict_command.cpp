/// Predictions for files, or for a split of the dataset.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/base/signals.hpp"
#include "runtime/data/sources/prediction_inputs.hpp"
#include "runtime/report/prediction_file.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/train/predict.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/split.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

PredictionFormat format_of(const Options& options) {
    if (options.prediction_format) return *options.prediction_format;
    if (options.output.empty() || options.output == "-") return PredictionFormat::csv;
    const std::string end = std::filesystem::path(options.output).extension().string();
    for (const auto& [name, format] : kPredictionFormats)
        if (format != PredictionFormat::png && end == "." + std::string(name)) return *format;
    throw RunError(Exit::usage, fmt::format("{} does not say its format", options.output),
                   "give it a name that ends in .csv, .jsonl or .npz, or say --format; "
                   "--format png writes masks into a folder");
}

/// The file of predictions must not be one of those that they are made from.
void require_other_output(const Options& options, const plan::Plan& plan,
                          const PredictionInputs* given) {
    if (options.output.empty() || options.output == "-") return;
    const auto refuse = [&](const std::string& what) {
        throw RunError(
            Exit::usage,
            fmt::format("{} is {}; the predictions would replace it", options.output, what),
            "name another file with --output");
    };
    const auto is_output = [&](const std::string& path) {
        std::error_code ignored;
        return std::filesystem::equivalent(path, options.output, ignored);
    };
    if (is_output(options.weights)) refuse("the file of weights");
    if (is_output(options.plan)) refuse("the plan");
    if (given != nullptr && given->reads(options.output)) refuse("one of the inputs");
    for (const char* name : {"path", "test_path"}) {
        const auto found = plan.dataset.attributes.find(name);
        if (given != nullptr || found == plan.dataset.attributes.end()) continue;
        const auto* path = std::get_if<std::string>(&found->second);
        if (path != nullptr && is_output(*path)) refuse("the dataset");
    }
}

}  // namespace

int predict_command(const Options& options) {
    const PredictionFormat format = format_of(options);
    const Start start(options.plan);
    const plan::Plan& plan = start.loaded.plan;
    const bool of_split = options.input.size() == 1 && is_split(options.input.front());
    PredictionFacts facts;
    facts.form = prediction_form(plan);
    facts.dtype = plan.target.dtype;
    facts.answers = of_split && plan.dataset.target().kind != plan::LabelKind::input;
    facts.threshold = options.threshold;
    if (of_split) require_split(plan, options.input.front());
    TrainedNames trained = read_trained_names(options.weights);
    std::unique_ptr<SampleSource> source;
    if (of_split) {
        require_other_output(options, plan, nullptr);
        source = open_dataset(plan);
    } else {
        auto given = std::make_unique<PredictionInputs>(options.input, plan.dataset,
                                                        std::move(trained.features));
        require_other_output(options, plan, given.get());
        source = std::move(given);
        tell_notes(*source);
    }
    facts.class_names = class_names_of(*source, plan.dataset);
    // The plan may not know what the files of the training have said.
    if (facts.class_names.empty() && plan.dataset.target().kind != plan::LabelKind::input &&
        std::int64_t(trained.classes.size()) == plan.dataset.target().classes)
        facts.class_names = std::move(trained.classes);
    if (const auto values = plan.dataset.attributes.find("mask_values");
        values != plan.dataset.attributes.end())
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&values->second))
            facts.mask_values = *list;
    Session session(plan, start.threads, std::move(source));
    load_wanted_weights(session.executor(), options.weights, options.weight_options);

    std::vector<std::int64_t> all;
    SplitSamples samples;
    if (of_split) {
        samples = samples_of(session.sampler(), options.input.front());
    } else {
        all.resize(std::size_t(session.source().size(Split::test)));
        std::iota(all.begin(), all.end(), std::int64_t{0});
        samples = {Split::test, all};
    }
    ProgressStyle style = choose_progress(options.progress);
    // The terminal may be where the predictions go.
    const bool prints = options.output.empty() || options.output == "-";
    if (prints && style == ProgressStyle::bar) style = ProgressStyle::none;
    ProgressReport progress(style, false, plan, options.progress_seconds);
    const auto writer =
        open_predictions(format, options.output.empty() ? "-" : options.output, std::move(facts));
    std::vector<std::string> names;
    predict(session, samples.split, samples.order, [&](const PredictedBatch& batch) {
        names.clear();
        for (std::int64_t i = batch.first; i < batch.first + batch.samples; ++i)
            names.push_back(session.source().name_of(samples.split, samples.order[std::size_t(i)]));
        writer->add(batch, names);
        progress.part("predictions: sample", batch.first + batch.samples,
                      std::int64_t(samples.order.size()));
    });
    if (stop_requested() != 0) return int(Exit::interrupted);
    writer->finish();
    progress.clear();
    if (!prints) tell_written(options.output);
    return int(Exit::done);
}

}  // namespace dtnn
