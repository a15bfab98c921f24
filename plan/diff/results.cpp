#include "plan/diff/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json_text.hpp"
#include "plan/diff/change_list.hpp"
#include "plan/initializer.hpp"
#include "plan/rules/communication.hpp"
#include "plan/rules/compression.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/recomputed.hpp"
#include "plan/summary/summary.hpp"

namespace dtnn::plan {

namespace {

class ResultComparison {
  public:
    ResultComparison(const Plan& a, const Plan& b) : a_(a), b_(b) {}

    void move_to(std::vector<Change>& all) { changes_.move_to(all); }

    void parameters(const LayerNames& names) {
        constexpr const char* reason = "parameters follow from fields and shapes";
        auto totals = [](const Plan& plan) {
            std::pair<std::int64_t, std::int64_t> sums;
            for (const Layer& layer : plan.layers) {
                sums.first += layer.parameters;
                sums.second += layer.trainable;
            }
            return sums;
        };
        auto [total_a, trainable_a] = totals(a_);
        auto [total_b, trainable_b] = totals(b_);
        number(Section::parameters, "total", total_a, total_b, Unit::count, kMath, reason);
        number(Section::parameters, "trainable", trainable_a, trainable_b, Unit::count, kMath,
               reason);

        std::unordered_map<std::string, const Parameter*> known;
        for (const Parameter& parameter : a_.parameters)
            known.emplace(name_in_b(parameter.name, names), &parameter);
        std::vector<std::string> old_names, new_names;
        for (const Parameter& q : b_.parameters) {
            auto found = known.find(q.name);
            if (found == known.end() || q.optimizer_state) continue;
            const Parameter& p = *found->second;
            if (p.name != q.name) note_names(p.name, q.name, old_names, new_names);
            member(make_change(Section::parameters, Action::changed, "trainable",
                               json_text(p.trainable), json_text(q.trainable), kMath,
                               "it is trained in one of the two only"),
                   q.name);
            first_values(p, q);
            // Extents are compared with the layer; only the arrangement counts here.
            if (p.order != q.order || (p.physical_dims == p.dims) != (q.physical_dims == q.dims))
                member(make_change(Section::layouts, Action::changed, "order of axes",
                                   json_text(p.order), json_text(q.order), kSpeed,
                                   "the same elements stored in another order"),
                       q.name);
        }
        if (new_names.empty()) return;
        changes_.add(
            make_change(Section::weight_files, Action::renamed, "names", json_text(old_names),
                        json_text(new_names), kNames,
                        "files that a run of the one wrote are read by the other with --map"));
    }

    void data() {
        const Dataset &s = a_.dataset, &t = b_.dataset;
        constexpr const char* samples = "it follows from the dataset and the validation split";
        number(Section::data, "training samples", s.train_samples, t.train_samples, Unit::count,
               kMath, samples);
        number(Section::data, "validation samples", s.validation_samples, t.validation_samples,
               Unit::count, kMath, samples);
        number(Section::data, "test samples", s.test_samples, t.test_samples, Unit::count, kMath,
               samples);
        value(Section::data, "shape of a sample", json_text(s.input().dims),
              json_text(t.input().dims), kMath, "it follows from the dataset");
        number(Section::data, "classes", s.target().classes, t.target().classes, Unit::count, kMath,
               "it follows from the dataset");
    }

