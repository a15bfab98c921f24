#include "plan/meaning.hpp"

namespace dtnn::plan {

namespace {

struct Entry {
    std::string_view path;
    Meaning meaning;
    std::string_view reason;
};

constexpr Meaning kMath = Meaning::mathematics;
constexpr Meaning kSpeed = Meaning::performance;

constexpr Entry kEntries[] = {
    {"kind", Meaning::name, "it says which table of fields the spec follows"},
    {"name", Meaning::name, "it names the job"},
    {"description", Meaning::name, "it is text for people"},
    {"threads", kSpeed, "the same values but for rounding"},
    {"memory_budget", kSpeed, "it is a limit that is checked, not a choice of the computation"},
    {"parallel", kSpeed, "ranks share the same global batch"},
    {"machine", kSpeed, "it says where the job runs"},

    {"model", kMath, "the model computes another function"},
    {"model.kind", Meaning::name, "it says which table of fields the spec follows"},
    {"model.name", Meaning::name, "it names the model"},
    {"model.description", Meaning::name, "it is text for people"},
    {"model.input", kMath, "the shape of the samples decides every other shape"},
    {"model.layers", kMath, "the layers are the function that is trained"},

    {"dataset", kMath, "the network sees other samples"},
    {"dataset.kind", Meaning::name, "it says which table of fields the spec follows"},
    {"dataset.name", Meaning::name, "it names the dataset"},
    {"dataset.description", Meaning::name, "it is text for people"},
    {"dataset.path", kSpeed,
     "it is where the files lie; files with another content would change the mathematics, and are "
     "checked when they are read"},
    {"dataset.type", kMath, "the samples come from another source"},
    {"dataset.seed", kMath, "other samples are generated"},
    {"dataset.train_samples", kMath, "an epoch has another number of samples"},
    {"dataset.test_samples", kMath, "the accuracy is measured on other samples"},

    {"training", kMath, "the weights are trained in another way"},
    {"training.kind", Meaning::name, "it says which table of fields the spec follows"},
    {"training.name", Meaning::name, "it names the training"},
    {"training.description", Meaning::name, "it is text for people"},
    {"training.batch_size", kMath,
     "every update averages over another number of samples, and an epoch has another number of "
     "updates"},
    {"training.epochs", kMath, "the training ends at another point"},
    {"training.steps_per_epoch", kMath, "an epoch has another number of updates"},
    {"training.seed", kMath, "initial weights, order of samples and dropout are drawn anew"},
    {"training.shuffle", kMath, "the samples come in another order"},
    {"training.dtype", kMath, "values are rounded to another precision"},
    {"training.loss", kMath, "another quantity is minimised"},
    {"training.optimizer", kMath, "gradients become updates in another way"},
    {"training.learning_rate", kMath, "updates have another size"},
    {"training.validation_split", kMath, "other samples are kept from training"},
    {"training.metrics", kSpeed, "metrics are measured beside the training and do not change it"},
};

bool covers(std::string_view entry, std::string_view path) {
    return path.starts_with(entry) &&
           (path.size() == entry.size() || path[entry.size()] == '.' || path[entry.size()] == '[');
}

}  // namespace

FieldMeaning meaning_of(std::string_view path) {
    const Entry* best = nullptr;
    for (const Entry& entry : kEntries)
        if (covers(entry.path, path) && (!best || entry.path.size() > best->path.size()))
            best = &entry;
    // A layer's own name is a name; what reads it by that name is compared as a connection.
    if (path.starts_with("model.layers") && path.ends_with(".name"))
        return {Meaning::name, "it names the layer"};
    if (best) return {best->meaning, best->reason};
    return {kMath, "no entry says that it leaves the mathematics alone"};
}

}  // namespace dtnn::plan
