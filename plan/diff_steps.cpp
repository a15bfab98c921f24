#include "plan/diff_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "plan/json_text.hpp"
#include "plan/summary.hpp"

namespace dtnn::plan {

namespace {

constexpr std::string_view kFusion = "operators are fused differently";
constexpr std::string_view kKernels = "kernels of one operator compute the same but for rounding";
constexpr std::string_view kNetwork = "it follows from layers, loss, optimizer and metrics";
constexpr std::string_view kWork = "it follows from shapes and fusion";

// Whether both plans compute the same, so that other steps can only come from other fusion.
bool same_computation(const Plan& a, const Plan& b) {
    auto key = [](const Layer& l) {
        return std::tie(l.name, l.type, l.attributes, l.from, l.output_shape, l.weights_shape);
    };
    const Training &s = a.training, &t = b.training;
    return s.loss == t.loss && s.metrics == t.metrics && s.optimizer == t.optimizer &&
           s.optimizer_attributes == t.optimizer_attributes &&
           std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                      [&](const Layer& x, const Layer& y) { return key(x) == key(y); });
}

class StepComparison {
  public:
    StepComparison(const Plan& a, const Plan& b) : a_(a), b_(b), same_(same_computation(a, b)) {
        std::unordered_set<std::string> before, after;
        for (const Layer& layer : a.layers)
            before.insert(layer.name);
        for (const Layer& layer : b.layers)
            after.insert(layer.name);
        for (const std::string& name : before)
            if (!after.contains(name)) lone_layers_.insert(name);
        for (const std::string& name : after)
            if (!before.contains(name)) lone_layers_.insert(name);
    }

    std::vector<Change> run() {
        for (const Program& after : b_.programs)
            if (const Program* before = find_program(a_, after.name)) {
                steps(*before, before->prologue, after, after.prologue);
                steps(*before, before->steps, after, after.steps);
            }
        std::vector<Change> changes;
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            changes_[i].what =
                fmt::format("{} in {}", changes_[i].what, fmt::join(programs_[i], ", "));
            changes.push_back(std::move(changes_[i]));
        }
        return changes;
    }

  private:
    // Steps are named "layer.operator" or "layer.parameter.operator".
    bool of_lone_layer(const Step& step) const {
        return lone_layers_.contains(step.name.substr(0, step.name.find('.')));
    }

    void add(const std::string& program, const char* section, const std::string& what,
             std::string before, std::string after, Meaning meaning, std::string_view reason) {
        if (before == after) return;
        std::string key = fmt::format("{}\n{}\n{}\n{}", section, what, before, after);
        auto [known, added] = index_.emplace(std::move(key), changes_.size());
        if (added) {
            changes_.push_back(
                {section, what, std::move(before), std::move(after), meaning, std::string(reason)});
            programs_.emplace_back();
        }
        programs_[known->second].push_back(program);
    }

    static std::string kernel_text(const Step& step) { return step.op + "/" + step.kernel; }

    // What was fused into a step: the attributes that fusion sets.
    static std::string fused_text(const Step& step) {
        Attributes fused;
        for (const char* name : {"epilogue", "residual", "statistics", "mask", "expression"})
            if (auto found = step.attributes.find(name); found != step.attributes.end())
                fused.insert(*found);
        return json_text(fused);
    }

    // Work that only grows with the batch is told once, in the totals.
    static bool work_differs(const Step& a, std::int64_t batch_a, const Step& b,
                             std::int64_t batch_b) {
        double per_sample_a = static_cast<double>(a.flops) / static_cast<double>(batch_a);
        double per_sample_b = static_cast<double>(b.flops) / static_cast<double>(batch_b);
        return a.flops != b.flops && per_sample_a != per_sample_b;
    }

    void steps(const Program& program_a, const std::vector<Step>& before, const Program& program_b,
               const std::vector<Step>& after) {
        constexpr Meaning speed = Meaning::performance;
        const Meaning fusion = same_ ? speed : Meaning::result;
        const std::string_view reason = same_ ? kFusion : kNetwork;
        const std::string& program = program_b.name;
        std::unordered_map<std::string_view, const Step*> known;
        for (const Step& step : before)
            known[step.name] = &step;
        std::unordered_set<std::string_view> kept;
        for (const Step& step : after) {
            if (of_lone_layer(step)) continue;
            auto other = known.find(step.name);
            if (other == known.end()) {
                add(program, "fusion", step.name, "", step.op, fusion, reason);
                continue;
            }
            const Step& old = *other->second;
            kept.insert(step.name);
            add(program, "kernels", step.name, kernel_text(old), kernel_text(step), speed,
                kKernels);
            add(program, "fusion", step.name + " fused", fused_text(old), fused_text(step), fusion,
                reason);
            if (work_differs(old, program_a.batch, step, program_b.batch))
                add(program, "work", step.name, grouped(old.flops) + " FLOP",
                    grouped(step.flops) + " FLOP", Meaning::result, kWork);
        }
        for (const Step& step : before)
            if (!kept.contains(step.name) && !of_lone_layer(step))
                add(program, "fusion", step.name, step.op, "", fusion, reason);
    }

    const Plan& a_;
    const Plan& b_;
    const bool same_;
    std::set<std::string, std::less<>> lone_layers_;
    std::vector<Change> changes_;
    std::vector<std::vector<std::string>> programs_;  // by change
    std::map<std::string, std::size_t> index_;
};

}  // namespace

std::vector<Change> diff_steps(const Plan& a, const Plan& b) {
    return StepComparison(a, b).run();
}

}  // namespace dtnn::plan
