#include "plan/diff/steps.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/json_text.hpp"
#include "plan/diff/change_list.hpp"

namespace dtnn::plan {

namespace {

constexpr const char* kFusion = "the same graph in other steps, or beside other metrics";
constexpr const char* kNetwork = "the steps follow from layers, loss and optimizer";
constexpr const char* kKernels = "kernels of one operator compute the same but for rounding";
constexpr const char* kBatches = "batches follow from batch size and number of samples";
constexpr const char* kDropout = "what is dropped is drawn by the layer's place in the list";

class StepComparison {
  public:
    StepComparison(const Plan& a, const Plan& b, const LayerNames& names, bool same)
        : a_(a), b_(b), names_(names), same_(same) {
        for (const auto& [before, after] : names)
            known_in_b_.insert(after);
        for (const Layer& layer : b.layers)
            layers_of_b_.insert(layer.name);
        for (const Layer& layer : a.layers)
            layers_of_a_.insert(layer.name);
    }

    void run(std::vector<Change>& all) {
        for (const Program& program : a_.programs)
            if (!find_program(b_, program.name)) batch(&program, nullptr);
        for (const Program& after : b_.programs) {
            const Program* before = find_program(a_, after.name);
            batch(before, &after);
            if (!before) continue;
            steps(after.name, before->prologue, after.prologue);
            steps(after.name, before->steps, after.steps);
        }
        changes_.move_to(all);
    }

  private:
    void batch(const Program* before, const Program* after) {
        const Program& program = after ? *after : *before;
        changes_.add({.section = Section::schedule,
                      .action = !before  ? Action::added
                                : !after ? Action::removed
                                         : Action::changed,
                      .what = program.name + " batch",
                      .before = before ? json_text(before->batch) : "",
                      .after = after ? json_text(after->batch) : "",
                      .meaning = program.kind == ProgramKind::train ? kMath : kSpeed,
                      .reason = kBatches,
                      .unit = Unit::count});
    }

    // Steps are named "layer.operator" or "layer.parameter.operator", others after their operator.
    // The name in `b`; empty when the layer is gone.
    std::string name_in_b(const Step& step) const {
        std::size_t dot = std::min(step.name.find('.'), step.name.size());
        std::string layer = step.name.substr(0, dot);
        if (!layers_of_a_.contains(layer)) return step.name;
        auto found = names_.find(layer);
        return found == names_.end() ? "" : found->second + step.name.substr(dot);
    }

    bool is_new(const Step& step) const {
        std::string layer = step.name.substr(0, step.name.find('.'));
        return layers_of_b_.contains(layer) && !known_in_b_.contains(layer);
    }

    void add(Change fact, const std::string& step, const std::string& program) {
        Change& change = changes_.add(std::move(fact), step);
        if (std::find(change.programs.begin(), change.programs.end(), program) ==
            change.programs.end())
            change.programs.push_back(program);
    }

    // "cudnn", "cudnn, engine 3".
    static std::string kernel_text(const Step& step) {
        const auto engine = step.attributes.find("engine");
        return engine == step.attributes.end()
                   ? step.kernel
                   : step.kernel + ", engine " + json_text(engine->second);
    }

    // The attributes that fusion has set at a step.
    static std::string fused_text(const Step& step) {
        Attributes fused;
        for (const char* name : {"epilogue", "residual", "statistics", "mask", "expression"})
            if (auto found = step.attributes.find(name);
                found != step.attributes.end() && found->second != AttributeValue("none"))
                fused.insert(*found);
        return json_text(fused);
    }

    void steps(const std::string& program, const std::vector<Step>& before,
               const std::vector<Step>& after) {
        const auto fused = [&](Action action, std::string what, std::string s, std::string t) {
            return make_change(Section::fusion, action, std::move(what), std::move(s), std::move(t),
                               same_ ? kSpeed : kMath, same_ ? kFusion : kNetwork);
        };
        std::unordered_map<std::string, const Step*> known;
        for (const Step& step : before)
            if (std::string name = name_in_b(step); !name.empty()) known.emplace(name, &step);
        std::unordered_set<const Step*> kept;
        for (const Step& step : after) {
            if (is_new(step)) continue;
            auto other = known.find(step.name);
            if (other == known.end()) {
                add(fused(Action::added, step.op, "", json_text(step.op)), step.name, program);
                continue;
            }
            const Step& old = *other->second;
            kept.insert(&old);
            if (const std::string s = kernel_text(old), t = kernel_text(step);
                old.op == step.op && s != t)
                add(make_change(Section::kernels, Action::changed, step.op, json_text(s),
                                json_text(t), kSpeed, kKernels),
                    step.name, program);
            if (old.op != step.op)
                add(fused(Action::changed, "operator", json_text(old.op), json_text(step.op)),
                    step.name, program);
            if (std::string s = fused_text(old), t = fused_text(step); s != t)
                add(fused(Action::changed, step.op + " fused", s, t), step.name, program);
            stream(old, step, program);
        }
        for (const Step& step : before)
            if (!kept.contains(&step))
                if (std::string name = name_in_b(step); !name.empty())
                    add(fused(Action::removed, step.op, json_text(step.op), ""), name, program);
    }

    void stream(const Step& old, const Step& step, const std::string& program) {
        auto s = old.attributes.find("stream"), t = step.attributes.find("stream");
        if (s == old.attributes.end() || t == step.attributes.end() || s->second == t->second)
            return;
        add(make_change(Section::first_values, Action::changed, "random numbers of " + step.op, "",
                        "", kMath, kDropout),
            step.name, program);
    }

    const Plan& a_;
    const Plan& b_;
    const LayerNames& names_;
    const bool same_;
    std::unordered_set<std::string> known_in_b_, layers_of_a_, layers_of_b_;
    ChangeList changes_;
};

}  // namespace

void diff_steps(const Plan& a, const Plan& b, const LayerNames& names, bool same_computation,
                std::vector<Change>& changes) {
    StepComparison(a, b, names, same_computation).run(changes);
}

}  // namespace dtnn::plan
