#include "runtime/train/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "plan/rules/ignored_labels.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/ranked_area.hpp"

namespace dtnn::runtime {
namespace {

double number_of(const BatchOutputs::Array& array) {
    return array.dtype == DType::f32 ? double(*static_cast<const float*>(array.data))
                                     : *static_cast<const double*>(array.data);
}

template <class T>
std::span<const T> elements_of(const BatchOutputs::Array& array) {
    return {static_cast<const T*>(array.data), std::size_t(array.elements)};
}

BatchOutputs::Array array_of(const plan::Program& program, int index, const void* data) {
    const plan::Tensor& tensor = program.tensors[std::size_t(index)];
    return {data, tensor.dtype, element_count(tensor.dims)};
}

/// What is not a number has a sign, which depends on how it came about, and which texts would show.
double unsigned_nan(double value) {
    return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::int64_t largest_split(const plan::Dataset& dataset) {
    return std::max(dataset.validation_samples, dataset.test_samples);
}

}  // namespace

BatchOutputs BatchOutputs::of(const plan::Plan& plan, const BoundProgram& program) {
    const plan::Program& p = program.program();
    const auto output = [&](const std::string& name) {
        for (const plan::Output& one : p.outputs)
            if (one.name == name) return array_of(p, one.tensor, program.output(name));
        return Array{};
    };
    BatchOutputs result;
    result.loss = output(plan::kLossName);
    result.loss_weight = output("loss_weight");
    result.counted = output(plan::kCountedLabels);
    for (const plan::Metric& metric : plan.training.metrics)
        result.metrics.push_back(output(metric.output));
    if (const plan::Input* target = plan::find_input(p, plan::InputRole::target))
        result.labels = array_of(p, target->tensor, program.input(target->role));
    return result;
}

double BatchOutputs::batch_loss() const {
    return number_of(loss);
}

MetricSet::MetricSet(const plan::Plan& plan, PassKind kind, std::int64_t samples)
    : plan_(&plan),
      kind_(kind),
      classes_(plan.dataset.target().classes),
      multiple_(plan.dataset.target().kind == plan::LabelKind::multiple),
      ignores_(plan::ignores_labels(plan.dataset)),
      scoring_(kNone) {
    running_.push_back({plan::kLossName, kLoss});
    const std::vector<plan::Metric>& metrics = plan.training.metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        const plan::Metric& metric = metrics[i];
        const plan::MetricInfo* info = plan::find_metric(metric.type);
        if (info == nullptr) {
            throw RunError(Exit::mismatch, fmt::format("no metric is called `{}`", metric.type),
                           "compile the job again with the dtnnc of this version");
        }
        if (info->join == plan::MetricJoin::sum || info->join == plan::MetricJoin::mean) {
            running_.push_back({metric.name, i, info, plan::metric_items(metric, plan.dataset)});
        } else if (info->join == plan::MetricJoin::scores) {
            scoring_ = i;
        } else if (std::none_of(counts_.begin(), counts_.end(),
                                [&](const Counts& c) { return c.output == metric.output; })) {
            const plan::CountForm form =
                plan::count_form(plan.training, plan.dataset.target().kind, metric.output);
            counts_.push_back({metric.output, i, ClassCounts(form, classes_)});
        }
    }
    if (kind == PassKind::training) scoring_ = kNone;
    if (scoring_ == kNone) return;
    const std::int64_t rows = (samples > 0 ? samples : largest_split(plan.dataset)) *
                              element_count(plan.dataset.target().dims);
    const bool wide = plan.target.dtype == DType::f64;
    (multiple_ ? answers_.reserve(std::size_t(rows * classes_))
               : labels_.reserve(std::size_t(rows)));
    (wide ? wide_scores_.reserve(std::size_t(rows * classes_))
          : scores_.reserve(std::size_t(rows * classes_)));
}

void MetricSet::reset() {
    samples_ = 0;
    weight_ = 0;
    counted_ = 0;
    for (Running& running : running_)
        running.sum = 0;
    for (Counts& counts : counts_)
        std::fill(counts.of_classes.numbers.begin(), counts.of_classes.numbers.end(), 0);
    scores_.clear();
    wide_scores_.clear();
    labels_.clear();
    answers_.clear();
    areas_.clear();
}

void MetricSet::add(const BatchOutputs& batch, std::int64_t samples) {
    const double weight =
        batch.loss_weight.data != nullptr ? number_of(batch.loss_weight) : double(samples);
    samples_ += samples;
    weight_ += weight;
    last_loss_ = {batch.batch_loss() * weight, weight};
    const double counted = batch.counted.data != nullptr ? number_of(batch.counted) : 0;
    counted_ += counted;
    for (Running& running : running_) {
        if (running.metric == kLoss) {
            running.sum += last_loss_.sum;
            continue;
        }
        const double value = number_of(batch.metrics[running.metric]);
        const bool mean = running.info->join == plan::MetricJoin::mean;
        const double rows = ignores_ ? counted : double(samples) * double(running.items);
        running.sum += mean ? value * rows : value;
    }
    for (Counts& counts : counts_) {
        const BatchOutputs::Array& array = batch.metrics[counts.metric];
        if (!multiple_) {
            const auto pairs = elements_of<std::int32_t>(array);
            for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
                counts.of_classes.add(pairs[i], pairs[i + 1]);
            continue;
        }
        const auto added = elements_of<std::int64_t>(array);
        for (std::size_t i = 0; i < counts.of_classes.numbers.size(); ++i)
            counts.of_classes.numbers[i] += added[i];
    }
    if (scoring_ != kNone) add_scores(batch);
}

void MetricSet::add_scores(const BatchOutputs& batch) {
    const BatchOutputs::Array& array = batch.metrics[scoring_];
    // Whatever a plan says: labels are read as what they are.
    const bool fits =
        multiple_ ? batch.labels.dtype == array.dtype && batch.labels.elements == array.elements
                  : batch.labels.dtype == DType::i32 &&
                        batch.labels.elements * classes_ == array.elements;
    if (batch.labels.data == nullptr || !fits) {
        throw RunError(Exit::mismatch, "the programs that evaluate do not read the labels",
                       "compile the job again with the dtnnc of this version");
    }
    const auto keep = [&](auto& scores) {
        using T = typename std::remove_reference_t<decltype(scores)>::value_type;
        const auto more = elements_of<T>(array);
        if (ignores_) {
            const auto labels = elements_of<std::int32_t>(batch.labels);
            for (std::size_t row = 0; row < labels.size(); ++row) {
                if (labels[row] == plan::kIgnoredLabel) continue;
                const auto from = more.begin() + std::ptrdiff_t(row) * classes_;
                scores.insert(scores.end(), from, from + classes_);
            }
            return;
        }
        scores.insert(scores.end(), more.begin(), more.end());
        if (!multiple_) return;
        for (const T answer : elements_of<T>(batch.labels))
            answers_.push_back(answer > T(0.5) ? 1 : 0);
    };
    if (array.dtype == DType::f32) {
        keep(scores_);
    } else {
        keep(wide_scores_);
    }
    if (multiple_) return;
    const auto labels = elements_of<std::int32_t>(batch.labels);
    std::copy_if(labels.begin(), labels.end(), std::back_inserter(labels_),
                 [&](std::int32_t label) { return !ignores_ || label != plan::kIgnoredLabel; });
}

std::vector<std::string> MetricSet::names() const {
    std::vector<std::string> names{plan::kLossName};
    for (const plan::Metric& metric : plan_->training.metrics) {
        const bool scores = plan::find_metric(metric.type)->join == plan::MetricJoin::scores;
        if (!scores || scoring_ != kNone) names.push_back(metric.name);
    }
    return names;
}

double MetricSet::running_value(std::size_t i) const {
    const Running& running = running_[i];
    const double count = running.metric == kLoss ? weight_
                         : ignores_              ? counted_
                                                 : double(samples_) * double(running.items);
    if (!(count > 0)) return 0;
    const double mean = running.sum / count;
    return unsigned_nan(running.info == nullptr ? mean : running.info->value(mean));
}

std::vector<MetricValue> MetricSet::values() const {
    std::vector<MetricValue> values;
    std::size_t next = 0;
    const auto add_running = [&] {
        MetricValue value;
        value.name = running_name(next);
        value.numbers = {running_value(next++)};
        values.push_back(std::move(value));
    };
    add_running();
    std::size_t area = 0;
    for (std::size_t i = 0; i < plan_->training.metrics.size(); ++i) {
        const plan::Metric& metric = plan_->training.metrics[i];
        const bool scores = plan::find_metric(metric.type)->join == plan::MetricJoin::scores;
        if (next < running_.size() && running_[next].metric == i) {
            add_running();
        } else if (scores && area < areas_.size()) {
            MetricValue value;
            value.name = metric.name;
            value.numbers = {unsigned_nan(areas_[area++])};
            values.push_back(std::move(value));
        } else if (plan::find_metric(metric.type)->join == plan::MetricJoin::counts ||
                   scoring_ != kNone) {
            values.push_back(value_of(metric));
        }
    }
    return values;
}

MetricValue MetricSet::value_of(const plan::Metric& metric) const {
    MetricValue value;
    value.name = metric.name;
    const plan::MetricInfo& info = *plan::find_metric(metric.type);
    const Averaging averaging = plan::averaging_of(metric.attributes);
    if (info.join == plan::MetricJoin::scores) {
        const Answers answers{labels_, answers_, classes_};
        value.numbers = {unsigned_nan(scores_.empty()
                                          ? ranked_area(std::span(wide_scores_), answers, averaging)
                                          : ranked_area(std::span(scores_), answers, averaging))};
        return value;
    }
    const auto counts = std::find_if(counts_.begin(), counts_.end(),
                                     [&](const Counts& c) { return c.output == metric.output; });
    if (info.form == plan::MetricForm::table) {
        value.form = MetricValue::Form::matrix;
        value.columns = counts->of_classes.columns();
        value.numbers.assign(counts->of_classes.numbers.begin(), counts->of_classes.numbers.end());
        return value;
    }
    if (averaging == Averaging::per_class) value.form = MetricValue::Form::list;
    value.numbers = rates(counts->of_classes, info.rate, averaging);
    return value;
}

template <class Self>
void MetricSet::visit_sums(Self& self, auto visit) {
    visit(self.samples_);
    visit(self.weight_);
    if (self.ignores_) visit(self.counted_);
    for (auto& running : self.running_)
        visit(running.sum);
}

template <class Self>
void MetricSet::visit_rows(Self& self, auto visit) {
    visit(self.scores_);
    visit(self.wide_scores_);
    visit(self.labels_);
    visit(self.answers_);
}

namespace {

void require_bytes(std::size_t found, std::size_t wanted, const char* what) {
    if (found == wanted) return;
    throw RunError(Exit::mismatch,
                   fmt::format("the {} of the metrics are {} bytes, those of this plan {}", what,
                               found, wanted),
                   "the checkpoint, or another rank, is of another plan");
}

}  // namespace

std::vector<std::byte> MetricSet::save_sums() const {
    std::vector<std::byte> bytes;
    visit_sums(*this, [&](const auto& number) {
        const auto* first = reinterpret_cast<const std::byte*>(&number);
        bytes.insert(bytes.end(), first, first + sizeof number);
    });
    return bytes;
}

void MetricSet::add_sums(std::span<const std::byte> saved) {
    std::size_t wanted = 0;
    visit_sums(*this, [&](const auto& number) { wanted += sizeof number; });
    require_bytes(saved.size(), wanted, "sums");
    visit_sums(*this, [&](auto& number) {
        std::remove_reference_t<decltype(number)> more;
        std::memcpy(&more, saved.data(), sizeof more);
        number += more;
        saved = saved.subspan(sizeof more);
    });
}

std::vector<std::byte> MetricSet::save_counts() const {
    std::vector<std::byte> bytes;
    for (const Counts& counts : counts_) {
        const auto numbers = std::as_bytes(std::span(counts.of_classes.numbers));
        bytes.insert(bytes.end(), numbers.begin(), numbers.end());
    }
    return bytes;
}

void MetricSet::add_counts(std::span<const std::byte> saved) {
    std::size_t wanted = 0;
    for (const Counts& counts : counts_)
        wanted += std::as_bytes(std::span(counts.of_classes.numbers)).size();
    require_bytes(saved.size(), wanted, "counts");
    for (Counts& counts : counts_) {
        for (std::int64_t& number : counts.of_classes.numbers) {
            std::int64_t more = 0;
            std::memcpy(&more, saved.data(), sizeof more);
            number += more;
            saved = saved.subspan(sizeof more);
        }
    }
}

/// Afterwards every rank has the sums. In pieces: what a reduction takes beside the numbers is as
/// large as they are in some of MPI's ways.
void MetricSet::add_up_counts(Communicator& communicator) {
    constexpr std::size_t kPiece = kGatherPiece / sizeof(std::int64_t);
    for (Counts& counts : counts_) {
        for (std::size_t first = 0; first < counts.of_classes.numbers.size(); first += kPiece) {
            const std::size_t count = std::min(kPiece, counts.of_classes.numbers.size() - first);
            const auto sum =
                communicator.all_reduce(&counts.of_classes.numbers[first], std::int64_t(count),
                                        DType::i64, Reduction::sum, "the counts of the metrics");
            sum->start();
            sum->wait();
        }
    }
}

void MetricSet::collect_counts(Communicator& communicator) {
    if (communicator.ranks() == 1) return;
    add_up_counts(communicator);
    if (communicator.rank() == 0) return;
    for (Counts& counts : counts_)
        std::fill(counts.of_classes.numbers.begin(), counts.of_classes.numbers.end(), 0);
}

void MetricSet::collect_rows(Communicator& communicator) {
    visit_rows(*this, [&](auto& rows) {
        using T = typename std::remove_reference_t<decltype(rows)>::value_type;
        static_assert(kGatherPiece % sizeof(T) == 0);
        communicator.gather(std::as_bytes(std::span(rows)), "the scores of a pass",
                            [&rows](int owner, std::span<const std::byte> piece) {
                                if (owner == 0) return;
                                const std::size_t before = rows.size();
                                rows.resize(before + piece.size() / sizeof(T));
                                std::memcpy(&rows[before], piece.data(), piece.size());
                            });
        if (communicator.rank() > 0) rows.clear();
    });
}

JoinedValues MetricSet::joined(Communicator& communicator) {
    if (communicator.ranks() == 1) return {values(), samples_};
    if (scoring_ != kNone) {
        collect_rows(communicator);
        areas_.clear();
        std::vector<double> areas;
        for (const plan::Metric& metric : plan_->training.metrics)
            if (plan::find_metric(metric.type)->join == plan::MetricJoin::scores)
                areas.push_back(communicator.rank() == 0 ? value_of(metric).number() : 0);
        communicator.broadcast(std::as_writable_bytes(std::span(areas)), 0, "the areas of a pass");
        areas_ = std::move(areas);
    }
    // This rank's own sums stay its own.
    const std::vector<std::byte> own = save_sums();
    const auto all = communicator.all_gather(own, "the sums of a pass");
    const auto begin_again = [this] { visit_sums(*this, [](auto& number) { number = 0; }); };
    begin_again();
    for (const std::vector<std::byte>& one : all)
        add_sums(one);
    add_up_counts(communicator);
    JoinedValues joined = {values(), samples_};
    begin_again();
    add_sums(own);
    areas_.clear();
    if (communicator.rank() > 0)
        for (Counts& counts : counts_)
            std::fill(counts.of_classes.numbers.begin(), counts.of_classes.numbers.end(), 0);
    return joined;
}

}  // namespace dtnn::runtime
