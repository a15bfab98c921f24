#include "tools/dtnnc_runtime/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>

#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "compiler/frontend/load_dataset.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/staging.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/data/survey.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/bench.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc_runtime/draw/contact_sheet.hpp"
#include "tools/dtnnc_runtime/find_data.hpp"

namespace dtnn::tools {
namespace {

using runtime::DataSurvey;
using runtime::NumberSpread;
using runtime::SplitSurvey;

constexpr std::size_t kClassesShown = 20;  ///< as text
constexpr double kMeasuredSeconds = 1;
constexpr std::int64_t kMeasuredSteps = 3;

struct Rates {
    double prepared = 0;           ///< samples a second, of the plan's workers
    std::optional<double> needed;  ///< samples a second that the training step takes
    std::string unknown;           ///< why it is not known
};

/// Everything that is said.
struct Report {
    plan::Plan plan;
    std::string spec;                  ///< of data, its text
    std::vector<std::string> remarks;  ///< of data, what was guessed
    bool job = false;
    std::uint64_t hash = 0;
    std::int64_t resident = 0;
    std::vector<std::string> names;    ///< of classes
    std::vector<std::string> columns;  ///< of a table, those that are features
    DataSurvey data;
    Rates rates;
};

/// A plan that has the dataset only.
plan::Plan plan_of(plan::Dataset dataset) {
    plan::Plan plan;
    plan.dataset = std::move(dataset);
    plan::Dataset& made = plan.dataset;
    if (!made.validation_files)
        made.validation_samples = made.test_as_validation ? made.test_samples : 0;
    plan.training.batch_size = std::min<std::int64_t>(64, made.train_samples);
    return plan;
}

/// The plan of a job, a model or a plan; of a dataset alone, or of data, one that has the dataset
/// only.
std::optional<Report> load(const DataCommand& command, compiler::Diagnostics& diagnostics) {
    const std::string& source = command.source;
    const CommonOptions& options = command.common;
    Report report;
    if (is_data(source)) {
        const std::string file = command.write.empty() ? source + " (looked at)" : command.write;
        auto written = write_spec(source, file, command.samples, options, diagnostics);
        if (!written) return std::nullopt;
        report.spec = std::move(written->text);
        report.remarks = std::move(written->remarks);
        report.plan = plan_of(std::move(written->spec.dataset));
        return report;
    }
    if (!command.write.empty())
        throw UsageError(
            fmt::format("--write writes the spec of data; {} is no folder, table, archive or "
                        "text\nhelp: name the "
                        "data itself, as in `dtnnc data data/flowers --write flowers.yaml`",
                        source));
    if (is_plan(source)) {
        refuse_spec_options(options, source);
        report.plan = load_plan(source);
        report.job = true;
        return report;
    }
    const compiler::LoadOptions load = load_options(options);
    if (auto dataset = compiler::load_dataset(source, load, diagnostics)) {
        report.plan = plan_of(std::move(dataset->dataset));
        return report;
    }
    if (diagnostics.has_errors()) return std::nullopt;
    auto plan = compile_spec(source, CompileCommand{}, options, diagnostics);
    if (!plan) return std::nullopt;
    report.plan = std::move(*plan);
    report.job = true;
    return report;
}

/// Samples a second, prepared as for training and thrown away.
double prepared_rate(const runtime::SampleSource& source, const plan::Plan& plan) {
    runtime::Sampler sampler(plan.dataset, plan.training);
    std::vector<runtime::Arrangement> arrangements;
    for (const plan::Feature& input : plan.dataset.inputs)
        arrangements.emplace_back(input.dims, Order());
    // Channels last, as most networks on processors have their input: the dearer order.
    if (plan::has_image(plan.dataset))
        arrangements.front() = runtime::Arrangement(plan.dataset.input().dims, {1, 2, 0});
    runtime::Pipeline pipeline(source, plan, std::move(arrangements));
    std::int64_t samples = 0;
    // The first batch warms caches and buffers up. Small datasets are gone through many times.
    bool warm = false;
    runtime::Stopwatch watch;
    for (std::int64_t epoch = 0; !warm || watch.seconds() < kMeasuredSeconds; ++epoch) {
        pipeline.start({.order = sampler.epoch_order(epoch),
                        .batch = plan.training.batch_size,
                        .epoch = epoch});
        while (const std::int64_t batch = pipeline.wait()) {
            pipeline.take({});
            samples += batch;
            if (!warm) samples = 0, watch.restart();
            warm = true;
            if (watch.seconds() >= kMeasuredSeconds) break;
        }
    }
    const double seconds = watch.seconds();
    pipeline.stop();
    return double(samples) / seconds;
}

/// Runs a few steps on this machine, on made-up samples.
Rates measure(const runtime::SampleSource& source, const Report& report, bool step) {
    Rates rates;
    rates.prepared = prepared_rate(source, report.plan);
    if (!report.job) {
        rates.unknown = "name a job to compare with its training step";
        return rates;
    }
    if (!step) {
        rates.unknown = "not measured";
        return rates;
    }
    try {
        runtime::check_runnable(report.plan, report.plan.name);
        runtime::Session session(report.plan, report.plan.target.threads,
                                 runtime::made_up_source(report.plan.dataset));
        runtime::BenchRequest request;
        request.steps = kMeasuredSteps;
        request.warm_up = 1;
        const runtime::BenchResult result = runtime::bench(session, request);
        const double median = runtime::spread_of(result.seconds).median;
        if (median > 0) rates.needed = double(result.batch) / median;
    } catch (const runtime::RunError& error) {
        rates.unknown = error.what();
    }
    return rates;
}

std::string names_of(const std::vector<plan::Component>& list) {
    std::string text;
    for (const plan::Component& one : list)
        text += (text.empty() ? "" : ", ") + one.type;
    return text;
}

std::string class_name(const Report& report, std::size_t i) {
    return i < report.names.size() ? report.names[i] : fmt::format("{}", i);
}

// ---- as text

std::string percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? fmt::format("{:.2f} %", 100.0 * double(part) / double(whole)) : "";
}

std::string splits_text(const Report& report) {
    const plan::Dataset& dataset = report.plan.dataset;
    std::string text = fmt::format("  training    {} samples an epoch, of {} in the source\n",
                                   dataset.train_samples, report.data.train.samples);
    if (dataset.validation_samples > 0)
        text += fmt::format("  validation  {} samples{}\n", dataset.validation_samples,
                            dataset.test_as_validation ? ": those of the test split"
                            : dataset.validation_files ? " of their own"
                                                       : ", taken from the training samples");
    text += fmt::format("  test        {} samples\n", report.data.test.samples);
    const auto part = [](const SplitSurvey& split) { return split.seen < split.samples; };
    if (part(report.data.train) || part(report.data.test))
        text += fmt::format("  what follows is of {} and {} of them, drawn at random\n",
                            report.data.train.seen, report.data.test.seen);
    return text;
}

std::string classes_text(const Report& report) {
    const std::vector<std::int64_t>&train = report.data.train.class_counts,
          &test = report.data.test.class_counts;
    if (train.empty()) return "";
    const std::int64_t all_train = std::accumulate(train.begin(), train.end(), std::int64_t{0});
    const std::int64_t all_test = std::accumulate(test.begin(), test.end(), std::int64_t{0});
    const auto [least, most] = std::minmax_element(train.begin(), train.end());
    std::string text =
        fmt::format("classes: {}; training samples of a class from {} ({}) to {} ({})\n",
                    train.size(), *least, class_name(report, std::size_t(least - train.begin())),
                    *most, class_name(report, std::size_t(most - train.begin())));
    Table table;
    table.columns = {{"  class", false}, {"training", true}, {"share", true},
                     {"test", true},     {"share", true},    {"", false}};
    for (std::size_t i = 0; i < std::min(train.size(), kClassesShown); ++i) {
        table.rows.push_back({"  " + class_name(report, i), fmt::format("{}", train[i]),
                              percent(train[i], all_train), fmt::format("{}", test[i]),
                              percent(test[i], all_test), train[i] == 0 ? "no samples" : ""});
    }
    text += text_table(table, output_width());
    const std::int64_t ignored = report.data.train.ignored, pixels = all_train + ignored;
    if (ignored > 0 && !plan::has_sequences(report.plan.dataset))
        text += fmt::format("  {} of the training samples' {} do not count (`{}`)\n",
                            percent(ignored, pixels),
                            plan::ignored_value(report.plan.dataset) ? "pixels" : "steps",
                            plan::ignored_value(report.plan.dataset) ? "ignored_value" : "lengths");
    if (train.size() > kClassesShown)
        text += fmt::format("  and {} more: --format json has all\n", train.size() - kClassesShown);
    return text;
}

/// A row for each, called by its name where there is one.
std::string numbers_text(const char* what, const std::vector<NumberSpread>& list,
                         const std::vector<std::string>& names = {}) {
    if (list.empty()) return "";
    Table table;
    table.columns = {{fmt::format("  {}", what), false},
                     {"mean", true},
                     {"deviation", true},
                     {"least", true},
                     {"greatest", true}};
    for (std::size_t i = 0; i < std::min(list.size(), kClassesShown); ++i)
        table.rows.push_back(
            {"  " + (i < names.size() ? names[i] : fmt::format("{}", i)),
             fmt::format("{:.4f}", list[i].mean), fmt::format("{:.4f}", list[i].standard_deviation),
             fmt::format("{:.4f}", list[i].least), fmt::format("{:.4f}", list[i].greatest)});
    std::string text = text_table(table, output_width());
    if (list.size() > kClassesShown)
        text += fmt::format("  and {} more: --format json has all\n", list.size() - kClassesShown);
    return text;
}

std::string rates_text(const Report& report) {
    const Rates& rates = report.rates;
    const int workers = report.plan.target.data_workers;
    std::string text = fmt::format("pipeline: {:.0f} samples a second with {}, measured here; ",
                                   rates.prepared, count_text(workers, "worker"));
    if (!rates.needed) return text + fmt::format("the training step: {}\n", rates.unknown);
    text += fmt::format("the training step takes {:.0f} on {}\n", *rates.needed,
                        count_text(report.plan.target.threads, "thread"));
    if (rates.prepared >= *rates.needed)
        return text + fmt::format("the data keep up: {:.1f} times as fast as they are needed\n",
                                  rates.prepared / *rates.needed);
    return text + fmt::format(
                      "the data do not keep up: training waits {:.0f} % of the time; give the job "
                      "more data_workers\n",
                      100 * (1 - rates.prepared / *rates.needed));
}

std::string report_text(const Report& report) {
    const plan::Dataset& dataset = report.plan.dataset;
    const DataSurvey& data = report.data;
    std::string text = fmt::format("dataset {} ({}), content {}\n", dataset.name, dataset.type,
                                   runtime::content_text(report.hash));
    text += splits_text(report);
    std::string sizes = shape_text(data.smallest);
    if (data.smallest != data.largest)
        sizes = fmt::format("from {} to {}", sizes, shape_text(data.largest));
    const bool image = plan::has_image(dataset);
    const plan::DatasetType* type = plan::find_dataset_type(dataset.type);
    const bool columns = type != nullptr && type->form == plan::DatasetForm::table;
    std::vector<std::string> shapes;
    for (const plan::Feature& input : dataset.inputs)
        shapes.push_back((input.name.empty() ? "" : input.name + " ") + shape_text(input.dims));
    text += fmt::format("samples: {}{} for the network\n",
                        image && !columns ? sizes + " stored, " : "", fmt::join(shapes, ", "));
    if (!dataset.transforms.empty())
        text += fmt::format("  transforms     {}\n", names_of(dataset.transforms));
    if (!dataset.augmentations.empty())
        text += fmt::format("  augmentations  {}\n", names_of(dataset.augmentations));
    text += classes_text(report);
    text += numbers_text("value", data.train.values);
    if (columns)
        text += "columns of the training samples, before normalize\n";
    else if (image)
        text += "pixels of the training samples, before normalize\n";
    text += numbers_text(columns ? "column" : "channel", data.channels,
                         columns ? report.columns : std::vector<std::string>());
    text += fmt::format("memory: {} for the samples, {} for batches prepared ahead\n",
                        bytes_text(double(report.resident)),
                        bytes_text(double(plan::staging_bytes(report.plan))));
    return text + rates_text(report);
}

// ---- as JSON

std::string numbers_json(const std::vector<NumberSpread>& list) {
    std::string text;
    for (const NumberSpread& one : list)
        text += fmt::format(
            "{}{{\"mean\": {}, \"deviation\": {}, \"least\": {}, \"greatest\": {}}}",
            text.empty() ? "" : ", ", one.mean, one.standard_deviation, one.least, one.greatest);
    return "[" + text + "]";
}

std::string split_json(const SplitSurvey& split) {
    return fmt::format(
        "{{\"samples\": {}, \"seen\": {}, \"class_counts\": [{}], \"ignored\": {}, \"values\": "
        "{}}}",
        split.samples, split.seen, fmt::join(split.class_counts, ", "), split.ignored,
        numbers_json(split.values));
}

std::string report_json(const Report& report) {
    const plan::Dataset& dataset = report.plan.dataset;
    const DataSurvey& data = report.data;
    std::vector<std::string> transforms, augmentations;
    for (const plan::Component& one : dataset.transforms)
        transforms.push_back(one.type);
    for (const plan::Component& one : dataset.augmentations)
        augmentations.push_back(one.type);
    return fmt::format(
        "{{\n  \"version\": 1,\n  \"name\": {},\n  \"type\": {},\n  \"content\": \"{}\",\n  "
        "\"train_samples\": {},\n  \"validation_samples\": {},\n  \"test_samples\": {},\n  "
        "\"stored\": {{\"smallest\": [{}], \"largest\": [{}]}},\n  \"shape\": [{}],\n  "
        "\"transforms\": {},\n  \"augmentations\": {},\n  \"class_names\": {},\n  \"train\": {},\n "
        " \"test\": {},\n  \"channels\": {},\n  \"memory\": {{\"samples\": {}, \"staging\": "
        "{}}},\n  \"pipeline\": {{\"workers\": {}, \"samples_per_second\": {:.1f}, "
        "\"needed_samples_per_second\": {}}}\n}}\n",
        json_text(dataset.name), json_text(dataset.type), runtime::content_text(report.hash),
        dataset.train_samples, dataset.validation_samples, dataset.test_samples,
        fmt::join(data.smallest, ", "), fmt::join(data.largest, ", "),
        fmt::join(dataset.input().dims, ", "), json_text(transforms), json_text(augmentations),
        json_text(report.names), split_json(data.train), split_json(data.test),
        numbers_json(data.channels), report.resident, plan::staging_bytes(report.plan),
        report.plan.target.data_workers, report.rates.prepared,
        report.rates.needed ? fmt::format("{:.1f}", *report.rates.needed) : "null");
}

/// A spec that somebody may have changed is not replaced.
void refuse_existing(const std::string& file) {
    std::error_code ignored;
    if (file.empty() || !std::filesystem::exists(file, ignored)) return;
    throw UsageError(
        fmt::format("--write: {} is there already\nhelp: name another file, or remove it", file));
}

}  // namespace

