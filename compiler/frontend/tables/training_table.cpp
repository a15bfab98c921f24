#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
const FieldTable& group_table() {
    static const FieldTable table = {
        {.name = "parameters",
         .type = FieldType::text,
         .doc = "names of parameters, with `*` for any characters and `?` for one: \"*.bias\", "
                "\"stage_1/*\"; of the groups that match a parameter the first counts"},
        {.name = "frozen",
         .type = FieldType::boolean,
         .doc = "keep the parameters as they are: no gradient is computed and no state kept",
         .optional = true},
        {.name = "learning_rate_scale",
         .type = FieldType::real,
         .doc = "factor of the learning rate",
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
         .minimum = 0,
         .optional = true,
         .usual_least = 1e-3},
        {.name = "value",
         .type = FieldType::real,
         .doc = "every element of a gradient is kept between minus this and this; 0: not clipped",
         .minimum = 0,
         .optional = true},
    };
    return table;
}

const FieldTable& average_table() {
    static const FieldTable table = {
        {.name = "decay",
         .type = FieldType::real,
         .fallback = 0.999,
         .doc = "share of the average that is kept at every update; 0: no average",
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true,
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
         .minimum = 0,
         .maximum = 1'000'000,
         .unit = "epochs"},
        {.name = "every_steps",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "write one after so many steps; 0: not for that reason",
         .minimum = 0,
         .maximum = 1'000'000'000'000,
         .unit = "steps"},
        {.name = "every_seconds",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "write one after so much time; 0: not for that reason",
         .minimum = 0,
         .maximum = 1e9,
         .unit = "seconds"},
        {.name = "keep",
         .type = FieldType::integer,
         .fallback = std::int64_t{2},
         .doc = "the last so many are kept",
         .minimum = 1,
         .maximum = 1'000'000},
    };
    return table;
}

const FieldTable& training_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"training"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the training's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a training that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the training is, for people",
         .optional = true},
        allow_field(),
        {.name = "optimizer",
         .type = FieldType::variant,
         .fallback = std::string("sgd"),
         .doc = "a name, or one name with its fields: {adam: {learning_rate: 0.001}}",
         .choices = optimizers().names(),
         .components = &optimizers()},
        {.name = "groups",
         .type = FieldType::record_list,
         .doc = "fields of the optimizer for some of the parameters: [{parameters: \"*.bias\", "
                "weight_decay: 0}]",
         .optional = true,
         .fields = &any_group_table()},
        {.name = "clip",
         .type = FieldType::record,
         .doc = "bounds the gradients: {norm: 1.0} or {value: 0.5}",
         .optional = true,
         .fields = &clip_table()},
        {.name = "accumulation",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "batches whose gradients one update adds up",
         .minimum = 1,
         .maximum = 1'000'000,
         .unit = "batches"},
        {.name = "average",
         .type = FieldType::record,
         .doc = "keeps a moving average of the weights, which evaluation and prediction use: "
                "{decay: 0.999}",
         .optional = true,
         .fields = &average_table()},
        {.name = "loss",
         .type = FieldType::variant,
         .fallback = std::string("categorical_cross_entropy"),
         .doc = "the loss; besides those that are built in, one that the model declares, or "
                "a spec of kind loss",
         .choices = losses().names(),
         .components = &losses()},
        {.name = "metrics",
         .type = FieldType::variant_list,
         .fallback = std::string("categorical_accuracy"),
         .doc = "what is measured besides the loss",
         .choices = metrics().names(),
         .components = &metrics()},
        {.name = "schedules",
         .type = FieldType::variant_list,
         .doc = "what changes the learning rate, or ends the training; their factors are "
                "multiplied",
         .choices = schedules().names(),
         .optional = true,
         .components = &schedules()},
        {.name = "checkpoint",
         .type = FieldType::record,
         .doc = "when the state of the run is written, to go on from: {every_epochs: 1, keep: 2}",
         .optional = true,
         .fields = &checkpoint_table()},
        {.name = "epochs",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "passes over the training samples",
         .minimum = 1,
         .maximum = 1'000'000},
        {.name = "batch_size",
         .type = FieldType::integer,
         .fallback = std::int64_t{64},
         .doc = "samples of one batch, of each rank",
         .minimum = 1,
         .maximum = 1'000'000,
         .unit = "samples"},
        {.name = "global_batch_size",
         .type = FieldType::integer,
         .doc = "samples of one batch, of all ranks together, in place of `batch_size`; the number "
                "of ranks must be known and divide it",
         .minimum = 1,
         .maximum = 1'000'000'000,
         .unit = "samples",
         .optional = true},
        {.name = "validation_split",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "share of the training samples that is kept for validation",
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true},
        {.name = "shuffle",
         .type = FieldType::boolean,
         .fallback = true,
         .doc = "another order of the samples every epoch"},
        {.name = "seed",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "seed of initial weights, sample order and dropout",
         .minimum = 0},
        {.name = "dtype",
         .type = FieldType::choice,
         .fallback = std::string("f32"),
         .doc = "floating-point type of weights and activations",
         .choices = {"f32", "f64"}},
        {.name = "compute",
         .type = FieldType::choice,
         .fallback = std::string("full"),
         .doc = "what is rounded beside it, sums and parameters staying f32: nothing more; the "
                "factors "
                "of products, to TF32 on devices or to bfloat16 on processors; or, on devices, the "
                "values between layers to 16 bits",
         .choices = {"full", "tf32", "bf16_products", "bf16", "fp16"}},
        {.name = "numerics",
         .type = FieldType::choice,
         .fallback = std::string("fast"),
         .doc = "of processors: fast, subnormal numbers are 0; or strict, as IEEE 754 has it, by "
                "kernels that round as sums do",
         .choices = {"fast", "strict"}},
        {.name = "loss_scale",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc =
             "of `compute: fp16`: what the loss is multiplied by, so that gradients do not vanish; "
             "0: as much as does not overflow, found while training",
         .minimum = 0,
         .maximum = 16777216},
        {.name = "steps_per_epoch",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "steps after which an epoch ends; 0: when the samples are used up",
         .minimum = 0,
         .maximum = 1'000'000'000,
         .unit = "steps"},
    };
    return table;
}

}  // namespace dtnn::compiler
