// The rules of the schedules of a training beside their tables: each has an effect, they do not
// undo each other, and what they watch is computed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/expression/expression.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/ops/expression/parse_infix.hpp"
#include "plan/metrics.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kValidation = "validation.";

/// Of schedules that are given twice.
constexpr const char* kOneOfThem = "leave one of them out";

Expression formula_of(const plan::Component& component, const Field& field) {
    return parse_infix(std::get<std::string>(component.attributes.at(std::string(field.name))),
                       {field.choices.begin(), field.choices.end()});
}

class ScheduleCheck {
  public:
    ScheduleCheck(const TrainingSpec& spec, Diagnostics& diagnostics)
        : spec_(spec), training_(spec.training), diagnostics_(diagnostics) {}

    void run() {
        for (std::size_t i = 0; i < training_.schedules.size(); ++i) {
            minimum(i);
            formulas(i);
            for (std::size_t j = 0; j < i; ++j)
                if (pair(j, i)) break;
        }
    }

  private:
    const plan::Component& at(std::size_t i) const { return training_.schedules[i]; }

    Span span(std::size_t i, const char* field = nullptr) const {
        const std::string path = fmt::format("schedules[{}]", i);
        Span whole = span_or(spec_.spans, path, spec_.span);
        if (!field) return whole;
        return span_or(spec_.spans, fmt::format("{}.{}.{}", path, at(i).type, field), whole);
    }

    template <class Value>
    const Value* field(std::size_t i, const char* name) const {
        const auto found = at(i).attributes.find(name);
        return found == at(i).attributes.end() ? nullptr : std::get_if<Value>(&found->second);
    }

    /// One that falls to a minimum above the learning rate would raise it.
    void minimum(std::size_t i) {
        const auto* minimum = field<double>(i, "minimum");
        if (!minimum || *minimum <= training_.learning_rate) return;
        diagnostics_.error(
            Code::out_of_range, span(i, "minimum"),
            fmt::format("`minimum` of {} is {}, above the learning rate, which is {}", at(i).type,
                        *minimum, training_.learning_rate),
            "it is a learning rate, not a factor");
    }

    /// A factor that is negative, infinite or not a number at the beginning of an epoch. What
    /// depends on the steps is known when these are.
    void formulas(std::size_t i) {
        constexpr std::int64_t kMostTried = 10'000;
        const ComponentInfo& info = *schedules().find(at(i).type);
        for (const Field& of : *info.fields) {
            if (of.type != FieldType::expression) continue;
            const std::string name(of.name);
            const Expression factor = formula_of(at(i), of);
            const auto epochs = double(training_.epochs);
            if (reads(factor, 1) || reads(factor, 3)) continue;
            for (std::int64_t epoch = 0; epoch < std::min(training_.epochs, kMostTried); ++epoch) {
                const double value = evaluate(factor, std::array{double(epoch), 0.0, epochs, 0.0});
                if (value >= 0 && std::isfinite(value)) continue;
                diagnostics_.error(
                    Code::out_of_range, span(i, name.c_str()),
                    fmt::format("`{}` of {} is {} when epoch is {}; it must be a finite "
                                "number, 0 or more",
                                name, at(i).type, value, epoch),
                    "max(..., 0) keeps it from falling below 0");
                return;
            }
        }
    }

    /// The epochs in which a cosine or polynomial falls: from, and up to.
    std::pair<std::int64_t, std::int64_t> fall(std::size_t i) const {
        const std::int64_t begin = *field<std::int64_t>(i, "begin");
        const std::int64_t epochs = *field<std::int64_t>(i, "epochs");
        return {begin, epochs > 0 ? begin + epochs : std::numeric_limits<std::int64_t>::max()};
    }

    /// Why schedules of one kind are one too many; empty: they are not.
    std::string conflict(std::size_t i, std::size_t j) const {
        const std::string& type = at(i).type;
        const ComponentInfo& info = *schedules().find(type);
        if (at(i).attributes == at(j).attributes)
            return fmt::format("{} is listed twice with the same fields", type);
        if (info.rises)
            return fmt::format("{} is listed twice; the learning rate rises once", type);
        if (info.falls) {
            const auto [first, first_end] = fall(i);
            const auto [second, second_end] = fall(j);
            if (first < second_end && second < first_end)
                return fmt::format(
                    "two schedules {} fall in the same epochs; what is left of the "
                    "learning rate would be the product of both",
                    type);
        }
        const bool* first_restores = field<bool>(i, "restore_best");
        const bool* second_restores = field<bool>(j, "restore_best");
        if (first_restores && *first_restores && second_restores && *second_restores)
            return "two schedules early_stopping have `restore_best`; the training ends with the "
                   "weights of one epoch";
        return "";
    }