int data(const DataCommand& command) {
    const CommonOptions& options = command.common;
    refuse_existing(command.write);
    compiler::Diagnostics diagnostics;
    std::optional<Report> report = load(command, diagnostics);
    if (!report || options.format == Format::text) {
        const int exit_code = print_diagnostics(diagnostics, options);
        if (!report) return exit_code;
    }
    const auto samples = runtime::open_source(report->plan.dataset, runtime::Counts::exact,
                                              report->plan.target.dtype);
    for (const std::string& note : samples->notes())
        write_stderr(fmt::format("dtnnc: {}\n", note));
    for (const std::string& remark : report->remarks)
        write_stderr(fmt::format("dtnnc: {}: {}\n", command.source, remark));
    report->hash = samples->content_hash();
    report->resident = samples->resident_bytes();
    report->names = class_names_of(*samples, report->plan.dataset);
    report->columns = samples->feature_names();
    report->data = runtime::survey(*samples, report->plan, command.samples);
    if (!command.contact_sheet.empty()) {
        const std::string kind = std::filesystem::path(command.contact_sheet).extension();
        if (!kind.empty() && kind != ".png")
            throw UsageError(
                fmt::format("--contact-sheet {}: contact sheets are PNG images\n"
                            "help: give it a name that ends in .png",
                            command.contact_sheet));
        if (!plan::has_image(report->plan.dataset))
            throw UsageError(fmt::format("--contact-sheet {}: the samples are no images",
                                         command.contact_sheet));
        write_file(command.contact_sheet, contact_sheet(*samples, report->plan, {}));
        tell_written(command.contact_sheet);
    }
    report->rates = measure(*samples, *report, command.step);
    if (!command.write.empty()) {
        write_file(command.write, report->spec);
        tell_written(command.write);
    }
    write_stdout(options.format == Format::json ? report_json(*report) : report_text(*report));
    return 0;
}

}  // namespace dtnn::tools
