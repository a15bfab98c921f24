// The types of datasets with the fields of each, and the fields that all of them have.
//
// `train_samples`, `test_samples`, `shape` and `classes` have places of their own in a plan; other
// fields of a type are handed on as attributes of its dataset.

#include "compiler/frontend/components.hpp"
#include "compiler/frontend/tables.hpp"

namespace dtnn::compiler {
namespace {

Field count(std::string_view name, std::int64_t fallback, std::string_view doc) {
    return {.name = name,
            .type = FieldType::integer,
            .fallback = fallback,
            .doc = doc,
            .minimum = 1,
            .maximum = 1'000'000'000,
            .unit = "samples"};
}

constexpr std::string_view kTrainSamples = "training samples, before the validation split";
constexpr std::string_view kTestSamples = "test samples";

Field seed() {
    return {.name = "seed",
            .type = FieldType::integer,
            .fallback = std::int64_t{0},
            .doc = "what the samples are a function of",
            .minimum = 0};
}

const FieldTable& digits_fields() {
    static const FieldTable table = {
        seed(),
        count("train_samples", 10'000, kTrainSamples),
        count("test_samples", 2'000, kTestSamples),
    };
    return table;
}

const FieldTable& mnist_fields() {
    static const FieldTable table = {
        {.name = "path",
         .type = FieldType::text,
         .doc = "the folder of the four IDX files, raw or gzip, relative to the current folder"},
        count("train_samples", 60'000, kTrainSamples),
        count("test_samples", 10'000, kTestSamples),
    };
    return table;
}

const FieldTable& synthetic_fields() {
    static const FieldTable table = {
        {.name = "shape",
         .type = FieldType::integer_list,
         .doc = "channels, height and width of a sample",
         .minimum = 1,
         .maximum = 65536},
        {.name = "classes",
         .type = FieldType::integer,
         .doc = "the number of classes",
         .minimum = 2,
         .maximum = 1'000'000},
        {.name = "labels",
         .type = FieldType::choice,
         .fallback = std::string("sample"),
         .doc = "what has a class: every sample, or every pixel of it (segmentation)",
         .choices = {"sample", "pixel"}},
        seed(),
        count("train_samples", 10'000, kTrainSamples),
        count("test_samples", 2'000, kTestSamples),
    };
    return table;
}

/// Every field of every type by name, as its first type declares it, and optional: which of them a
/// dataset has follows from its type.
FieldTable all_fields() {
    FieldTable table = dataset_head_table();
    for (const ComponentInfo& type : dataset_types().members)
        for (const Field& field : *type.fields) {
            if (find_field(table, field.name)) continue;
            Field& added = table.emplace_back(field);
            added.optional = true;
            added.fallback.reset();
        }
    table.insert(table.end(), dataset_tail_table().begin(), dataset_tail_table().end());
    return table;
}

}  // namespace

const ComponentSet& dataset_types() {
    static const ComponentSet set = {
        "dataset",
        "types of datasets",
        "a type of dataset",
        {{"digits",
          "Images of the ten digits, 1x28x28, drawn by the program itself from a seed: nothing is "
          "read or downloaded.",
          "kind: dataset\ntype: digits\ntrain_samples: 5000\ntest_samples: 1000\n",
          &digits_fields()},
         {"mnist",
          "The four IDX files of MNIST, or of a dataset in its form, raw or gzip: 1x28x28, ten "
          "classes.",
          "kind: dataset\ntype: mnist\npath: data/mnist\n", &mnist_fields()},
         {"synthetic",
          "Random samples of any shape, with classes for samples or for pixels: to measure speed "
          "and to try models without data.",
          "kind: dataset\ntype: synthetic\nshape: [3, 224, 224]\nclasses: 1000\n",
          &synthetic_fields()}}};
    return set;
}

const FieldTable& dataset_head_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"dataset"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the dataset's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a dataset that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the dataset is, for people",
         .optional = true},
        {.name = "type",
         .type = FieldType::choice,
         .doc = "where the samples come from; each type has fields of its own, see below",
         .choices = dataset_types().names()},
    };
    return table;
}

const FieldTable& dataset_tail_table() {
    static const FieldTable table = {
        {.name = "transforms",
         .type = FieldType::variant_list,
         .doc = "what every sample goes through, in order",
         .choices = transforms().names(),
         .optional = true,
         .components = &transforms()},
        {.name = "augmentations",
         .type = FieldType::variant_list,
         .doc = "what training samples go through behind the transforms, in order, drawn anew for "
                "every epoch",
         .choices = augmentations().names(),
         .optional = true,
         .components = &augmentations()},
        {.name = "sample_percentage",
         .type = FieldType::real,
         .fallback = 100.0,
         .doc = "training samples of an epoch: below 100 another part of them every epoch, above "
                "100 some of them more than once",
         .minimum = 0,
         .maximum = 10'000,
         .unit = "percent",
         .exclusive_minimum = true},
        {.name = "test_as_validation",
         .type = FieldType::boolean,
         .fallback = false,
         .doc = "the test samples are the validation's too, instead of a part of the training "
                "samples"},
    };
    return table;
}

const FieldTable& dataset_table() {
    static const FieldTable table = all_fields();
    return table;
}

}  // namespace dtnn::compiler
