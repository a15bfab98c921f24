#pragma once
/// The types of datasets (dataset_types.def): what compiler and runtime both ask about one. Fields
/// and documents: compiler/frontend/datasets/; how the samples are read: runtime/data/sources/.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "plan/plan.hpp"

namespace dtnn::plan {

enum class DatasetForm {
    known,   ///< every sample has the type's shape, and what is kept of one is known
    made,    ///< the spec says what the samples are like; nothing is kept
    table,   ///< lines of numbers
    images,  ///< files of images
    tokens,  ///< files of tokens, one behind another
    series,  ///< lines of numbers in the order of time, of which samples are stretches
};

struct DatasetType {
    std::string_view name;
    DatasetForm form;
    std::array<std::int64_t, 3> shape = {};  ///< of a known form
    std::int64_t classes = 0;                ///< those that there are; 0: the spec or files say it
    std::int64_t label_bytes = 0;            ///< of a known form: kept of a sample beside its bytes
    std::int64_t header_bytes = 0;           ///< of a known form: kept besides
    LabelKind labels = LabelKind::classes;   ///< what a sample has, where the spec says no kind
    bool arrays = false;                     ///< an .npz has arrays in place of images
    bool masks = false;                      ///< every image has a mask: a class for every pixel
    bool pixel_labels = false;               ///< there may be a class for every pixel
    bool next_tokens = false;  ///< samples are tokens, and the class of each step is the next one
};

std::span<const DatasetType> dataset_types();
/// Null when there is none.
const DatasetType* find_dataset_type(std::string_view name);

/// Whether the samples are arrays, as the file's name says (NumPy decides what it is called), and
/// not images. False without a path.
bool holds_arrays(const Dataset& dataset);

/// Whether some columns of its tables are categories or have holes filled in, so that a plan says
/// what becomes of each (Dataset::columns).
bool encodes_columns(const Dataset& dataset);

/// Whether samples are stretches of lines in the order of time, which overlap, so that only the
/// time parts them.
bool is_series(const Dataset& dataset);

/// Whether the network reads features that are brought to a mean of 0 and a deviation of 1
/// (Feature::mean).
bool scales_features(const Dataset& dataset);

/// Whether the loss is of targets that are brought to a mean of 0 and a deviation of 1
/// (Feature::mean).
bool scales_targets(const Dataset& dataset);

}  // namespace dtnn::plan
