#include "compiler/frontend/read/loss_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/quantity_text.hpp"
#include "base/tensor/choices.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/loss/losses.hpp"
#include "compiler/ops/op.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::compiler {
namespace {

const char* text_of(plan::LabelKind kind) {
    switch (kind) {
        case plan::LabelKind::classes:
            return "one class each";
        case plan::LabelKind::multiple:
            return "any number of classes";
        case plan::LabelKind::input:
            return "themselves (`target: input`)";
        case plan::LabelKind::sequence:
            return "a sequence of labels each (`labels: sequence`)";
        case plan::LabelKind::values:
            break;
    }
    return "numbers";
}

/// "one class each, or any number of classes"
template <class Info>
std::string kinds_text(const Info& takes) {
    std::string text;
    for (const auto kind : {plan::LabelKind::classes, plan::LabelKind::multiple,
                            plan::LabelKind::values, plan::LabelKind::sequence})
        if (takes(kind)) text += fmt::format("{}{}", text.empty() ? "" : ", or ", text_of(kind));
    return text;
}

class Checker {
  public:
    Checker(const JobSpec& job, Diagnostics& diagnostics)
        : job_(job),
          training_(job.training.training),
          dataset_(job.dataset.dataset),
          diagnostics_(diagnostics),
          loss_(find_loss(training_.loss, training_.loss_attributes)) {}

    /// What measures all pixels, or steps, alike leaves none out.
    void ignored() {
        const bool steps = !plan::ignored_value(dataset_);
        const char* const field = steps ? "lengths" : "ignored_value";
        const char* const place = steps ? "step" : "pixel";
        const auto refuse = [&](const std::string& path, const std::string& what,
                                const std::string& help) {
            Diagnostic& error = diagnostics_.error(
                Code::labels_mismatch, span(path),
                fmt::format("{} counts every {}, and the dataset leaves out those {} its `{}`",
                            what, place, steps ? "behind" : "of", field));
            error.notes.push_back(
                {span_or(job_.dataset.spans, field, job_.dataset.span), "it is here"});
            error.help = help;
        };
        const ComponentInfo* loss = losses().find(training_.loss);
        // A mean by the labels' weights is one over the labels that count.
        if (loss && !find_field(*loss->fields, "class_weights"))
            refuse("loss", fmt::format("the loss `{}`", training_.loss),
                   fmt::format(
                       "`categorical_cross_entropy` and `negative_log_likelihood` leave {}s out",
                       place));
        for (std::size_t i = 0; i < training_.metrics.size(); ++i) {
            const plan::MetricInfo* info = plan::find_metric(training_.metrics[i].type);
            if (info && info->join == plan::MetricJoin::sum && info->over_elements)
                refuse(fmt::format("metrics[{}]", i),
                       fmt::format("the metric `{}`", training_.metrics[i].type),
                       fmt::format("metrics of classes leave {}s out, such as "
                                   "categorical_accuracy, recall and confusion_matrix",
                                   place));
        }
    }

    void labels() {
        const plan::LabelKind kind = dataset_.target().kind;
        if (!loss_->takes_labels(kind))
            refuse("loss", fmt::format("the loss `{}`", training_.loss),
                   kinds_text([&](plan::LabelKind k) { return loss_->takes_labels(k); }));
        if (plan::ignores_labels(dataset_) && !plan::has_sequences(dataset_)) ignored();
        if (plan::mixes_samples(dataset_) && !loss_->soft) {
            Diagnostic& error = diagnostics_.error(
                Code::labels_mismatch, span("loss"),
                fmt::format("the loss `{}` takes one class for each sample, but `mixup` gives "
                            "samples shares of two",
                            training_.loss));
            error.notes.push_back({job_.dataset.span, "the dataset is here"});
            error.help = "choose `loss: categorical_cross_entropy`, or leave out `mixup`";
        }
        for (std::size_t i = 0; i < training_.metrics.size(); ++i) {
            const plan::MetricInfo* info = plan::find_metric(training_.metrics[i].type);
            if (info && !info->takes(kind))
                refuse(fmt::format("metrics[{}]", i),
                       fmt::format("the metric `{}`", training_.metrics[i].type),
                       kinds_text([&](plan::LabelKind k) { return info->takes(k); }));
        }
        best_of_all();
        blank();
        matrices();
        weights("class_weights", false);
        weights("positive_weights", true);
    }

