#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
const FieldTable& group_table() {
    static const FieldTable table = {
        {.name = "parameters",
         .type = FieldType::text,
         .doc = "names of parameters, with `*` for any characters and `?` for one: \"*.bias\", "
                "\"stage_1/*\"; of the groups that match a parameter the first counts",
         .change = mathematics("other parameters belong to the group")},
        {.name = "frozen",
         .type = FieldType::boolean,
         .doc = "keep the parameters as they are: no gradient is computed and no state kept",
         .change = mathematics("the parameters are trained or not"),
         .optional = true},
        {.name = "learning_rate_scale",
         .type = FieldType::real,
         .doc = "factor of the learning rate",
         .change = mathematics("updates have another size"),
         .minimum = 0,
         .optional = true,
         .usual_most = 100},
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
        {.name = "norm",
         .type = FieldType::real,
         .doc = "gradients whose norm, of all of them together, is larger are scaled to it; 0: not "
                "clipped",
         .change = mathematics("large gradients make updates of another size"),
         .minimum = 0,
         .optional = true,
         .member = fills<&TrainingSpec::training, &plan::Training::clip_norm>(),
         .usual_least = 1e-3},
        {.name = "value",
         .type = FieldType::real,
         .doc = "every element of a gradient is kept between minus this and this; 0: not clipped",
         .change = mathematics("large gradients make other updates"),
         .minimum = 0,
         .optional = true,
         .member = fills<&TrainingSpec::training, &plan::Training::clip_value>()},
    };
    return table;
}

const FieldTable& average_table() {
    static const FieldTable table = {
        {.name = "decay",
         .type = FieldType::real,
         .fallback = 0.999,
         .doc = "share of the average that is kept at every update; 0: no average",
         .change = mathematics("evaluation uses an average that reaches back otherwise, or none"),
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true,
         .member = fills<&TrainingSpec::training, &plan::Training::average_decay>(),
         .usual_least = 0.5},
    };
    return table;
}

