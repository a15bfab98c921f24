// The fields that datasets of every type have, and those of all types together.

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

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
        choice_field("type", kMustBeGiven, dataset_types().names(),
                     "where the samples come from; each type has fields of its own",
                     mathematics("the samples come from another source")),
    };
    return table;
}

const FieldTable& dataset_tail_table() {
    static const FieldTable table = {
        variant_field(FieldType::variant_list, "transforms", kMayBeAbsent, transforms(),
                      "what every sample goes through, in order",
                      mathematics("the network sees the samples otherwise")),
        variant_field(FieldType::variant_list, "augmentations", kMayBeAbsent, augmentations(),
                      "what training samples go through behind the transforms, in order, drawn "
                      "anew for every epoch",
                      mathematics("the network is trained on samples changed otherwise")),
        real_field("sample_percentage", 100.0, above(0).up_to(10'000).in("percent"),
                   "training samples of an epoch: below 100 a part of them, drawn anew for every "
                   "epoch, above 100 some of them more than once",
                   mathematics("an epoch has another number of samples")),
        flag_field(
            "test_as_validation", false,
            "the test samples are the validation's too, instead of a part of the training samples",
            mathematics("other samples are kept from training")),
        choice_field("target", "label", words_of<plan::TargetSource>(),
                     "what the network is to give: a sample's label, or the sample itself as it "
                     "enters the network, behind transforms and augmentations (autoencoders)",
                     mathematics("the network is to give something else")),
        plain_field(
            FieldType::text_list, "class_names", kMayBeAbsent,
            "what answers and tables call the classes, or the label columns, in their order; those "
            "of the files, where these have names",
            performance("they are what classes are called; files that have names must have these")),
        text_field(
            "content_hash", kMayBeAbsent,
            "the content hash that the files must have, as `dtnnc data` shows it",
            performance("it is what is checked of the files, not a choice of the computation")),
    };
    return table;
}

const FieldTable& dataset_table() {
    static const FieldTable table = all_fields();
    return table;
}

}  // namespace dtnn::compiler
