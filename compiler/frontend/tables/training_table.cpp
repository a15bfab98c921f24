#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
const FieldTable& group_table() {
    static const FieldTable table = {
        text_field("parameters", kMustBeGiven,
                   "names of parameters, with `*` for any characters and `?` for one: \"*.bias\", "
                   "\"stage_1/*\"; of the groups that match a parameter the first counts",
                   mathematics("other parameters belong to the group")),
        flag_field("frozen", kMayBeAbsent,
                   "keep the parameters as they are: no gradient is computed and no state kept",
                   mathematics("the parameters are trained or not")),
        real_field("learning_rate_scale", kMayBeAbsent, at_least(0).usually({}, 100),
                   "factor of the learning rate", mathematics("updates have another size")),
    };
    return table;
}

const FieldTable& any_group_table() {
    static const FieldTable table = [] {
        FieldTable all = group_table();
        const FieldTable own = group_optimizer_fields();
        all.insert(all.end(), own.begin(), own.end());
        return all;
    }();
    return table;
}

FieldTable group_optimizer_fields(std::string_view optimizer) {
    FieldTable table;
    for (const ComponentInfo& member : optimizers().members) {
        if (!optimizer.empty() && member.name != optimizer) continue;
        for (const Field& field : *member.fields) {
            if (field.name == "learning_rate" || find_field(table, field.name)) continue;
            Field& own = table.emplace_back(field);
            own.fallback.reset();
            own.optional = true;
            own.change = mathematics("some parameters are updated in another way");
        }
    }
    return table;
}

const FieldTable& clip_table() {
    static const FieldTable table = {
        real_field("norm", kMayBeAbsent, at_least(0).usually(1e-3, {}),
                   "gradients whose norm, of all of them together, is larger are scaled to it; 0: "
                   "not clipped",
                   mathematics("large gradients make updates of another size"),
                   fills<&TrainingSpec::training, &plan::Training::clip_norm>()),
        real_field(
            "value", kMayBeAbsent, at_least(0),
            "every element of a gradient is kept between minus this and this; 0: not clipped",
            mathematics("large gradients make other updates"),
            fills<&TrainingSpec::training, &plan::Training::clip_value>()),
    };
    return table;
}

const FieldTable& average_table() {
    static const FieldTable table = {
        real_field("decay", 0.999, at_least(0).below(1).usually(0.5, {}),
                   "share of the average that is kept at every update; 0: no average",
                   mathematics("evaluation uses an average that reaches back otherwise, or none"),
                   fills<&TrainingSpec::training, &plan::Training::average_decay>()),
    };
    return table;
}

const FieldTable& checkpoint_table() {
    static const FieldTable table = {
        integer_field("every_epochs", 1, between(0, 1'000'000).in("epochs"),
                      "write one after so many epochs; 0: not for that reason",
                      performance("the run is written out at other points, beside the training"),
                      fills<&TrainingSpec::training, &plan::Training::checkpoint,
                            &plan::CheckpointRule::every_epochs>()),
        integer_field("every_steps", 0, between(0, 1'000'000'000'000).in("steps"),
                      "write one after so many steps; 0: not for that reason",
                      performance("the run is written out at other points, beside the training"),
                      fills<&TrainingSpec::training, &plan::Training::checkpoint,
                            &plan::CheckpointRule::every_steps>()),
        real_field("every_seconds", 0.0, between(0, 1e9).in("seconds"),
                   "write one after so much time; 0: not for that reason",
                   performance("the run is written out at other points, beside the training"),
                   fills<&TrainingSpec::training, &plan::Training::checkpoint,
                         &plan::CheckpointRule::every_seconds>()),
        integer_field("keep", 2, between(1, 1'000'000), "the last so many are kept",
                      performance("another number of checkpoints stays on disk"),
                      fills<&TrainingSpec::training, &plan::Training::checkpoint,
                            &plan::CheckpointRule::keep>()),
    };
    return table;
}