    void schedule() {
        // A plan says how many a whole epoch has; of a job's limit many ranks may stay below.
        const auto steps_of = [](const Plan& plan) {
            return plan.training.whole_epochs ? plan.training.steps_per_epoch
                                              : steps_per_epoch(plan, plan.target.ranks);
        };
        const std::int64_t s = steps_of(a_), t = steps_of(b_);
        // More or fewer batches an update, of as many samples, leave the updates as they are.
        const bool same_updates = a_.training.batch_size * a_.training.accumulation ==
                                      b_.training.batch_size * b_.training.accumulation &&
                                  s * b_.training.accumulation == t * a_.training.accumulation;
        const Meaning meaning = same_updates ? Meaning::performance : kMath;
        number(Section::schedule, "steps per epoch", s, t, Unit::count, meaning,
               same_updates ? "an update is more or fewer steps, and there are as many"
               : a_.parallel.data || b_.parallel.data
                   ? "it follows from samples, batch size and ranks"
                   : "it follows from samples and batch size");
        number(Section::schedule, "steps of the run", s * a_.training.epochs,
               t * b_.training.epochs, Unit::count, meaning,
               "it follows from steps per epoch and epochs");
        // With one rank the batch and the accumulation say it.
        if (a_.parallel.data || b_.parallel.data)
            number(Section::schedule, "global batch", communication_of(a_).global_batch,
                   communication_of(b_).global_batch, Unit::count, kMath,
                   "it follows from batch size, accumulation and ranks");
    }

    void communication() {
        // With some forms of gradient compression, what a number becomes depends on its exchange.
        const bool grouped = depends_on_buckets(a_.parallel) || depends_on_buckets(b_.parallel);
        const Meaning buckets = grouped ? kMath : kSpeed;
        const char* reason =
            grouped ? "it follows from parameters, ranks and network; gradients are rounded or "
                      "selected within an exchange"
                    : "it follows from parameters, ranks and network; all ranks add up the same";
        const Communication s = communication_of(a_), t = communication_of(b_);
        number(Section::communication, "exchanges of an update", std::int64_t(s.exchanges.size()),
               std::int64_t(t.exchanges.size()), Unit::count, buckets, reason);
        number(Section::communication, "exchanges of batch statistics in an update", s.statistics,
               t.statistics, Unit::count, kSpeed, reason);
        number(Section::communication, "exchanged in an update", s.bytes, t.bytes, Unit::bytes,
               kSpeed, reason);
        number(Section::communication, "sent by a rank in an update", s.wire_bytes, t.wire_bytes,
               Unit::bytes, kSpeed, reason);
        number(Section::communication, "most bytes of an exchange", a_.parallel.bucket_bytes,
               b_.parallel.bucket_bytes, Unit::bytes, buckets, reason);
        value(Section::communication, "foreseen time of an update's exchanges",
              json_text(s.seconds), json_text(t.seconds), kSpeed, reason, Unit::seconds);
    }

    void memory() {
        constexpr const char* reason = "it follows from shapes, lives of values and optimizer";
        const Memory &s = a_.memory, &t = b_.memory;
        auto bytes = [&](const char* what, std::int64_t x, std::int64_t y) {
            number(Section::memory, what, x, y, Unit::bytes, kSpeed, reason);
        };
        bytes("arena", s.arena, t.arena);
        bytes("parameters", s.parameters, t.parameters);
        bytes("optimizer", s.optimizer, t.optimizer);
        bytes("inputs", s.inputs, t.inputs);
        bytes("transient", s.transient, t.transient);
        bytes("prepared batches", s.staging, t.staging);
        bytes("samples kept in memory", s.samples, t.samples);
    }

    void work() {
        constexpr const char* reason = "it follows from layers, batch size and fusion";
        Work s = work_of(a_), t = work_of(b_);
        auto flop = [&](const char* what, std::int64_t x, std::int64_t y) {
            number(Section::work, what, x, y, Unit::flop, kSpeed, reason);
        };
        auto bytes = [&](const char* what, std::int64_t x, std::int64_t y) {
            number(Section::work, what, x, y, Unit::bytes, kSpeed, reason);
        };
        flop("forward per sample", s.forward_flops_per_sample, t.forward_flops_per_sample);
        flop("training step", s.train_step_flops, t.train_step_flops);
        bytes("traffic of a training step", s.train_step_bytes, t.train_step_bytes);
        flop("recomputed for memory", recomputed(a_).flops, recomputed(b_).flops);
        flop("evaluation step", s.evaluate_step_flops, t.evaluate_step_flops);
        bytes("traffic of an evaluation step", s.evaluate_step_bytes, t.evaluate_step_bytes);
        number(Section::work, "kernels of a training step", s.train_steps, t.train_steps,
               Unit::count, kSpeed, reason);
        number(Section::work, "kernels of an evaluation step", s.evaluate_steps, t.evaluate_steps,
               Unit::count, kSpeed, reason);
    }

