/// Predictions for files, or for a split of the dataset, by one network or the mean of several.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/data/sources/prediction_inputs.hpp"
#include "runtime/report/prediction_file.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/train/predict.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"
#include "tools/dtnn_run/trained_network.hpp"

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
void require_other_output(const Options& options, const TrainedNetwork& network,
                          const plan::Plan& plan, const PredictionInputs* given) {
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
    if (is_output(network.weights)) refuse("the file of weights");
    if (is_output(network.plan)) refuse("the plan");
    if (given != nullptr && given->reads(options.output)) refuse("one of the inputs");
    for (const char* name : {"path", "test_path"}) {
        const auto found = plan.dataset.attributes.find(name);
        if (given != nullptr || found == plan.dataset.attributes.end()) continue;
        const auto* path = std::get_if<std::string>(&found->second);
        if (path != nullptr && is_output(*path)) refuse("the dataset");
    }
}

/// A network that is ready to predict.
struct Predictor {
    Predictor(const Options& options, const TrainedNetwork& trained);

    TrainedNetwork network;
    Start start;
    PredictionFacts facts;
    std::uint64_t samples_hash = 0;  ///< of a split; else 0
    std::optional<Session> session;
    std::vector<std::int64_t> all;
    SplitSamples samples;
};

Predictor::Predictor(const Options& options, const TrainedNetwork& trained)
    : network(trained), start(trained.plan) {
    const plan::Plan& plan = start.loaded.plan;
    const bool of_split = options.input.size() == 1 && is_split(options.input.front());
    facts.form = prediction_form(plan);
    facts.dtype = plan.target.dtype;
    // Sequences of labels are not of the steps that predictions are of.
    facts.answers = of_split && plan.dataset.target().kind != plan::LabelKind::input &&
                    plan.dataset.target().kind != plan::LabelKind::sequence;
    facts.threshold = options.threshold;
    if (of_split) require_split(plan, options.input.front());
    TrainedNames names = read_trained_names(network.weights);
    std::unique_ptr<SampleSource> source;
    if (of_split) {
        require_other_output(options, network, plan, nullptr);
        source = open_dataset(plan);
        samples_hash = source->content_hash();
    } else {
        auto given = std::make_unique<PredictionInputs>(options.input, plan.dataset,
                                                        std::move(names.features));
        require_other_output(options, network, plan, given.get());
        source = std::move(given);
        tell_notes(*source);
    }
    facts.class_names = class_names_of(*source, plan.dataset, names.classes);
    if (const auto values = plan.dataset.attributes.find("mask_values");
        values != plan.dataset.attributes.end())
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&values->second))
            facts.mask_values = *list;
    session.emplace(plan, start.threads, std::move(source), FirstValues::loaded);
    load_wanted_weights(session->executor(), network.weights, options.weight_options);
    if (of_split) {
        samples = samples_of(session->sampler(), options.input.front());
    } else {
        all.resize(std::size_t(session->source().size(Split::test)));
        std::iota(all.begin(), all.end(), std::int64_t{0});
        samples = {Split::test, all};
    }
}

/// What is alike of networks whose predictions can be averaged.
struct Question {
    explicit Question(const Predictor& one)
        : name(one.network.name),
          facts(one.facts),
          samples_hash(one.samples_hash),
          order(one.samples.order.begin(), one.samples.order.end()) {}

    /// That the other network answers it.
    void check(const Predictor& other) const {
        const auto refuse = [&](const std::string& fact) {
            throw RunError(Exit::mismatch, fact,
                           "the mean is taken of networks that answer the same of the same "
                           "samples; name such runs");
        };
        const std::string& others = other.network.name;
        const PredictionForm &form = other.facts.form, &own = facts.form;
        if (form.kind != own.kind || form.dims != own.dims)
            refuse(fmt::format("{} gives [{}] numbers for a sample, {} [{}]{}", others,
                               fmt::join(form.dims, ", "), name, fmt::join(own.dims, ", "),
                               form.kind != own.kind ? " of another kind" : ""));
        if (form.probabilities != own.probabilities)
            refuse(fmt::format("{} gives probabilities, {} scores",
                               form.probabilities ? others : name,
                               form.probabilities ? name : others));
        if (!facts.class_names.empty() && !other.facts.class_names.empty() &&
            facts.class_names != other.facts.class_names)
            refuse(fmt::format("{} has other names of classes than {}", others, name));
        if (facts.mask_values != other.facts.mask_values)
            refuse(fmt::format("{} has other numbers in masks than {}", others, name));
        if (samples_hash != other.samples_hash)
            refuse(fmt::format("{} has another dataset than {}", others, name));
        if (!std::equal(order.begin(), order.end(), other.samples.order.begin(),
                        other.samples.order.end()))
            refuse(fmt::format("{} has other samples in this split than {}", others, name));
    }

    std::string name;
    PredictionFacts facts;
    std::uint64_t samples_hash;
    std::vector<std::int64_t> order;
};