const FieldTable& training_table() {
    static const FieldTable table = {
        kind_field("training"),
        name_field("the training's name; the file's name when not given", "it names the training"),
        extends_field("a training that this one is merged over, field by field"),
        description_field("what the training is, for people"),
        allow_field(),
        variant_field(FieldType::variant, "optimizer", "sgd", optimizers(),
                      "a name, or one name with its fields: {adam: {learning_rate: 0.001}}",
                      mathematics("gradients become updates in another way")),
        {.name = "groups",
         .type = FieldType::record_list,
         .doc = "fields of the optimizer for some of the parameters: [{parameters: \"*.bias\", "
                "weight_decay: 0}]",
         .change = mathematics("some parameters are updated in another way"),
         .optional = true,
         .fields = &any_group_table()},
        record_field("clip", clip_table(), "bounds the gradients: {norm: 1.0} or {value: 0.5}",
                     mathematics("gradients are bounded in another way")),
        integer_field("accumulation", 1, between(1, 1'000'000).in("batches"),
                      "batches whose gradients one update adds up",
                      mathematics("an update adds up another number of batches, and an epoch has "
                                  "another number of updates"),
                      fills<&TrainingSpec::training, &plan::Training::accumulation>()),
        record_field("average", average_table(),
                     "keeps a moving average of the weights, which evaluation and prediction use: "
                     "{decay: 0.999}",
                     mathematics("evaluation uses other averages of the weights")),
        variant_field(FieldType::variant, "loss", "categorical_cross_entropy", losses(),
                      "the loss; besides those that are built in, one that the model declares, or "
                      "a spec of kind loss",
                      mathematics("another loss is minimised")),
        variant_field(FieldType::variant_list, "metrics", "categorical_accuracy", metrics(),
                      "what is measured besides the loss; where nothing is said binary_accuracy of "
                      "samples with any number of classes, mean_absolute_error of numbers",
                      performance("metrics are measured beside the training and do not change it")),
        variant_field(
            FieldType::variant_list, "schedules", kMayBeAbsent, schedules(),
            "what changes the learning rate, or ends the training; their factors are multiplied",
            mathematics(
                "the learning rate changes in another way, or the training ends at another point")),
        record_field(
            "checkpoint", checkpoint_table(),
            "when the state of the run is written, to go on from: {every_epochs: 1, keep: 2}",
            performance("the run is written out beside the training")),
        integer_field("epochs", 1, between(1, 1'000'000), "passes over the training samples",
                      mathematics("the training ends at another point"),
                      fills<&TrainingSpec::training, &plan::Training::epochs>()),
        integer_field("batch_size", 64, between(1, 1'000'000).in("samples"),
                      "samples of one batch, of each rank",
                      mathematics("every update averages over another number of samples, and an "
                                  "epoch has another number of updates"),
                      fills<&TrainingSpec::training, &plan::Training::batch_size>()),
        integer_field("global_batch_size", kMayBeAbsent, between(1, 1'000'000'000).in("samples"),
                      "samples of one batch, of all ranks together, in place of `batch_size`; the "
                      "number of ranks must be known and divide it",
                      mathematics("every update averages over another number of samples, and an "
                                  "epoch has another number of updates"),
                      fills<&TrainingSpec::global_batch_size>()),
        real_field("validation_split", 0.0, at_least(0).below(1),
                   "share of the training samples that is kept for validation",
                   mathematics("other samples are kept from training"),
                   fills<&TrainingSpec::training, &plan::Training::validation_split>()),
        integer_field("k_folds", 0, between(0, 1000),
                      "parts that the training samples are cut into, of which each is kept for "
                      "validation by a plan of its own (cross-validation); 0: none",
                      mathematics("other samples are kept from training"),
                      fills<&TrainingSpec::training, &plan::Training::k_folds>()),
        integer_field("fold", 0, between(0, 1000),
                      "the part that is kept for validation, from 1; 0: `dtnnc compile` writes a "
                      "plan for each",
                      mathematics("other samples are kept from training"),
                      fills<&TrainingSpec::training, &plan::Training::fold>()),
        integer_field("history_every", 0, between(0, 1'000'000'000).in("steps"),
                      "steps of each point of the loss's curve in the history, with the learning "
                      "rate; 0: as many as make some fifty points of an epoch; an epoch has 10,000 "
                      "points at most",
                      performance("the history tells the same losses in other steps"),
                      fills<&TrainingSpec::training, &plan::Training::history_every>()),
        flag_field("shuffle", true, "another order of the samples every epoch",
                   mathematics("the samples come in another order"),
                   fills<&TrainingSpec::training, &plan::Training::shuffle>()),
        flag_field("carry_state", false,
                   "recurrent layers begin a batch with the states in which the one before ended, "
                   "and samples of text come so that each goes on where the one in its place "
                   "ended; gradients stay within a batch (truncated backpropagation through time)",
                   mathematics("states begin with zeros or go on, and samples come in another "
                               "order"),
                   fills<&TrainingSpec::training, &plan::Training::carry_state>()),
        integer_field("seed", 0, at_least(0), "seed of initial weights, sample order and dropout",
                      mathematics("first weights, order of samples and dropout are drawn anew"),
                      fills<&TrainingSpec::training, &plan::Training::seed>()),
        choice_field(
            "dtype", "f32", {"f32", "f64"}, "floating-point type of weights and activations",
            mathematics("values are rounded to another precision"), fills<&TrainingSpec::dtype>()),
        choice_field(
            "compute", "full", {"full", "tf32", "bf16_products", "bf16", "fp16"},
            "what is rounded beside it, sums and parameters staying f32: nothing more; the factors "
            "of products, to TF32 on devices or to bfloat16 on processors; or, on devices, the "
            "values between layers to 16 bits",
            mathematics("values, or the factors of products, are rounded to another precision"),
            fills<&TrainingSpec::compute>()),
        choice_field("numerics", "fast", {"fast", "strict"},
                     "of processors: fast, subnormal numbers are 0; or strict, as IEEE 754 has it, "
                     "by kernels that round as sums do",
                     mathematics("subnormal numbers are 0 or not, and kernels round otherwise"),
                     fills<&TrainingSpec::numerics>()),
        real_field("loss_scale", 0.0, between(0, 16777216),
                   "of `compute: fp16`: what the loss is multiplied by, so that gradients do not "
                   "vanish; 0: as much as does not overflow, found while training",
                   mathematics("other gradients vanish or overflow in 16 bits"),
                   fills<&TrainingSpec::training, &plan::Training::loss_scale>()),
        integer_field("steps_per_epoch", 0, between(0, 1'000'000'000).in("steps"),
                      "steps after which an epoch ends; 0: when the samples are used up",
                      mathematics("an epoch has another number of updates"),
                      fills<&TrainingSpec::training, &plan::Training::steps_per_epoch>()),
    };
    return table;
}

}  // namespace dtnn::compiler