const FieldTable& checkpoint_table() {
    static const FieldTable table = {
        {.name = "every_epochs",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "write one after so many epochs; 0: not for that reason",
         .change = performance("the run is written out at other points, beside the training"),
         .minimum = 0,
         .maximum = 1'000'000,
         .unit = "epochs",
         .member = fills<&TrainingSpec::training, &plan::Training::checkpoint,
                         &plan::CheckpointRule::every_epochs>()},
        {.name = "every_steps",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "write one after so many steps; 0: not for that reason",
         .change = performance("the run is written out at other points, beside the training"),
         .minimum = 0,
         .maximum = 1'000'000'000'000,
         .unit = "steps",
         .member = fills<&TrainingSpec::training, &plan::Training::checkpoint,
                         &plan::CheckpointRule::every_steps>()},
        {.name = "every_seconds",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "write one after so much time; 0: not for that reason",
         .change = performance("the run is written out at other points, beside the training"),
         .minimum = 0,
         .maximum = 1e9,
         .unit = "seconds",
         .member = fills<&TrainingSpec::training, &plan::Training::checkpoint,
                         &plan::CheckpointRule::every_seconds>()},
        {.name = "keep",
         .type = FieldType::integer,
         .fallback = std::int64_t{2},
         .doc = "the last so many are kept",
         .change = performance("another number of checkpoints stays on disk"),
         .minimum = 1,
         .maximum = 1'000'000,
         .member = fills<&TrainingSpec::training, &plan::Training::checkpoint,
                         &plan::CheckpointRule::keep>()},
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
        {.name = "optimizer",
         .type = FieldType::variant,
         .fallback = std::string("sgd"),
         .doc = "a name, or one name with its fields: {adam: {learning_rate: 0.001}}",
         .change = mathematics("gradients become updates in another way"),
         .choices = optimizers().names(),
         .components = &optimizers()},
        {.name = "groups",
         .type = FieldType::record_list,
         .doc = "fields of the optimizer for some of the parameters: [{parameters: \"*.bias\", "
                "weight_decay: 0}]",
         .change = mathematics("some parameters are updated in another way"),
         .optional = true,
         .fields = &any_group_table()},
        {.name = "clip",
         .type = FieldType::record,
         .doc = "bounds the gradients: {norm: 1.0} or {value: 0.5}",
         .change = mathematics("gradients are bounded in another way"),
         .optional = true,
         .fields = &clip_table()},
        {.name = "accumulation",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "batches whose gradients one update adds up",
         .change = mathematics("an update adds up another number of batches, and an epoch has "
                               "another number of updates"),
         .minimum = 1,
         .maximum = 1'000'000,
         .unit = "batches",
         .member = fills<&TrainingSpec::training, &plan::Training::accumulation>()},
        {.name = "average",
         .type = FieldType::record,
         .doc = "keeps a moving average of the weights, which evaluation and prediction use: "
                "{decay: 0.999}",
         .change = mathematics("evaluation uses other averages of the weights"),
         .optional = true,
         .fields = &average_table()},
        {.name = "loss",
         .type = FieldType::variant,
         .fallback = std::string("categorical_cross_entropy"),
         .doc = "the loss; besides those that are built in, one that the model declares, or "
                "a spec of kind loss",
         .change = mathematics("another loss is minimised"),
         .choices = losses().names(),
         .components = &losses()},
        {.name = "metrics",
         .type = FieldType::variant_list,
         .fallback = std::string("categorical_accuracy"),
         .doc = "what is measured besides the loss",
         .change = performance("metrics are measured beside the training and do not change it"),
         .choices = metrics().names(),
         .components = &metrics()},
        {.name = "schedules",
         .type = FieldType::variant_list,
         .doc = "what changes the learning rate, or ends the training; their factors are "
                "multiplied",
         .change = mathematics(
             "the learning rate changes in another way, or the training ends at another point"),
         .choices = schedules().names(),
         .optional = true,
         .components = &schedules()},
        {.name = "checkpoint",
         .type = FieldType::record,
         .doc = "when the state of the run is written, to go on from: {every_epochs: 1, keep: 2}",
         .change = performance("the run is written out beside the training"),
         .optional = true,
         .fields = &checkpoint_table()},
        {.name = "epochs",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "passes over the training samples",
         .change = mathematics("the training ends at another point"),
         .minimum = 1,
         .maximum = 1'000'000,
         .member = fills<&TrainingSpec::training, &plan::Training::epochs>()},
        {.name = "batch_size",
         .type = FieldType::integer,
         .fallback = std::int64_t{64},
         .doc = "samples of one batch, of each rank",
         .change = mathematics("every update averages over another number of samples, and an epoch "
                               "has another number of updates"),
         .minimum = 1,
         .maximum = 1'000'000,
         .unit = "samples",
         .member = fills<&TrainingSpec::training, &plan::Training::batch_size>()},
        {.name = "global_batch_size",
         .type = FieldType::integer,
         .doc = "samples of one batch, of all ranks together, in place of `batch_size`; the number "
                "of ranks must be known and divide it",
         .change = mathematics("every update averages over another number of samples, and an epoch "
                               "has another number of updates"),
         .minimum = 1,
         .maximum = 1'000'000'000,
         .unit = "samples",
         .optional = true,
         .member = fills<&TrainingSpec::global_batch_size>()},
        {.name = "validation_split",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "share of the training samples that is kept for validation",
         .change = mathematics("other samples are kept from training"),
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true,
         .member = fills<&TrainingSpec::training, &plan::Training::validation_split>()},
        {.name = "shuffle",
         .type = FieldType::boolean,
         .fallback = true,
         .doc = "another order of the samples every epoch",
         .change = mathematics("the samples come in another order"),
         .member = fills<&TrainingSpec::training, &plan::Training::shuffle>()},
        {.name = "seed",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "seed of initial weights, sample order and dropout",
         .change = mathematics("first weights, order of samples and dropout are drawn anew"),
         .minimum = 0,
         .member = fills<&TrainingSpec::training, &plan::Training::seed>()},
        {.name = "dtype",
         .type = FieldType::choice,
         .fallback = std::string("f32"),
         .doc = "floating-point type of weights and activations",
         .change = mathematics("values are rounded to another precision"),
         .choices = {"f32", "f64"},
         .member = fills<&TrainingSpec::dtype>()},
        {.name = "compute",
         .type = FieldType::choice,
         .fallback = std::string("full"),
         .doc = "what is rounded beside it, sums and parameters staying f32: nothing more; the "
                "factors "
                "of products, to TF32 on devices or to bfloat16 on processors; or, on devices, the "
                "values between layers to 16 bits",
         .change =
             mathematics("values, or the factors of products, are rounded to another precision"),
         .choices = {"full", "tf32", "bf16_products", "bf16", "fp16"},
         .member = fills<&TrainingSpec::compute>()},
        {.name = "numerics",
         .type = FieldType::choice,
         .fallback = std::string("fast"),
         .doc = "of processors: fast, subnormal numbers are 0; or strict, as IEEE 754 has it, by "
                "kernels that round as sums do",
         .change = mathematics("subnormal numbers are 0 or not, and kernels round otherwise"),
         .choices = {"fast", "strict"},
         .member = fills<&TrainingSpec::numerics>()},
        {.name = "loss_scale",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc =
             "of `compute: fp16`: what the loss is multiplied by, so that gradients do not vanish; "
             "0: as much as does not overflow, found while training",
         .change = mathematics("other gradients vanish or overflow in 16 bits"),
         .minimum = 0,
         .maximum = 16777216,
         .member = fills<&TrainingSpec::training, &plan::Training::loss_scale>()},
        {.name = "steps_per_epoch",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "steps after which an epoch ends; 0: when the samples are used up",
         .change = mathematics("an epoch has another number of updates"),
         .minimum = 0,
         .maximum = 1'000'000'000,
         .unit = "steps",
         .member = fills<&TrainingSpec::training, &plan::Training::steps_per_epoch>()},
    };
    return table;
}

}  // namespace dtnn::compiler
