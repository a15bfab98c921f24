// Trainings: components and parameter groups. What is to be said of schedules together:
// validation_schedules.cpp.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/homes.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

/// Notes where a member and its fields were written, under "FIELD" and "FIELD.MEMBER.FIELD".
void note_places(const std::string& path, const ReadComponent& read,
                 std::map<std::string, Span>& spans) {
    spans[path] = read.span;
    for (const auto& [field, span] : read.spans)
        spans[fmt::format("{}.{}.{}", path, read.component.type, field)] = span;
}

void note_places(const std::string& path, const FieldValues& read,
                 std::map<std::string, Span>& spans) {
    for (const auto& [field, span] : read.spans)
        spans[fmt::format("{}.{}", path, field)] = span;
}

class TrainingReader {
  public:
    TrainingReader(const SourceNode& tree, Diagnostics& diagnostics)
        : diagnostics_(diagnostics), spec_{} {
        spec_.span = span_of(tree);
        fields_ = read_fields(tree, training_table(),
                              {"training", spec_.span, homes_of_words("training")}, diagnostics);
    }

    TrainingSpec read() {
        plan::Training& training = spec_.training;
        check_spec_name(fields_, "training", diagnostics_);
        read_allowed(fields_, "training", diagnostics_);
        training.epochs = fields_.integer("epochs");
        training.batch_size = fields_.integer("batch_size");
        spec_.global_batch_size = fields_.integer("global_batch_size");
        training.steps_per_epoch = fields_.integer("steps_per_epoch");
        training.seed = std::uint64_t(fields_.integer("seed"));
        training.shuffle = fields_.flag("shuffle");
        training.accumulation = fields_.integer("accumulation");
        training.validation_split = fields_.real("validation_split");
        plan::parse_name(fields_.text("dtype"), spec_.dtype);
        plan::parse_name(fields_.text("compute"), spec_.compute);
        plan::parse_name(fields_.text("numerics"), spec_.numerics);
        training.loss_scale = fields_.real("loss_scale");
        optimizer();
        groups();
        clip();
        average();
        loss();
        metric_list();
        schedule_list();
        checkpoint();
        forget_made(fields_.spans);
        spec_.spans = std::move(fields_.spans);
        check_batch_fields(spec_, diagnostics_);
        return std::move(spec_);
    }

  private:
    static const Field& field(const char* name) { return *find_field(training_table(), name); }

    /// The member that a field chooses, its default when it is not written; nothing after a
    /// diagnostic.
    std::optional<plan::Component> member(const char* name) {
        const SourceNode* node = fields_.node(name);
        if (!node) {
            const auto& fallback = std::get<std::string>(*field(name).fallback);
            return default_component(*field(name).components->find(fallback));
        }
        auto read = read_component(*node, field(name), "training", diagnostics_);
        if (!read) return std::nullopt;
        note_places(name, *read, fields_.spans);
        return std::move(read->component);
    }

    void optimizer() {
        plan::Training& training = spec_.training;
        auto chosen = member("optimizer");
        if (!chosen) return;
        training.optimizer = std::move(chosen->type);
        training.learning_rate = std::get<double>(chosen->attributes.at("learning_rate"));
        chosen->attributes.erase("learning_rate");
        training.optimizer_attributes = std::move(chosen->attributes);
    }

    void groups() {
        const SourceNode* list = fields_.node("groups");
        if (!list) return;
        if (!list->is_list()) {
            diagnostics_
                .error(Code::wrong_type, list->span,
                       fmt::format("`groups` of training is {}; it must be {}", describe(*list),
                                   describe(FieldType::record_list)))
                .help = "such as `groups: [{parameters: \"*.bias\", weight_decay: 0}]`";
            return;
        }
        FieldTable table = group_table();
        // Of an optimizer that is unknown every field may be meant.
        for (const Field& own : group_optimizer_fields(spec_.training.optimizer))
            table.push_back(own);
        for (std::size_t i = 0; i < list->items.size(); ++i)
            group(list->items[i], fmt::format("groups[{}]", i), table);
    }

    void group(const SourceNode& node, const std::string& path, const FieldTable& table) {
        FieldScope scope{path, node.span};
        scope.elsewhere["learning_rate"] =
            "`learning_rate_scale` is the factor of the optimizer's learning rate";
        for (const Field& other : group_optimizer_fields())
            if (!spec_.training.optimizer.empty() && !find_field(table, other.name))
                scope.elsewhere.emplace(
                    other.name,
                    fmt::format("{} has no field `{}`", spec_.training.optimizer, other.name));
        FieldValues values = read_record(node, table, scope, diagnostics_);
        note_places(path, values, fields_.spans);
        plan::ParameterGroup group;
        group.pattern = values.text("parameters");
        if (values.values.contains("parameters") && group.pattern.empty())
            diagnostics_.error(Code::out_of_range, values.spans.at("parameters"),
                               fmt::format("`parameters` of {} is empty; it must be a pattern of "
                                           "names",
                                           path));
        values.values.erase("parameters");
        group.attributes = std::move(values.values);
        if (values.sound && group.attributes.empty())
            diagnostics_
                .error(Code::missing_field, node.span,
                       fmt::format("{} says nothing about its parameters", path))
                .help = "such as `weight_decay: 0`, `learning_rate_scale: 0.1` or `frozen: true`";
        spec_.training.groups.push_back(std::move(group));
    }

