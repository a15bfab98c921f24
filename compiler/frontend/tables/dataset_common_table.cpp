// The fields that datasets of every type have, and those of all types together.

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

/// Every field of every type by name, as its first type declares it, and optional: which of them a
/// dataset has follows from its type.
FieldTable all_fields() {
    FieldTable table = dataset_head_table();
    for (const ComponentInfo& type : dataset_types().members)
        for (const Field& field : *type.fields) {
            if (find_field(table, field.name)) continue;
            Field& added = table.emplace_back(field);
            added.optional = true;
            added.found = false;
            added.fallback.reset();
        }
    table.insert(table.end(), dataset_tail_table().begin(), dataset_tail_table().end());
    return table;
}

}  // namespace

const FieldTable& dataset_head_table() {
    static const FieldTable table = {
        kind_field("dataset"),
        name_field("the dataset's name; the file's name when not given", "it names the dataset"),
        extends_field("a dataset that this one is merged over, field by field"),
        description_field("what the dataset is, for people"),
        allow_field(),
        {.name = "type",
         .type = FieldType::choice,
         .doc = "where the samples come from; each type has fields of its own",
         .change = mathematics("the samples come from another source"),
         .choices = dataset_types().names()},
    };
    return table;
}

const FieldTable& dataset_tail_table() {
    static const FieldTable table = {
        {.name = "transforms",
         .type = FieldType::variant_list,
         .doc = "what every sample goes through, in order",
         .change = mathematics("the network sees the samples otherwise"),
         .choices = transforms().names(),
         .optional = true,
         .components = &transforms()},
        {.name = "augmentations",
         .type = FieldType::variant_list,
         .doc = "what training samples go through behind the transforms, in order, drawn anew for "
                "every epoch",
         .change = mathematics("the network is trained on samples changed otherwise"),
         .choices = augmentations().names(),
         .optional = true,
         .components = &augmentations()},
        {.name = "sample_percentage",
         .type = FieldType::real,
         .fallback = 100.0,
         .doc =
             "training samples of an epoch: below 100 a part of them, drawn anew for every epoch, "
             "above 100 some of them more than once",
         .change = mathematics("an epoch has another number of samples"),
         .minimum = 0,
         .maximum = 10'000,
         .unit = "percent",
         .exclusive_minimum = true},
        {.name = "test_as_validation",
         .type = FieldType::boolean,
         .fallback = false,
         .doc = "the test samples are the validation's too, instead of a part of the training "
                "samples",
         .change = mathematics("other samples are kept from training")},
        {.name = "target",
         .type = FieldType::choice,
         .fallback = std::string("label"),
         .doc = "what the network is to give: a sample's label, or the sample itself as it enters "
                "the network, behind transforms and augmentations (autoencoders)",
         .change = mathematics("the network is to give something else"),
         .choices = {"label", "input"}},
        {.name = "class_names",
         .type = FieldType::text_list,
         .doc = "what answers and tables call the classes, or the label columns, in their order; "
                "those of the files, where these have names",
         .change =
             performance("they are what classes are called; files that have names must have these"),
         .optional = true},
        {.name = "content_hash",
         .type = FieldType::text,
         .doc = "the content hash that the files must have, as `dtnnc data` shows it",
         .change =
             performance("it is what is checked of the files, not a choice of the computation"),
         .optional = true},
    };
    return table;
}

const FieldTable& dataset_table() {
    static const FieldTable table = all_fields();
    return table;
}

}  // namespace dtnn::compiler