/// Predictions for some samples, added up over networks, and what is right, by the first of them.
struct Answers {
    std::vector<double> sums;
    std::vector<std::int32_t> labels;
    std::vector<double> targets;
    std::vector<std::int32_t> lengths;
    std::vector<std::string> names;

    void add(const PredictedBatch& batch, std::int64_t elements, bool first) {
        double* const to = sums.data() + batch.first * elements;
        for (std::size_t i = 0; i < batch.predictions.size(); ++i)
            to[i] += batch.predictions[i];
        if (!first) return;
        labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
        targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
        lengths.insert(lengths.end(), batch.lengths.begin(), batch.lengths.end());
    }
};

class Prediction {
  public:
    explicit Prediction(const Options& options)
        : options_(options),
          format_(format_of(options)),
          prints_(options.output.empty() || options.output == "-") {
        if (options.runs.size() > 1 && !options.weights.empty())
            throw RunError(Exit::usage, "--weights is of one plan, and there are several",
                           "name folders of runs, each of which has weights of its own");
        for (const std::string& path : options.runs)
            networks_.push_back(trained_network(path, options.weights));
    }

    int run() {
        open(networks_.front());
        // The terminal may be where the predictions go.
        ProgressStyle style = choose_progress(options_.progress);
        if (prints_ && style == ProgressStyle::bar) style = ProgressStyle::none;
        progress_.emplace(style, false, now_->start.loaded.plan, options_.progress_seconds);
        writer_ = open_predictions(format_, prints_ ? "-" : options_.output, now_->facts);
        total_ = std::int64_t(now_->samples.order.size());
        if (networks_.size() == 1)
            predict_all();
        else
            predict_mean();
        if (stop_requested() != 0) return int(Exit::interrupted);
        writer_->finish();
        progress_->clear();
        if (!prints_) tell_written(options_.output);
        return int(Exit::done);
    }

  private:
    /// One at a time: networks may be as large as memory.
    void open(const TrainedNetwork& network) {
        now_.reset();
        now_ = std::make_unique<Predictor>(options_, network);
    }
    std::string name_of(std::int64_t index) const {
        return now_->session->source().name_of(now_->samples.split,
                                               now_->samples.order[std::size_t(index)]);
    }

    void predict_all() {
        std::vector<std::string> names;
        predict(*now_->session, now_->samples.split, now_->samples.order,
                [&](const PredictedBatch& batch) {
                    names.clear();
                    for (std::int64_t i = batch.first; i < batch.first + batch.samples; ++i)
                        names.push_back(name_of(i));
                    writer_->add(batch, names);
                    progress_->part("predictions: sample", batch.first + batch.samples, total_);
                });
    }

    /// Of as many samples at once as there is room for their sums.
    void predict_mean() {
        constexpr std::int64_t kMostNumbers = std::int64_t{1} << 25;  // 256 MiB
        const Question question(*now_);
        const std::int64_t elements = element_count(question.facts.form.dims);
        const std::int64_t most = std::max<std::int64_t>(1, kMostNumbers / elements);
        std::fprintf(stderr, "dtnn-run: the mean of what %s predict\n",
                     count_text(std::int64_t(networks_.size()), "network").c_str());
        for (std::int64_t first = 0; first < total_; first += most) {
            const std::int64_t count = std::min(most, total_ - first);
            Answers answers;
            answers.sums.assign(std::size_t(count * elements), 0.0);
            for (std::size_t i = 0; i < networks_.size(); ++i) {
                if (i > 0 || first > 0) open(networks_[i]);
                question.check(*now_);
                add(answers, first, count, i);
                if (stop_requested() != 0) return;
            }
            for (double& sum : answers.sums)
                sum /= double(networks_.size());
            PredictedBatch batch;
            batch.first = first;
            batch.samples = count;
            batch.predictions = answers.sums;
            batch.labels = answers.labels;
            batch.targets = answers.targets;
            batch.lengths = answers.lengths;
            writer_->add(batch, answers.names);
        }
    }

    /// Adds what the network that is open, the one with this number, says of some samples.
    void add(Answers& answers, std::int64_t first, std::int64_t count, std::size_t number) {
        const std::int64_t elements = element_count(now_->facts.form.dims);
        const auto networks = std::int64_t(networks_.size());
        const auto order = now_->samples.order.subspan(std::size_t(first), std::size_t(count));
        const std::int64_t done = first * networks + std::int64_t(number) * count;
        predict(*now_->session, now_->samples.split, order, [&](const PredictedBatch& batch) {
            answers.add(batch, elements, number == 0);
            progress_->part("predictions: sample", done + batch.first + batch.samples,
                            total_ * networks);
        });
        for (std::int64_t i = first; number == 0 && i < first + count; ++i)
            answers.names.push_back(name_of(i));
    }

    const Options& options_;
    PredictionFormat format_;
    bool prints_;
    std::vector<TrainedNetwork> networks_;
    std::unique_ptr<Predictor> now_;
    std::optional<ProgressReport> progress_;
    std::unique_ptr<PredictionWriter> writer_;
    std::int64_t total_ = 0;
};

}  // namespace

int predict_command(const Options& options) {
    return Prediction(options).run();
}

}  // namespace dtnn
