// The labels of every field of the spec kinds, and of what the command line decides.

#include "plan/meaning.hpp"

namespace dtnn::plan {

namespace {

constexpr Meaning kMath = Meaning::mathematics;
constexpr Meaning kSpeed = Meaning::performance;

constexpr const char* kKind = "it says which table of fields the spec follows";
constexpr const char* kText = "it is text for people";
constexpr const char* kExtends =
    "only what is taken over counts, and that is compared field by field";
constexpr const char* kExpanded =
    "what it expands to counts, and that is compared layer by layer; the layers it adds or changes "
    "change the mathematics";

}  // namespace

const std::vector<MeaningEntry>& setting_meanings() {
    static const std::vector<MeaningEntry> entries = {
        {"job", "kind", kSpeed, kKind},
        {"job", "name", kSpeed, "it names the job"},
        {"job", "description", kSpeed, kText},
        {"job", "extends", kSpeed, kExtends},
        {"job", "model", kMath, "another function is trained"},
        {"job", "dataset", kMath, "the network sees other samples"},
        {"job", "training", kMath, "the weights are trained in another way"},
        {"job", "threads", kSpeed, "the same values but for rounding"},
        {"job", "data_workers", kSpeed, "samples do not depend on which thread prepares them"},
        {"job", "memory_budget", kSpeed,
         "it is a limit that is checked, not a choice of the computation"},

        {"model", "kind", kSpeed, kKind},
        {"model", "name", kSpeed, "it names the model"},
        {"model", "description", kSpeed, kText},
        {"model", "extends", kSpeed, kExtends},
        {"model", "parameters", kMath, "layers are computed from it"},
        {"model", "defaults", kMath, "layers that do not give the field take it from here"},
        {"model", "input", kMath, "the shape of the samples decides every other shape"},
        {"model", "blocks", kMath, "the layers that use the block become other layers"},
        {"model", "layers", kMath, "the layers are the function that is trained"},
        {"model.input", "shape", kMath, "the shape of the samples decides every other shape"},
        {"model.blocks", "description", kSpeed, kText},
        {"model.blocks", "parameters", kMath, kExpanded},
        {"model.blocks", "layers", kMath, kExpanded},
        {"model.blocks.parameters", "type", kSpeed,
         "it says what values are accepted; the values count"},
        {"model.blocks.parameters", "default", kMath, "uses that do not give it take it from here"},
        {"model.blocks.parameters", "minimum", kSpeed,
         "it is a limit that is checked; the values count"},
        {"model.blocks.parameters", "maximum", kSpeed,
         "it is a limit that is checked; the values count"},
        {"model.blocks.parameters", "doc", kSpeed, kText},
        {"repeat", "times", kMath, kExpanded},
        {"repeat", "layers", kMath, kExpanded},
        {"repeat", "index", kSpeed, "it names a number inside expressions; their values count"},
        {"repeat", "name", kSpeed, "it names layers"},
        {"repeat", "from", kMath, "the layers read others"},
        {"if", "condition", kMath, kExpanded},
        {"if", "then", kMath, kExpanded},
        {"if", "else", kMath, kExpanded},
        {"if", "from", kMath, "the layers read others"},
        {"layer", "name", kSpeed,
         "first weights depend on a layer's place, not its name; the names in weight files and "
         "checkpoints change"},
        {"layer", "from", kMath, "the layer reads another layer"},
        {"layer", "branches", kMath, kExpanded},

        {"dataset", "kind", kSpeed, kKind},
        {"dataset", "name", kSpeed, "it names the dataset"},
        {"dataset", "description", kSpeed, kText},
        {"dataset", "extends", kSpeed, kExtends},
        {"dataset", "type", kMath, "the samples come from another source"},
        {"dataset", "path", kSpeed,
         "it is where the files lie; their content is checked when they are read, and would change "
         "the mathematics"},
        {"dataset", "shape", kMath, "the samples have another shape"},
        {"dataset", "classes", kMath, "other labels are told apart"},
        {"dataset", "labels", kMath, "samples are labelled in another way"},
        {"dataset", "train_samples", kMath, "the network is trained on other samples"},
        {"dataset", "test_samples", kMath, "the accuracy is measured on other samples"},
        {"dataset", "seed", kMath, "other samples are generated"},
        {"dataset", "transforms", kMath, "the network sees the samples otherwise"},
        {"dataset", "augmentations", kMath, "the network is trained on samples changed otherwise"},
        {"dataset", "sample_percentage", kMath, "an epoch has another number of samples"},
        {"dataset", "test_as_validation", kMath, "other samples are kept from training"},

        {"training", "kind", kSpeed, kKind},
        {"training", "name", kSpeed, "it names the training"},
        {"training", "description", kSpeed, kText},
        {"training", "extends", kSpeed, kExtends},
        {"training", "optimizer", kMath, "gradients become updates in another way"},
        {"training", "groups", kMath, "some parameters are updated in another way"},
        {"training", "clip", kMath, "gradients are bounded in another way"},
        {"training", "accumulation", kMath,
         "an update adds up another number of batches, and an epoch has another number of updates"},
        {"training", "average", kMath, "evaluation uses other averages of the weights"},
        {"training", "schedules", kMath,
         "the learning rate changes in another way, or the training ends at another point"},
        {"training", "checkpoint", kSpeed, "the run is written out beside the training"},
        {"training", "loss", kMath, "another quantity is made small"},
        {"training", "metrics", kSpeed,
         "metrics are measured beside the training and do not change it"},
        {"training", "epochs", kMath, "the training ends at another point"},
        {"training", "batch_size", kMath,
         "every update averages over another number of samples, and an epoch has another number of "
         "updates"},
        {"training", "validation_split", kMath, "other samples are kept from training"},
        {"training", "shuffle", kMath, "the samples come in another order"},
        {"training", "seed", kMath, "first weights, order of samples and dropout are drawn anew"},
        {"training", "dtype", kMath, "values are rounded to another precision"},
        {"training", "steps_per_epoch", kMath, "an epoch has another number of updates"},

        {"training.groups", "parameters", kMath, "other parameters belong to the group"},
        {"training.groups", "frozen", kMath, "the parameters are trained or not"},
        {"training.groups", "learning_rate_scale", kMath, "updates have another size"},
        {"training.clip", "norm", kMath, "large gradients make updates of another size"},
        {"training.clip", "value", kMath, "large gradients make other updates"},
        {"training.average", "decay", kMath, "the average reaches back otherwise"},
        {"training.checkpoint", "every_epochs", kSpeed,
         "the run is written out at other points, beside the training"},
        {"training.checkpoint", "every_steps", kSpeed,
         "the run is written out at other points, beside the training"},
        {"training.checkpoint", "every_seconds", kSpeed,
         "the run is written out at other points, beside the training"},
        {"training.checkpoint", "keep", kSpeed, "another number of checkpoints stays on disk"},

        {"schedule.cosine", "epochs", kMath, "the learning rate falls over another time"},
        {"schedule.cosine", "minimum", kMath, "the learning rate falls to another value"},
        {"transform.normalize", "mean", kMath, "the network sees other values"},
        {"transform.normalize", "deviation", kMath, "the network sees other values"},

        {"optimizer.sgd", "learning_rate", kMath, "updates have another size"},
        {"optimizer.sgd", "momentum", kMath, "updates remember another share of earlier ones"},
        {"optimizer.sgd", "nesterov", kMath,
         "the gradient is applied ahead of the velocity or not"},
        {"optimizer.sgd", "weight_decay", kMath, "weights are drawn to zero by another share"},
        {"optimizer.adam", "learning_rate", kMath, "updates have another size"},
        {"optimizer.adam", "beta1", kMath, "the mean of the gradients reaches back otherwise"},
        {"optimizer.adam", "beta2", kMath,
         "the mean of the squared gradients reaches back otherwise"},
        {"optimizer.adam", "epsilon", kMath, "small gradients make updates of another size"},
        {"optimizer.adam", "weight_decay", kMath, "weights are drawn to zero by another share"},

        {"target", "device", kSpeed, "the same values but for rounding"},
        {"target", "isa", kSpeed, "the same values but for rounding"},
        {"target", "threads", kSpeed, "the same values but for rounding"},
        {"target", "data_workers", kSpeed, "samples do not depend on which thread prepares them"},
        {"target", "ranks", kSpeed, "ranks share the same global batch"},
        {"compiler", "generator", kSpeed, "another version may choose and arrange differently"},
        {"compiler", "passes", kSpeed, "passes keep the meaning of the graph"},
    };
    return entries;
}

}  // namespace dtnn::plan
