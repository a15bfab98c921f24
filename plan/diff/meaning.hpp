#pragma once
/// Which field of a spec changes what is trained, and which only how it is carried out. One table
/// of every field of every kind; `dtnnc diff` reads it, docs/diff.md shows it, and a test holds it
/// against the field tables of the specs and of the operators.

#include <string>
#include <string_view>
#include <vector>

#include "plan/diff/diff.hpp"

namespace dtnn::plan {

struct FieldMeaning {
    Meaning meaning;
    std::string_view reason;
    Unit unit = Unit::none;
};

/// `kind`: job, model, dataset, training ("model.input", "training.clip" and the like for the
/// tables inside them), "optimizer.sgd", "schedule.cosine" and so on for one of a component set,
/// "target" and "compiler" for options of the command line, "layer" for what every layer takes.
/// `field`: the field's name.
struct MeaningEntry {
    std::string_view kind;
    std::string_view field;
    Meaning meaning;
    std::string_view reason;
    Unit unit = Unit::none;  ///< of values that are plain numbers
};

/// The meaning of an operator's field; type "*" is the rule for the field of that name in every
/// operator without a rule of its own.
struct LayerMeaningEntry {
    std::string_view type;
    std::string_view field;
    Meaning meaning;
    std::string_view reason;
};

const std::vector<MeaningEntry>& setting_meanings();
const std::vector<LayerMeaningEntry>& layer_meanings();

/// Null when there is no entry for just that field.
const MeaningEntry* find_meaning(std::string_view kind, std::string_view field);
const LayerMeaningEntry* find_layer_meaning(std::string_view type, std::string_view field);

/// The meaning of a resolved value's path ("training.batch_size", "training.optimizer.adam.beta1",
/// "model.parameters.depth"). A path that no entry covers is taken to change the mathematics, which
/// is the safe side.
FieldMeaning meaning_of(std::string_view path);
/// The meaning of a layer's field, `name` and `from` included.
FieldMeaning meaning_of_layer_field(std::string_view type, std::string_view field);

/// The tables as Markdown, as they stand in docs/diff.md.
std::string meanings_markdown();

}  // namespace dtnn::plan
