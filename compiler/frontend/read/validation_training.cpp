// Trainings: components and parameter groups. What is to be said of schedules together:
// validation_schedules.cpp.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/read/members.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/misplaced_fields.hpp"
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

/// The member that a field chooses; null: none that there is.
const ComponentInfo* chosen_member(const Field& field, const SourceNode& tree) {
    const SourceEntry* entry = field.components ? tree.find(field.name) : nullptr;
    if (!entry) return nullptr;
    const SourceNode& value = entry->value;
    if (value.is_scalar()) return field.components->find(value.text);
    const bool named = value.is_map() && value.entries.size() == 1;
    return named ? field.components->find(value.entries[0].key) : nullptr;
}

/// What is said of words that are no fields of a training: of those that the chosen optimizer or
/// loss has, or others of its kind have, this first.
std::map<std::string, std::string> help_for_fields(const SourceNode& tree) {
    std::map<std::string, std::string> help;
    for (const SourceEntry& entry : tree.entries) {
        if (find_field(training_table(), entry.key)) continue;
        for (const Field& field : training_table()) {
            const ComponentInfo* member = chosen_member(field, tree);
            if (!member) continue;
            std::vector<std::string_view> owners;
            for (const ComponentInfo& other : field.components->members)
                if (find_field(*other.fields, entry.key)) owners.push_back(other.name);
            if (owners.empty()) continue;
            const std::string value = entry.value.is_scalar() ? entry.value.text : "...";
            help.emplace(entry.key, find_field(*member->fields, entry.key)
                                        ? fmt::format("it is the {}'s: `{}: {{{}: {{{}: {}}}}}`",
                                                      field.components->name, field.name,
                                                      member->name, entry.key, value)
                                        : fmt::format("{} has no `{}`; it is of {}", member->name,
                                                      entry.key, fmt::join(owners, ", ")));
        }
    }
    help.insert(help_for_misplaced("training").begin(), help_for_misplaced("training").end());
    return help;
}

class TrainingReader {
  public:
    TrainingReader(const SourceNode& tree, Diagnostics& diagnostics)
        : diagnostics_(diagnostics), spec_{} {
        spec_.span = span_of(tree);
        fields_ = read_fields(tree, training_table(),
                              {.what = "training",
                               .span = spec_.span,
                               .more_elsewhere = [&] { return help_for_fields(tree); }},
                              diagnostics);
    }

    TrainingSpec read() {
        check_spec_name(fields_, "training", diagnostics_);
        read_allowed(fields_, "training", diagnostics_);
        fill_members(training_table(), fields_, spec_);
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
            diagnostics_.error(Code::wrong_type, list->span,
                               fmt::format("`groups` of training is {}; it must be {}",
                                           describe(*list), describe(FieldType::record_list)),
                               "such as `groups: [{parameters: \"*.bias\", weight_decay: 0}]`");
            return;
        }
        FieldTable table = group_table();
        // An unknown optimizer may have any field.
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
            diagnostics_.error(
                Code::out_of_range, values.spans.at("parameters"),
                fmt::format("`parameters` of {} is empty; it must be a pattern of names", path));
        values.values.erase("parameters");
        group.attributes = std::move(values.values);
        if (values.sound && group.attributes.empty())
            diagnostics_.error(
                Code::missing_field, node.span,
                fmt::format("{} says nothing about its parameters", path),
                "such as `weight_decay: 0`, `learning_rate_scale: 0.1` or `frozen: true`");
        spec_.training.groups.push_back(std::move(group));
    }

    void clip() {
        const SourceNode* node = fields_.node("clip");
        if (!node) return;
        const FieldValues values =
            read_members(*node, clip_table(), "clip", spec_, fields_.spans, diagnostics_);
        if (!values.sound) return;
        if (!values.node("norm") && !values.node("value")) {
            diagnostics_.error(Code::conflicting_fields, node->span,
                               "clip has neither `norm` nor `value`; it must have one of them",
                               "such as `clip: {norm: 1.0}`");
        } else if (values.real("norm") > 0 && values.real("value") > 0) {
            Diagnostic& error = diagnostics_.error(
                Code::conflicting_fields, values.spans.at("value"),
                "clip has both `norm` and `value`; gradients are clipped in one way");
            error.notes.push_back({values.spans.at("norm"), "`norm` is given here"});
            error.help = "0 switches one of them off";
        }
    }

    void average() {
        if (const SourceNode* node = fields_.node("average"))
            read_members(*node, average_table(), "average", spec_, fields_.spans, diagnostics_);
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
        read_members(map, checkpoint_table(), "checkpoint", spec_, fields_.spans, diagnostics_);
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