    bool pair(std::size_t i, std::size_t j) {
        if (at(i).type != at(j).type) return false;
        const std::string why = conflict(i, j);
        if (why.empty()) return false;
        Diagnostic& error = diagnostics_.error(Code::conflicting_fields, span(j), why);
        error.notes.push_back({span(i), "the other is here"});
        error.help = schedules().find(at(j).type)->falls
                         ? "leave one of them out, or let one `begin` where the other ends"
                         : kOneOfThem;
        return true;
    }

    const TrainingSpec& spec_;
    const plan::Training& training_;
    Diagnostics& diagnostics_;
};

}  // namespace

plan::Training planned_training(const TrainingSpec& spec) {
    plan::Training training = spec.training;
    for (plan::Component& schedule : training.schedules)
        for (const Field& field : *schedules().find(schedule.type)->fields)
            if (field.type == FieldType::expression)
                schedule.attributes[std::string(field.name)] =
                    to_postfix(simplify(formula_of(schedule, field)));
    return training;
}

void check_schedules(const TrainingSpec& spec, Diagnostics& diagnostics) {
    ScheduleCheck(spec, diagnostics).run();
}

void check_watched(const TrainingSpec& spec, const DatasetSpec* dataset, Diagnostics& diagnostics) {
    const plan::Training& training = spec.training;
    const bool validated = !dataset || training.validation_split > 0 || training.k_folds > 0 ||
                           dataset->dataset.test_as_validation || dataset->dataset.validation_files;
    for (std::size_t i = 0; i < training.schedules.size(); ++i) {
        const plan::Component& schedule = training.schedules[i];
        const auto field = schedule.attributes.find("metric");
        if (field == schedule.attributes.end()) continue;
        const std::string& watched = std::get<std::string>(field->second);
        const std::string path = fmt::format("schedules[{}]", i);
        const Span span = span_or(spec.spans, fmt::format("{}.{}.metric", path, schedule.type),
                                  span_or(spec.spans, path, spec.span));
        const bool of_validation = watched.starts_with(kValidation);
        const std::string name = of_validation ? watched.substr(kValidation.size()) : watched;
        std::vector<std::string> names = {plan::kLossName};
        const plan::Metric* found = nullptr;
        for (const plan::Metric& metric : training.metrics) {
            if (plan::is_one_number(metric) && (of_validation || is_of_training(metric)))
                names.push_back(metric.name);
            if (metric.name == name) found = &metric;
        }
        const bool unmeasured = found && !of_validation && !is_of_training(*found);
        if (name != plan::kLossName && (!found || !plan::is_one_number(*found) || unmeasured)) {
            const std::string fact = unmeasured ? "is measured on validation samples only"
                                     : found    ? "is no single number"
                                     : metrics().find(name)
                                         ? "is not among the training's metrics"
                                         : "is neither `loss` nor a metric of the training";
            std::vector<std::string> candidates = names;
            for (const plan::Metric& metric : training.metrics)
                if (plan::is_one_number(metric))
                    candidates.push_back(std::string(kValidation) + metric.name);
            candidates.push_back(std::string(kValidation) + plan::kLossName);
            // val_loss and validation_loss are what others call them.
            std::string meant = name;
            bool meant_validation = of_validation;
            for (const std::string_view other : {"validation_", "val_", "val."})
                if (!of_validation && watched.starts_with(other)) {
                    meant = watched.substr(other.size());
                    meant_validation = true;
                    break;
                }
            const auto near = did_you_mean(meant, names);
            diagnostics.error(
                Code::unknown_metric, span,
                fmt::format("{} watches `{}`, but `{}` {}", schedule.type, watched, name, fact),
                !found && metrics().find(name) ? fmt::format("add `{}` to `metrics`", name)
                : near && !found               ? fmt::format("did you mean `{}{}`?",
                                               meant_validation ? kValidation : "", *near)
                                               : suggest(watched, candidates, "what it can watch"));
        } else if (of_validation && !validated) {
            diagnostics.error(Code::unknown_metric, span,
                              fmt::format("{} watches `{}`, but the job has no validation samples",
                                          schedule.type, watched),
                              "give the training `validation_split: 0.1`, or the dataset "
                              "`test_as_validation: true`");
        }
    }
}

}  // namespace dtnn::compiler