    void model_end() {
        const LayerSpec* const last = &last_layer();
        const std::string& type = last->type;
        const plan::Prediction gives = op(type).gives;
        const bool probabilities = gives == plan::Prediction::probabilities;
        const bool logarithms = gives == plan::Prediction::log_probabilities;
        std::string wanted, help;
        if (loss_->takes == plan::Prediction::probabilities && !probabilities) {
            wanted = "probabilities";
            help = fmt::format("end the model with `- {}`",
                               loss_->joins.empty() ? "softmax" : loss_->joins);
        } else if (loss_->takes == plan::Prediction::log_probabilities && !logarithms) {
            wanted = "logarithms of probabilities";
            help = "end the model with `- log_softmax`";
        } else if (loss_->takes == plan::Prediction::logits && (probabilities || logarithms)) {
            wanted = "logits, as `from_logits` says";
            help = "leave out `from_logits`: a sigmoid and the loss become one stable operator";
        }
        // A layer has the axis that its user wrote.
        const auto axis = choice<AxisName>(last->fields, "axis");
        if (wanted.empty() && loss_->joins == type && axis &&
            named_axis(last->axes, *axis) != feature_axis(last->axes)) {
            wanted = fmt::format("probabilities of classes, and these do not lie along {}",
                                 name_of(*axis));
            help = "leave out `axis`";
        } else if (wanted.empty()) {
            return;
        }
        if (const LossInfo* other = loss_of_rows_behind(type); other && other != loss_)
            help = fmt::format("choose `loss: {}`", other->name);
        Diagnostic& error =
            diagnostics_.error(Code::not_probabilities, last->span,
                               fmt::format("the model ends in `{}`, but the loss `{}` takes {}",
                                           type, training_.loss, wanted));
        if (job_.training.spans.contains("loss"))
            error.notes.push_back({span("loss"), "the loss is chosen here"});
        error.help = help;
    }

    /// What is made of probabilities needs a model that gives them.
    void measured_ends() {
        const LayerSpec& last = last_layer();
        if (op(last.type).gives != plan::Prediction::scores) return;
        for (std::size_t i = 0; i < training_.metrics.size(); ++i) {
            const plan::MetricInfo* info = plan::find_metric(training_.metrics[i].type);
            if (!info || info->join != plan::MetricJoin::mean) continue;
            Diagnostic& error = diagnostics_.error(
                Code::not_probabilities, span(fmt::format("metrics[{}]", i)),
                fmt::format("the metric `{}` takes probabilities, or their logarithms, but the "
                            "model ends in `{}`",
                            info->type, last.type));
            error.notes.push_back({last.span, "it ends here"});
            error.help = "end the model with `- softmax`, or leave the metric out";
        }
    }

  private:
    /// The last that does more than order numbers.
    const LayerSpec& last_layer() const {
        const std::vector<LayerSpec>& layers = job_.model.layers;
        const LayerSpec* last = &layers.back();
        while (last->sources[0] >= 0 && op(last->type).keeps_numbers)
            last = &layers[std::size_t(last->sources[0])];
        return *last;
    }

    /// The loss over rows that goes with the model's last layer, where the training's is one that
    /// goes with another layer; null otherwise.
    const LossInfo* loss_of_rows_behind(const std::string& type) const {
        const auto of_rows = [](const LossInfo& loss) {
            return !loss.is_pointwise() && !loss.joins.empty();
        };
        if (!of_rows(*loss_)) return nullptr;
        for (const LossInfo& other : all_losses())
            if (of_rows(other) && other.joins == type && other.takes_labels(dataset_.target().kind))
                return &other;
        return nullptr;
    }

    Span span(const std::string& path) const {
        return span_or(job_.training.spans, path, job_.training.span);
    }

    void refuse(const std::string& path, const std::string& what, const std::string& takes) {
        Diagnostic& error = diagnostics_.error(
            Code::labels_mismatch, span(path),
            fmt::format("{} takes samples with {}, but the dataset `{}` labels them with {}", what,
                        takes, dataset_.name, text_of(dataset_.target().kind)));
        error.notes.push_back({job_.dataset.span, "the dataset is here"});
        std::vector<std::string> others;
        if (path == "loss") {
            for (const LossInfo& other : all_losses())
                // One is written as another with a field.
                if (other.takes_labels(dataset_.target().kind) && losses().find(other.name))
                    others.emplace_back(other.name);
        } else {
            for (const plan::MetricInfo& other : plan::all_metrics())
                if (other.takes(dataset_.target().kind)) others.emplace_back(other.type);
        }
        error.help = fmt::format("of such labels can be taken {}", fmt::join(others, ", "));
    }

    /// A matrix grows with the square of the classes.
    void matrices() {
        const std::int64_t classes = dataset_.target().classes;
        if (dataset_.target().kind != plan::LabelKind::classes ||
            classes <= plan::kMostMatrixClasses)
            return;
        for (std::size_t i = 0; i < training_.metrics.size(); ++i) {
            const plan::MetricInfo* info = plan::find_metric(training_.metrics[i].type);
            if (!info || info->form != plan::MetricForm::table) continue;
            const plan::MatrixPrice price = plan::price_of_matrix(classes);
            Diagnostic& error = diagnostics_.error(
                Code::matrix_too_large, span(fmt::format("metrics[{}]", i)),
                fmt::format("the metric `{}` of {} classes takes {} of memory and up to {} of each "
                            "line in the history; the most are {} classes",
                            info->type, grouped(classes), bytes_text(price.memory),
                            bytes_text(price.line), grouped(plan::kMostMatrixClasses)));
            error.notes.push_back({job_.dataset.span, "the dataset is here"});
            error.help =
                "leave it out: precision, recall, f1 and mean_iou need three numbers a class, and "
                "tell of each with `average: per_class`";
        }
    }

