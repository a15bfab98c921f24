#include <fmt/format.h>

#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/diagnostics.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {

const std::vector<KindInfo>& all_kinds() {
    static const std::vector<KindInfo> kinds = {
        {SpecKind::job, "job", "jobs",
         "What to train: a model, a dataset and how, each by name or inline.",
         "kind: job\nmodel: simplecnn\ndataset: digits\ntraining: {extends: adam, epochs: 3}",
         &job_table()},
        {SpecKind::model, "model", "models",
         "A network: the shape of its input and its layers in order.",
         "kind: model\ninput: {shape: [1, 28, 28]}\nlayers: [flatten, dense: {units: 10}, softmax]",
         &model_table()},
        {SpecKind::dataset, "dataset", "datasets",
         "Where samples come from and how many there are.",
         "kind: dataset\ntype: digits\ntrain_samples: 10000", &dataset_table()},
        {SpecKind::training, "training", "training",
         "How to train: optimizer, loss, metrics, epochs, batches.",
         "kind: training\noptimizer: {adam: {learning_rate: 0.001}}\nepochs: 3", &training_table()},
        {SpecKind::machine, "machine", "machines",
         "The computers that a job is for: cores and memory of a node, and the rates of its parts "
         "and of its network, from which the compiler chooses what it can foresee. What is not "
         "known is left out.",
         "kind: machine\nnodes: 4\ncores: 32\nmemory: 192GiB\nisa: avx512\n"
         "network: {latency: 1.5us, bandwidth: 100Gbit/s}",
         &machine_table()},
        {SpecKind::operation, "operator", "operators",
         "An elementwise operator by its formula, which models take up by its name.",
         "kind: operator\nparameters: {beta: {type: real, default: 1, trainable: per_channel}}\n"
         "forward: \"x * sigmoid(beta * x)\"",
         &operator_table()},
        {SpecKind::loss, "loss", "losses",
         "A loss by its formula, which trainings take up by its name.",
         "kind: loss\nparameters: {delta: {type: real, default: 1}}\n"
         "forward: \"where(abs(p - t) < delta, 0.5 * (p - t) ** 2, delta * (abs(p - t) - 0.5 * "
         "delta))\"",
         &loss_operator_table()},
    };
    return kinds;
}

const KindInfo* find_kind(std::string_view name) {
    SpecKind kind = {};
    return parse_name(name, kind) ? &info_of(kind) : nullptr;
}

const KindInfo& info_of(SpecKind kind) {
    return all_kinds()[std::size_t(kind)];
}

Field kind_field(std::string_view kind, std::string_view doc) {
    return choice_field("kind", kMayBeAbsent, {kind}, doc,
                        performance("it says which table of fields the spec follows"));
}

Field name_field(std::string_view doc, std::string_view reason) {
    return text_field("name", kMayBeAbsent, doc, only_names(reason));
}

Field extends_field(std::string_view doc) {
    return plain_field(
        FieldType::reference, "extends", kMayBeAbsent, doc,
        performance("only what is taken over counts, and that is compared field by field"));
}

Field description_field(std::string_view doc) {
    return text_field("description", kMayBeAbsent, doc, only_names("it is text for people"));
}

Field allow_field() {
    return {.name = "allow",
            .type = FieldType::text_list,
            .doc = "lints that are meant, and not warned of: [bias-before-norm]",
            .change = performance("it says what is not warned of"),
            .choices = lint_names(),
            .optional = true};
}

std::string with_article(std::string_view kind) {
    return fmt::format("{} {}", kind.starts_with('o') ? "an" : "a", kind);
}

}  // namespace dtnn::compiler
