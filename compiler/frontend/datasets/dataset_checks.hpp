#pragma once
/// What types of datasets fill and check alike. Each reports what is wrong at the field's place.

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Shape and classes of a type that knows them.
void settle_known_form(DatasetSpec& spec);
/// Three positive extents of `shape`.
void settle_shape(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);
/// `shape` of images: one or three channels, of arrays any number of them; extents that may be
/// zero, both or none.
void settle_image_shape(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);
void settle_classes(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);
/// Both, and the path, of files of the user's own.
void settle_images(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);

/// The samples that a known dataset has at most.
struct MostSamples {
    std::int64_t train = 0, test = 0;
};
void check_most(const FieldValues& fields, const DatasetSpec& spec, const MostSamples& most,
                Diagnostics& diagnostics);

inline constexpr std::string_view kFileOrFolder = "a file or a folder";
/// That paths are not empty; `what` is what they must name.
void check_paths(const FieldValues& fields, const DatasetSpec& spec, std::string_view what,
                 Diagnostics& diagnostics);

/// Whether every pixel, or step, has a class.
bool labels_places(const FieldValues& fields, const plan::Dataset& dataset);
/// Samples have the pixels or steps that `labels` speaks of.
void check_label_places(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics);
/// `labels: pixel` or `step` of an archive.
void check_pixel_labels(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics);
/// `labels: sequence` of an archive, and the room for them.
void check_label_sequences(const FieldValues& fields, const DatasetSpec& spec,
                           Diagnostics& diagnostics);
void check_ignored_value(const FieldValues& fields, const DatasetSpec& spec,
                         Diagnostics& diagnostics);
/// `lengths`: that arrays can be of that name, and samples have parts that do not count.
void check_lengths(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics);
/// `target_scaling`, with the mean and the deviation of each number of a target.
void settle_target_scaling(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);
void check_mask_values(const FieldValues& fields, const DatasetSpec& spec,
                       Diagnostics& diagnostics);

}  // namespace dtnn::compiler
