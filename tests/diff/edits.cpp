#include "tests/diff/edits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/op.hpp"

namespace dtnn {

namespace {

std::optional<AttributeValue> another_value(const compiler::Field& field, const AttributeValue& old,
                                            Random& random) {
    using compiler::FieldType;
    auto positive = [&](std::int64_t value) {
        const std::vector<std::int64_t> candidates = {value + 1, value - 1, value * 2, value / 2};
        std::int64_t chosen = random.one_of(candidates);
        auto least = std::int64_t(field.minimum.value_or(0));
        return std::max(chosen, least);
    };
    switch (field.type) {
        case FieldType::boolean:
            return !std::get<bool>(old);
        case FieldType::integer:
            return positive(std::get<std::int64_t>(old));
        case FieldType::real: {
            double value = std::get<double>(old) * (random.coin() ? 0.5 : 1.25);
            return value == 0 ? 0.125 : value;
        }
        case FieldType::choice: {
            std::string_view choice = random.one_of(field.choices);
            return std::string(choice);
        }
        case FieldType::integer_pair: {
            auto pair = std::get<std::vector<std::int64_t>>(old);
            std::int64_t& side = pair[random.below(pair.size())];
            side = positive(side);
            return pair;
        }
        case FieldType::padding: {
            // One more row above than below: neither valid nor same comes to that.
            auto below = std::int64_t(random.below(2));
            std::int64_t left = std::int64_t(random.below(3));
            return std::vector<std::int64_t>{below + 2, below, left, left};
        }
        case FieldType::step_padding:
            // More before the steps than behind them: neither valid nor same comes to that.
            return std::vector<std::int64_t>{std::int64_t(random.below(3)) + 2, 0};
        default:
            return std::nullopt;
    }
}

}  // namespace

MaybeEdit edit_field(EditedJob job, Random& random) {
    EditedLayer& layer = job.layers[random.below(job.layers.size())];
    const compiler::OpDef* op = compiler::find_op(layer.type);
    if (!op || op->fields.empty()) return std::nullopt;
    const compiler::Field& field = random.one_of(op->fields);
    const std::string name(field.name);
    if (!layer.fields.contains(name)) return std::nullopt;
    const auto value = another_value(field, layer.fields.at(name), random);
    if (!value || *value == layer.fields.at(name)) return std::nullopt;
    layer.fields[name] = *value;
    Expected expected{"field", "layers", Action::changed, layer.type + "." + name, layer.id, name};
    return Edit{std::move(job), std::move(expected)};
}

namespace {

EditedLayer new_layer(const EditedJob& job, Random& random) {
    EditedLayer layer;
    layer.id = job.fresh_id();
    layer.name = fmt::format("new-{}", layer.id);
    layer.type = random.one_of(
        std::vector<std::string>{"relu", "tanh", "sigmoid", "dropout", "batch_norm", "conv2d"});
    if (layer.type == "dropout") layer.fields["rate"] = 0.125;
    if (layer.type == "conv2d") {
        layer.fields["filters"] = std::int64_t(1 + random.below(32));
        layer.fields["kernel"] = std::int64_t{1};
    }
    return layer;
}

}  // namespace

MaybeEdit insert(EditedJob job, Random& random) {
    const std::size_t at = random.below(job.layers.size());
    if (!job.chained(at)) return std::nullopt;
    EditedLayer layer = new_layer(job, random);
    layer.sources = job.layers[at].sources;
    job.layers[at].sources = {layer.id};
    Expected expected{"insert", "layers", Action::added, layer.type, layer.id, ""};
    job.layers.insert(job.layers.begin() + std::ptrdiff_t(at), std::move(layer));
    return Edit{std::move(job), std::move(expected)};
}

MaybeEdit remove(EditedJob job, Random& random) {
    const std::size_t at = random.below(job.layers.size() - 1);
    const EditedLayer layer = job.layers[at];
    if (layer.sources.size() != 1) return std::nullopt;
    // Its name would be needed for the layer before it: another edit.
    for (std::size_t reader : job.readers(layer.id))
        if (!job.names && !job.chained(reader)) return std::nullopt;
    for (std::size_t reader : job.readers(layer.id))
        std::replace(job.layers[reader].sources.begin(), job.layers[reader].sources.end(), layer.id,
                     layer.sources[0]);
    job.layers.erase(job.layers.begin() + std::ptrdiff_t(at));
    return Edit{std::move(job), {"remove", "layers", Action::removed, layer.type, layer.id, ""}};
}

MaybeEdit rename(EditedJob job, Random& random) {
    EditedLayer& layer = job.layers[random.below(job.layers.size())];
    layer.name = fmt::format("renamed-{}", random.below(1000));
    // A layer that others need has a name anyway; then the edit is to write another one.
    layer.keeps_name = true;
    Expected expected{"rename", "layers", Action::renamed, "name", layer.id, "", Meaning::names};
    return Edit{std::move(job), std::move(expected)};
}

// Takes a layer out of a chain and puts it behind one that follows.
MaybeEdit move(EditedJob job, Random& random) {
    const std::size_t from = random.below(job.layers.size() - 1);
    const std::size_t to = from + 1 + random.below(4);
    if (to + 1 >= job.layers.size()) return std::nullopt;
    for (std::size_t i = from; i <= to + 1; ++i)
        if (!job.chained(i)) return std::nullopt;
    // Nobody else reads what changes its place in the chain.
    for (std::size_t i = from; i <= to; ++i)
        if (job.readers(job.layers[i].id).size() != 1) return std::nullopt;
    auto is_equal = [](const EditedLayer& s, const EditedLayer& t) {
        return s.type == t.type && s.fields == t.fields;
    };
    const EditedLayer layer = job.layers[from];
    for (std::size_t i = from + 1; i <= to; ++i)
        if (is_equal(layer, job.layers[i])) return std::nullopt;
    const int before = layer.sources[0];
    auto begin = job.layers.begin();
    std::rotate(begin + std::ptrdiff_t(from), begin + std::ptrdiff_t(from) + 1,
                begin + std::ptrdiff_t(to) + 1);
    for (std::size_t i = from; i <= to + 1; ++i)
        job.layers[i].sources = {i == from ? before : job.layers[i - 1].id};
    Expected expected{"move", "layers", Action::moved, "", layer.id, ""};
    expected.neighbours = to == from + 1;
    return Edit{std::move(job), std::move(expected)};
}

// Gives a layer another source, one of those of the same shape. The old source must still be read,
// or it would be no part of the network. Without names the edit would also give and take some.
MaybeEdit retarget(EditedJob job, Random& random) {
    if (!job.names) return std::nullopt;
    struct Candidate {
        std::size_t layer, slot;
        int source;
    };
    std::vector<Candidate> candidates;
    for (std::size_t at = 1; at < job.layers.size(); ++at) {
        const std::vector<int>& sources = job.layers[at].sources;
        for (std::size_t slot = 0; slot < sources.size(); ++slot) {
            const int old = job.index_of(sources[slot]);
            if (old < 0 || job.readers(sources[slot]).size() < 2) continue;
            for (std::size_t other = 0; other < at; ++other) {
                const EditedLayer& layer = job.layers[other];
                if (layer.shape == job.layers[std::size_t(old)].shape &&
                    std::count(sources.begin(), sources.end(), layer.id) == 0)
                    candidates.push_back({at, slot, layer.id});
            }
        }
    }
    if (candidates.empty()) return std::nullopt;
    const Candidate& candidate = random.one_of(candidates);
    EditedLayer& layer = job.layers[candidate.layer];
    layer.sources[candidate.slot] = candidate.source;
    Expected expected{"retarget", "connections", Action::changed, "from", layer.id, ""};
    return Edit{std::move(job), std::move(expected)};
}

namespace {

struct SettingEdit {
    const char *kind, *field;
    std::vector<std::string> values;
    Meaning meaning = Meaning::mathematics;
    const char* what = nullptr;  ///< the path that changes, when it is not the field's own
    Action action = Action::changed;
};

const std::vector<SettingEdit>& setting_edits() {
    constexpr Meaning kSpeed = Meaning::performance;
    static const std::vector<SettingEdit> edits = {
        {"job", "name", {"other", "another"}, Meaning::names},
        {"job", "threads", {"1", "3", "4"}, kSpeed},
        {"job", "memory_budget", {"32GiB", "48GiB"}, kSpeed},
        {"dataset", "name", {"others"}, Meaning::names},
        {"dataset", "train_samples", {"60", "128", "1000"}},
        {"dataset", "test_samples", {"8", "100"}},
        {"dataset", "seed", {"0", "4"}},
        {"training", "name", {"long"}, Meaning::names},
        {"training", "loss", {"mean_squared_error"}},
        {"training",
         "metrics",
         {"[]"},
         kSpeed,
         "training.metrics[0].categorical_accuracy",
         Action::removed},
        {"training",
         "metrics",
         {"[categorical_accuracy, f1]"},
         kSpeed,
         "training.metrics[1].f1",
         Action::added},
        {"training", "epochs", {"1", "3", "50"}},
        {"training", "batch_size", {"4", "7", "16", "32"}},
        {"training", "validation_split", {"0.25", "0.1"}},
        {"training", "shuffle", {"false"}},
        {"training", "seed", {"6", "99"}},
        {"training", "dtype", {"f64"}},
        {"training", "steps_per_epoch", {"2", "4"}},
        {"training", "optimizer.learning_rate", {"0.02", "1e-3"}},
        {"training", "optimizer.momentum", {"0.8", "0.0"}},
        {"training", "optimizer.nesterov", {"true"}},
        {"training", "optimizer.weight_decay", {"1e-4"}},
        {"training", "optimizer", {"adam"}},
        {"job", "data_workers", {"2", "3"}, kSpeed},
        {"job", "pin_threads", {"true"}, kSpeed},
        {"dataset", "sample_percentage", {"50", "150.5"}},
        {"dataset", "test_as_validation", {"true"}},
        {"dataset", "augmentations", {"[]"}},
        {"dataset",
         "transforms",
         {"[{normalize: {mean: [0.5], deviation: [0.25]}}]"},
         Meaning::mathematics,
         "dataset.transforms[0].normalize.mean"},
        {"dataset", "transforms", {"[]"}},
        {"training", "accumulation", {"2", "3"}},
        {"training", "clip", {"{norm: 2.0}"}, Meaning::mathematics, "training.clip.norm"},
        {"training", "average", {"{decay: 0.9}"}, Meaning::mathematics, "training.average.decay"},
        {"training",
         "checkpoint",
         {"{every_epochs: 1, keep: 5}"},
         kSpeed,
         "training.checkpoint.keep"},
        {"training",
         "groups",
         {"[{parameters: '*', weight_decay: 0.5}]"},
         Meaning::mathematics,
         "training.groups[0].weight_decay"},
        {"training", "groups", {"[{parameters: '*.*', weight_decay: 0.0}]", "[]"}, kSpeed},
        {"training",
         "schedules",
         {"[{cosine: {epochs: 5}}]"},
         Meaning::mathematics,
         "training.schedules[0].cosine.epochs"},
        {"training",
         "schedules",
         {"[]"},
         Meaning::mathematics,
         "training.schedules[0].cosine",
         Action::removed},
        {"training",
         "schedules",
         {"[{warm_up: {}}, {cosine: {epochs: 2}}]"},
         Meaning::mathematics,
         "training.schedules[0].warm_up",
         Action::added},
        {"training",
         "schedules",
         {"[{cosine: {epochs: 2}}, {model_checkpoint: {metric: loss}}]"},
         kSpeed,
         "training.schedules[1].model_checkpoint",
         Action::added},
    };
    return edits;
}

}  // namespace

MaybeEdit edit_setting(EditedJob job, Random& random) {
    const SettingEdit& edit = random.one_of(setting_edits());
    const std::string kind = edit.kind, field = edit.field;
    const std::string& value = random.one_of(edit.values);
    Expected expected{"setting", "settings", edit.action, "", -1, "", edit.meaning};
    expected.what = edit.what ? edit.what : kind == "job" ? field : kind + "." + field;
    if (field == "optimizer") {
        job.optimizer = value;
        std::erase_if(job.training, [](const auto& item) {
            return item.first.starts_with("optimizer.") &&
                   item.first != "optimizer.learning_rate" &&
                   item.first != "optimizer.weight_decay";
        });
        return Edit{std::move(job), std::move(expected)};
    }
    if (field.starts_with("optimizer."))
        expected.what = "training.optimizer." + job.optimizer + "." + field.substr(10);
    (kind == "job" ? job.job : kind == "dataset" ? job.dataset : job.training)[field] = value;
    return Edit{std::move(job), std::move(expected)};
}

std::size_t count_setting_edits() {
    return setting_edits().size();
}

}  // namespace dtnn
