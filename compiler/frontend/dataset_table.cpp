#include "compiler/frontend/tables.hpp"

namespace dtnn::compiler {

const FieldTable& dataset_table() {
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
         .doc = "digits: rendered glyphs of 1x28x28; mnist: IDX files; synthetic: random samples "
                "of any shape",
         .choices = {"digits", "mnist", "synthetic"}},
        {.name = "path",
         .type = FieldType::text,
         .doc = "mnist: the folder of the four IDX files, raw or gzip, relative to the current "
                "folder"},
        {.name = "shape",
         .type = FieldType::integer_list,
         .doc = "synthetic: channels, height and width of a sample",
         .minimum = 1,
         .maximum = 65536},
        {.name = "classes",
         .type = FieldType::integer,
         .doc = "synthetic: the number of classes",
         .minimum = 2,
         .maximum = 1'000'000},
        {.name = "labels",
         .type = FieldType::choice,
         .fallback = std::string("sample"),
         .doc = "synthetic: what has a class: every sample, or every pixel of it (segmentation)",
         .choices = {"sample", "pixel"}},
        {.name = "train_samples",
         .type = FieldType::integer,
         .doc = "training samples, before the validation split; 10000, for mnist 60000, when not "
                "given",
         .minimum = 1,
         .maximum = 1'000'000'000,
         .unit = "samples",
         .optional = true},
        {.name = "test_samples",
         .type = FieldType::integer,
         .doc = "test samples; 2000, for mnist 10000, when not given",
         .minimum = 1,
         .maximum = 1'000'000'000,
         .unit = "samples",
         .optional = true},
        {.name = "seed",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "digits, synthetic: what the samples are a function of",
         .minimum = 0},
    };
    return table;
}

std::vector<std::string_view> fields_of_dataset_type(std::string_view type) {
    if (type == "mnist") return {"path", "train_samples", "test_samples"};
    if (type == "synthetic")
        return {"shape", "classes", "labels", "train_samples", "test_samples", "seed"};
    return {"train_samples", "test_samples", "seed"};
}

}  // namespace dtnn::compiler
