#pragma once
/// Component sets: closed sets of named things that a field chooses from, each with fields of its
/// own - optimizers, losses, metrics, schedules, transforms, augmentations - and the types of
/// datasets, whose fields stand beside `type`.
///
/// A member is written as its name, or as one name with its fields:
///
///     loss: mean_squared_error
///     loss: {categorical_cross_entropy: {smoothing: 0.1}}
///     schedules: [{warm_up: {epochs: 5}}, {cosine: {epochs: 20}}]
///
/// Everything else follows from a member's line in its set's table: reading, suggestions, JSON
/// Schema, reference pages, `dtnnc explain`, --set, the resolved document with its origins. How to
/// add one: README.md.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

struct DatasetSpec;
struct FieldValues;

/// The document of the field `over` of formulas.
inline constexpr const char* kOverDoc =
    "what the sum of all is divided by: all numbers, or the rows: samples; where the model gives "
    "an "
    "image or a sequence, its pixels or steps";

/// A member as a spec has it.
struct ReadComponent {
    plan::Component component;  ///< defaults filled in; fields without a default only when given
    Span span;                  ///< of its name
    std::map<std::string, Span> spans;  ///< of the fields the user wrote

    bool has(const std::string& field) const { return component.attributes.contains(field); }
    std::int64_t integer(const std::string& field) const;  ///< 0 when it is not there
    double real(const std::string& field) const;
    bool flag(const std::string& field) const;
    std::string text(const std::string& field) const;
    /// Of the field, when it was written; else of the name.
    const Span& span_of(const std::string& field) const;
};

/// The table of members without fields.
const FieldTable& no_fields();

struct ComponentInfo {
    std::string_view name;     ///< "cosine"
    std::string_view doc;      ///< sentences: what it is, its formula's source
    std::string_view example;  ///< a whole spec, sound as it stands
    const FieldTable* fields;
    /// What its fields must fulfil together: reports what is wrong. Null: nothing. Called only when
    /// each of them is sound.
    void (*check)(const ReadComponent& read, Diagnostics& diagnostics) = nullptr;
    /// Transforms and augmentations: what becomes of a sample's shape (channels, height, width; a
    /// zero is an extent that differs from sample to sample). False after a diagnostic. Null: the
    /// shape stays.
    bool (*shape)(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) = nullptr;
    bool centres = false;  ///< of transforms: gives channels mean 0
    bool pixels = false;   ///< of types of datasets: samples are pixels between 0 and 1
    bool rises = false;    ///< of schedules: the learning rate rises to the optimizer's
    bool falls = false;    ///< of schedules: `begin` and `epochs` say when the rate falls
    /// Of optimizers: an update takes norms of whole tensors, of which a rank may have a part.
    bool takes_norms = false;
    /// Of types of datasets: fills shape and classes of `spec`, and reports what is wrong with its
    /// fields together.
    void (*settle)(const FieldValues& fields, DatasetSpec& spec,
                   Diagnostics& diagnostics) = nullptr;
    std::int64_t usual_side = 64;  ///< of types of datasets: of images, as networks see them
};

/// The member with the mark set.
inline ComponentInfo marked(bool ComponentInfo::*mark, ComponentInfo member) {
    member.*mark = true;
    return member;
}

struct ComponentSet {
    std::string_view name;    ///< "loss"
    std::string_view plural;  ///< "losses"
    std::string_view group;   ///< "a loss"
    std::vector<ComponentInfo> members;
    bool open = false;  ///< specs of their own, and models, may declare others

    const ComponentInfo* find(std::string_view member) const;  ///< null when there is none
    std::vector<std::string_view> names() const;
};

const ComponentSet& optimizers();     // optimizer_table.cpp
const ComponentSet& losses();         // loss_table.cpp
const ComponentSet& metrics();        // metric_table.cpp
const ComponentSet& schedules();      // schedule_table.cpp
const ComponentSet& transforms();     // transform_table.cpp
const ComponentSet& augmentations();  // transform_table.cpp
const ComponentSet& dataset_types();  // datasets/dataset_types.cpp
/// All of them, in this order.
const std::vector<const ComponentSet*>& component_sets();

/// The row of a field that is a member of the set, or a list of members.
Field variant_field(FieldType type, std::string_view name, Absent absent, const ComponentSet& set,
                    std::string_view doc, FieldChange change);

/// One member. Nothing after a diagnostic.
std::optional<ReadComponent> read_component(const SourceNode& node, const Field& field,
                                            const std::string& what, Diagnostics& diagnostics);
/// A list of members, or one. Those that are sound; `sound` says whether that is all of them.
struct ReadComponents {
    std::vector<ReadComponent> list;
    std::vector<std::size_t> indices;  ///< of each, in the list as it was written
    bool sound = true;
};
ReadComponents read_components(const SourceNode& node, const Field& field, const std::string& what,
                               Diagnostics& diagnostics);

/// `given` of the fields, all of the same member: more than one, or none, is an error at its name.
/// For `check` functions.
void require_one_of(const ReadComponent& read, const std::vector<std::string>& fields,
                    Diagnostics& diagnostics);

/// The member with nothing but defaults.
plan::Component default_component(const ComponentInfo& member);

/// Of the hinge, which is a loss and a metric. (loss_table.cpp)
const FieldTable& hinge_fields();

/// The metric's name in histories and the program's output that it reads. Two metrics of a training
/// must not have one name. (metric_table.cpp)
plan::Metric metric_of(const plan::Component& metric);
/// Whether it is measured on training batches too. (metric_table.cpp)
bool is_of_training(const plan::Metric& metric);

}  // namespace dtnn::compiler