  private:
    // Parameters are named "layer.role", slots of optimizers "layer.role.slot". What is no layer of
    // both keeps a name that `b` cannot have.
    static std::string name_in_b(const std::string& name, const LayerNames& names) {
        std::size_t dot = std::min(name.find('.'), name.size());
        auto found = names.find(name.substr(0, dot));
        return found == names.end() ? "" : found->second + name.substr(dot);
    }

    // As an entry of --map has them: "dense_1.*", once for all parameters of a layer.
    static void note_names(const std::string& before, const std::string& after,
                           std::vector<std::string>& old_names,
                           std::vector<std::string>& new_names) {
        const auto all_of_layer = [](const std::string& name) {
            return name.substr(0, std::min(name.find('.'), name.size())) + ".*";
        };
        if (std::find(new_names.begin(), new_names.end(), all_of_layer(after)) != new_names.end())
            return;
        old_names.push_back(all_of_layer(before));
        new_names.push_back(all_of_layer(after));
    }

    void value(Section section, const char* what, std::string before, std::string after,
               Meaning meaning, const char* reason, Unit unit = Unit::none) {
        Change change = make_change(section, Action::changed, what, std::move(before),
                                    std::move(after), meaning, reason);
        change.unit = unit;
        changes_.add(std::move(change));
    }

    void number(Section section, const char* what, std::int64_t x, std::int64_t y, Unit unit,
                Meaning meaning, const char* reason) {
        value(section, what, json_text(x), json_text(y), meaning, reason, unit);
    }

    void member(Change change, const std::string& name) {
        if (change.before != change.after) changes_.add(std::move(change), name);
    }

    // How the values are made, without where their random numbers come from.
    static std::string made(const Initializer& initializer) {
        return initializer.numbers.empty()
                   ? json_text(initializer.kind)
                   : fmt::format("{{\"type\": {}, \"fields\": {}}}", json_text(initializer.kind),
                                 json_text(initializer.numbers));
    }

    void first_values(const Parameter& p, const Parameter& q) {
        const Initializer &s = p.initializer, &t = q.initializer;
        member(make_change(Section::first_values, Action::changed, "initializer", made(s), made(t),
                           kMath, "training starts from other values"),
               q.name);
        const InitializerKind* kind = find_initializer(t.kind);
        if (!kind || !kind->draws() || made(s) != made(t)) return;
        const bool range = s.fan_in != t.fan_in || s.fan_out != t.fan_out;
        if (!range && s.stream == t.stream) return;
        changes_.add(
            make_change(Section::first_values, Action::changed,
                        range ? "range of random numbers" : "random numbers", "", "", kMath,
                        range ? "the range follows from the extents of the weights"
                              : "they are drawn by the parameter's place in the list"),
            q.name);
    }

    const Plan& a_;
    const Plan& b_;
    ChangeList changes_;
};

}  // namespace

void diff_results(const Plan& a, const Plan& b, const LayerNames& names,
                  std::vector<Change>& changes) {
    ResultComparison comparison(a, b);
    comparison.parameters(names);
    comparison.data();
    comparison.schedule();
    comparison.move_to(changes);
}

void diff_costs(const Plan& a, const Plan& b, std::vector<Change>& changes) {
    ResultComparison comparison(a, b);
    comparison.work();
    comparison.communication();
    comparison.memory();
    comparison.move_to(changes);
}

}  // namespace dtnn::plan