    void clip() {
        const SourceNode* node = fields_.node("clip");
        if (!node) return;
        FieldValues values = read_record(*node, clip_table(), {"clip", node->span}, diagnostics_);
        note_places("clip", values, fields_.spans);
        spec_.training.clip_norm = values.real("norm");
        spec_.training.clip_value = values.real("value");
        if (!values.sound) return;
        if (!values.node("norm") && !values.node("value")) {
            diagnostics_
                .error(Code::conflicting_fields, node->span,
                       "clip has neither `norm` nor `value`; it must have one of them")
                .help = "such as `clip: {norm: 1.0}`";
        } else if (values.real("norm") > 0 && values.real("value") > 0) {
            Diagnostic& error = diagnostics_.error(
                Code::conflicting_fields, values.spans.at("value"),
                "clip has both `norm` and `value`; gradients are clipped in one way");
            error.notes.push_back({values.spans.at("norm"), "`norm` is given here"});
            error.help = "0 switches one of them off";
        }
    }

    void average() {
        const SourceNode* node = fields_.node("average");
        if (!node) return;
        const FieldValues values =
            read_record(*node, average_table(), {"average", node->span}, diagnostics_);
        note_places("average", values, fields_.spans);
        spec_.training.average_decay = values.real("decay");
    }

    void loss() {
        auto chosen = member("loss");
        if (!chosen) return;
        spec_.training.loss = std::move(chosen->type);
        spec_.training.loss_attributes = std::move(chosen->attributes);
    }

    void metric_list() {
        const SourceNode* node = fields_.node("metrics");
        if (!node) {
            const auto& fallback = std::get<std::string>(*field("metrics").fallback);
            spec_.training.metrics.push_back(
                metric_of(default_component(*metrics().find(fallback))));
            return;
        }
        const ReadComponents read =
            read_member_list(*node, field("metrics"), "training", fields_.spans, diagnostics_);
        std::vector<std::pair<plan::Metric, Span>> known;
        for (const ReadComponent& one : read.list) {
            plan::Metric metric = metric_of(one.component);
            const auto same = std::find_if(known.begin(), known.end(), [&](const auto& other) {
                return other.first.name == metric.name;
            });
            if (same == known.end()) {
                known.emplace_back(metric, one.span);
                spec_.training.metrics.push_back(std::move(metric));
                continue;
            }
            Diagnostic& error = diagnostics_.error(
                Code::conflicting_fields, one.span,
                same->first == metric
                    ? fmt::format("the metric `{}` is listed twice", metric.name)
                    : fmt::format("two metrics are called `{}` in the history", metric.name));
            error.notes.push_back({same->second, "the other is here"});
        }
    }

    void schedule_list() {
        const SourceNode* node = fields_.node("schedules");
        if (!node) return;
        for (const ReadComponent& one :
             read_member_list(*node, field("schedules"), "training", fields_.spans, diagnostics_)
                 .list)
            spec_.training.schedules.push_back(one.component);
    }

    void checkpoint() {
        static const SourceNode no_fields = make_map();
        const SourceNode* node = fields_.node("checkpoint");
        const SourceNode& map = node ? *node : no_fields;
        const FieldValues values =
            read_record(map, checkpoint_table(), {"checkpoint", map.span}, diagnostics_);
        note_places("checkpoint", values, fields_.spans);
        plan::CheckpointRule& rule = spec_.training.checkpoint;
        rule.every_epochs = values.integer("every_epochs");
        rule.every_steps = values.integer("every_steps");
        rule.every_seconds = values.real("every_seconds");
        rule.keep = values.integer("keep");
    }

    Diagnostics& diagnostics_;
    TrainingSpec spec_;
    FieldValues fields_;
};

}  // namespace

ReadComponents read_member_list(const SourceNode& node, const Field& field, const std::string& what,
                                std::map<std::string, Span>& spans, Diagnostics& diagnostics) {
    ReadComponents read = read_components(node, field, what, diagnostics);
    for (std::size_t i = 0; i < read.list.size(); ++i)
        note_places(fmt::format("{}[{}]", field.name, read.indices[i]), read.list[i], spans);
    return read;
}

TrainingSpec read_training(const SourceNode& tree, Diagnostics& diagnostics) {
    TrainingSpec training = TrainingReader(tree, diagnostics).read();
    check_schedules(training, diagnostics);
    return training;
}

}  // namespace dtnn::compiler