    /// There are not more best than there are classes.
    void best_of_all() {
        for (std::size_t i = 0; i < training_.metrics.size(); ++i) {
            const plan::Metric& metric = training_.metrics[i];
            const auto found = metric.attributes.find("k");
            if (found == metric.attributes.end()) continue;
            const std::int64_t k = std::get<std::int64_t>(found->second);
            if (k <= dataset_.target().classes) continue;
            const std::string path = fmt::format("metrics[{}]", i);
            Diagnostic& error = diagnostics_.error(
                Code::labels_mismatch,
                span_or(job_.training.spans, fmt::format("{}.{}.k", path, metric.type), span(path)),
                fmt::format("`k` of {} is {}, but the dataset `{}` has {} classes", metric.type, k,
                            dataset_.name, dataset_.target().classes));
            error.notes.push_back({job_.dataset.span, "the dataset is here"});
            error.help = fmt::format("give a `k` below {}: of all, one is always right",
                                     dataset_.target().classes);
        }
    }

    /// A class that is no label, and one or more that are.
    void blank() {
        const auto found = training_.loss_attributes.find(plan::kBlank);
        if (!plan::has_sequences(dataset_) || found == training_.loss_attributes.end()) return;
        const std::int64_t blank = std::get<std::int64_t>(found->second);
        const std::int64_t classes = dataset_.target().classes;
        if (classes >= 2 && blank < classes) return;
        const std::string path = fmt::format("loss.{}.{}", training_.loss, plan::kBlank);
        Diagnostic& error = diagnostics_.error(
            Code::labels_mismatch, span_or(job_.training.spans, path, span("loss")),
            classes < 2
                ? fmt::format("the loss `{}` takes one class for its blank, which leaves none for "
                              "labels: the dataset `{}` has 1 class",
                              training_.loss, dataset_.name)
                : fmt::format("`{}` of {} is {}, but the dataset `{}` has the classes 0 to {}",
                              plan::kBlank, training_.loss, blank, dataset_.name, classes - 1));
        error.notes.push_back({span_or(job_.dataset.spans, "classes", job_.dataset.span),
                               "the dataset's classes are said here"});
        error.help = classes < 2
                         ? "`classes` counts the labels and the blank: give it one more than there "
                           "are labels"
                         : fmt::format(
                               "`classes` counts the blank: where the labels are 0 to {}, write "
                               "`classes: {}`",
                               blank - 1, blank + 1);
    }

    void weights(const char* field, bool one_for_all) {
        const auto found = training_.loss_attributes.find(field);
        if (found == training_.loss_attributes.end()) return;
        const auto& list = std::get<std::vector<double>>(found->second);
        const auto count = std::int64_t(list.size());
        const std::string path = fmt::format("loss.{}.{}", training_.loss, field);
        if (count == dataset_.target().classes || (one_for_all && count == 1)) {
            if (one_for_all ||
                std::any_of(list.begin(), list.end(), [](double weight) { return weight > 0; }))
                return;
            diagnostics_.error(Code::out_of_range, span(path),
                               fmt::format("`{}` of {} are all 0: nothing would be learnt", field,
                                           training_.loss));
            return;
        }
        Diagnostic& error = diagnostics_.error(
            Code::labels_mismatch, span(path),
            fmt::format("`{}` of {} are {} numbers, but the dataset `{}` has {} classes", field,
                        training_.loss, count, dataset_.name, dataset_.target().classes));
        error.notes.push_back({job_.dataset.span, "the dataset is here"});
        error.help = fmt::format("give {} numbers{}", dataset_.target().classes,
                                 one_for_all ? ", or one for all classes" : "");
    }

    const JobSpec& job_;
    const plan::Training& training_;
    const plan::Dataset& dataset_;
    Diagnostics& diagnostics_;
    const LossInfo* loss_;
};

}  // namespace

void check_labels(const JobSpec& job, Diagnostics& diagnostics) {
    if (!job.model_alone) Checker(job, diagnostics).labels();
}

void check_model_end(const JobSpec& job, Diagnostics& diagnostics) {
    if (job.model_alone) return;
    Checker checker(job, diagnostics);
    checker.model_end();
    checker.measured_ends();
}

}  // namespace dtnn::compiler
