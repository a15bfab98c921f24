// The parts of a job put together: its references followed, its settings applied, and what a model
// or a training takes up by name beside them.

#include <fmt/format.h>

#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/spec_kind.hpp"
#include "compiler/frontend/tables/components.hpp"

namespace dtnn::compiler {

bool Composer::compose_job(SourceNode& job, const std::string& root_file) {
    root_file_ = root_file;
    std::vector<Setting> settings = parse_settings();
    if (part_) refuse_elsewhere(settings);
    // A reference that is replaced as a whole must not be followed first: it may be the mistake
    // that is mended.
    for (Setting& setting : settings)
        if (setting.path.size() == 1 && find_kind(setting.path[0]) &&
            !is_kind(setting.path[0], SpecKind::job))
            apply(setting, job);
    bool sound = true;
    for (const char* field : {"model", "dataset", "training", "machine"}) {
        SourceEntry* entry = job.find(field);
        if (!entry) continue;
        if (auto tree =
                resolve(entry->value, *find_kind(field), fmt::format("`{}` of job", field))) {
            entry->value = std::move(*tree);
        } else {
            job.erase(field);
            sound = false;
        }
    }
    for (Setting& setting : settings)
        if (!setting.applied) apply(setting, job);
    if (SourceEntry* model = job.find("model")) sound = resolve_operators(model->value) && sound;
    return resolve_loss(job, sound) && sound;
}

std::optional<SourceNode> Composer::compose_part(Loaded loaded) {
    part_ = loaded.kind;
    const std::string file = loaded.file;
    const Span start{{file, 1, 1}, 1};
    SourceNode job = make_map(start);
    loaded.tree.span = start;
    job.entries.push_back({std::string(part_->name), Span{}, std::move(loaded.tree)});
    if (!compose_job(job, file)) return std::nullopt;
    return job;
}

bool Composer::resolve_loss(SourceNode& job, bool sound) {
    SourceEntry* training = job.find("training");
    SourceEntry* loss =
        training && training->value.is_map() ? training->value.find("loss") : nullptr;
    if (!loss) return true;
    const bool with_fields = loss->value.is_map() && loss->value.entries.size() == 1;
    if (!with_fields && !loss->value.is_scalar()) return true;
    const SourceNode reference =
        with_fields ? make_scalar(loss->value.entries[0].key, loss->value.entries[0].key_span)
                    : loss->value;
    if (losses().find(reference.text) || !may_be_reference(reference.text)) return true;
    if (!sound) {
        // The part that is missing may be what declares it.
        training->value.erase("loss");
        return false;
    }
    SourceEntry* model = job.find("model");
    const auto declared = [&] { return model ? model->value.find("operators") : nullptr; };
    if (declared() && (!declared()->value.is_map() || declared()->value.find(reference.text)))
        return true;
    // A name that no spec has is a misspelt one of a loss that is built in, which the training's
    // reader says.
    Diagnostics unheard;
    Composer quiet(options_, unheard);
    quiet.root_file_ = root_file_;
    const KindInfo& kind = *find_kind("loss");
    if (!is_path(reference.text) && !quiet.find(reference, kind)) return true;
    auto tree = resolve(reference, kind, "`loss` of training");
    if (!tree) {
        training->value.erase("loss");
        return false;
    }
    const SourceEntry* own_name = tree->find("name");
    const std::string name = own_name ? own_name->value.text : reference.text;
    tree->erase("name");
    tree->entries.push_back({"kind", Span{}, make_scalar(std::string(kind.name))});
    if (!model) {
        job.entries.push_back({"model", Span{}, make_map()});
        model = job.find("model");
        loss = job.find("training")->value.find("loss");
    }
    if (!declared()) model->value.entries.push_back({"operators", Span{}, make_map()});
    declared()->value.entries.push_back({name, reference.span, std::move(*tree)});
    if (with_fields)
        loss->value.entries[0].key = name;
    else
        loss->value.text = name;
    return true;
}

bool Composer::resolve_operators(SourceNode& model) {
    SourceEntry* entry = model.is_map() ? model.find("operators") : nullptr;
    if (!entry) return true;
    SourceNode& operators = entry->value;
    const KindInfo& kind = *find_kind("operator");
    bool sound = true;
    if (operators.is_list()) {
        // Under their own names.
        SourceNode map = make_map(operators.span);
        for (const SourceNode& item : operators.items) {
            const auto tree = resolve(item, kind, "an item of `operators`");
            if (!tree) {
                sound = false;
                continue;
            }
            const SourceEntry* name = tree->find("name");
            const std::string key = name ? name->value.text : item.text;
            if (map.find(key)) {
                diagnostics_.error(Code::conflicting_fields, item.span,
                                   fmt::format("the operator `{}` is listed twice", key));
                sound = false;
                continue;
            }
            map.entries.push_back({key, item.span, *tree});
        }
        operators = std::move(map);
    } else if (operators.is_map()) {
        for (SourceEntry& one : operators.entries) {
            const bool refers =
                (one.value.is_scalar() && may_be_reference(one.value.text)) ||
                (one.value.is_map() && (one.value.find("extends") || one.value.find("kind")));
            if (!refers) continue;
            const SourceEntry* own = one.value.find("kind");
            const bool is_loss =
                own && own->value.is_scalar() && is_kind(own->value.text, SpecKind::loss);
            auto tree = resolve(one.value, is_loss ? *find_kind("loss") : kind,
                                fmt::format("the {} {}", is_loss ? "loss" : "operator", one.key));
            sound = sound && tree;
            if (tree && is_loss)
                tree->entries.push_back({"kind", Span{}, make_scalar(own->value.text)});
            // A name stands for what was looked for in vain.
            one.value = tree ? std::move(*tree) : make_scalar(one.key);
        }
    }
    if (operators.is_map())
        for (SourceEntry& one : operators.entries)
            if (one.value.is_map()) one.value.erase("name");
    return sound;
}

}  // namespace dtnn::compiler
