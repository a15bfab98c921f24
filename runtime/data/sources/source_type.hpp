#pragma once
/// What a type of dataset is to the runtime, and what the types' sources share.
///
/// A type of dataset is a file of this folder: a class over SampleSource, and NAME_source(), which
/// says who opens it and by which files a folder is known to be one.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/find_in_files.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/sources/image_index.hpp"

namespace dtnn::runtime {

using Source = std::unique_ptr<SampleSource>;

/// What is asked of a source besides the plan's dataset.
struct Asked {
    Counts counts = Counts::exact;
    DType numbers = DType::f32;
};

struct SourceType {
    Source (*open)(const plan::Dataset&, const Asked&) = nullptr;
    /// Where images lie in folders, looking is apart from opening: these two in place of `open`.
    SplitFolders (*list)(const plan::Dataset&) = nullptr;
    Source (*open_listed)(const plan::Dataset&, const Asked&, const SplitFolders&) = nullptr;
    /// A folder with one of these files is a dataset of the type; `in_archives`: an archive, too.
    std::vector<std::string_view> marks = {};
    bool in_archives = false;
    bool shares = false;  ///< `open` keeps the dataset's test_share for the test itself
    /// What such a folder is, where its path is not all that there is to say.
    RecognisedData (*recognise)(const std::string& path) = nullptr;
};

// NAME_source() of every type, each in the file of its source.
#define DATASET_TYPE(name, ...) SourceType name##_source();
#include "plan/dataset_types.def"
#undef DATASET_TYPE

/// All of them by name, in the order of the list.
const std::vector<std::pair<std::string_view, SourceType>>& source_types();
/// Null: there is no such type.
const SourceType* find_source_type(std::string_view name);

inline constexpr const char* kCompileAgain = "compile the job again with the dtnnc of this version";

/// The attribute of datasets whose files have no split of their own.
inline constexpr const char* kShare = "test_share";
inline constexpr const char* kValidationFolder = "validation_folder";
inline constexpr const char* kValidationPath = "validation_path";
inline constexpr const char* kValidationName = "validation_name";
/// What an archive calls the samples, where they are those of validation: no field of specs.
inline constexpr const char* kPart = "part";

/// Attributes of the dataset's type, which the compiler gives all.
template <class Value>
const Value& attribute(const plan::Dataset& dataset, const char* name) {
    const auto found = dataset.attributes.find(name);
    const Value* value =
        found == dataset.attributes.end() ? nullptr : std::get_if<Value>(&found->second);
    if (value == nullptr) {
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's dataset {} has no `{}`", dataset.type, name),
                       kCompileAgain);
    }
    return *value;
}

inline const std::string& path_of(const plan::Dataset& dataset) {
    return attribute<std::string>(dataset, "path");
}
/// Empty: the files have no split of their own, or are those of validation.
std::string test_path_of(const plan::Dataset& dataset);
std::string part_of(const plan::Dataset& dataset);
std::uint64_t seed_of(const plan::Dataset& dataset);
std::int64_t cache_of(const plan::Dataset& dataset);
/// How many classes there must be; 0: any.
std::int64_t classes_of(const plan::Dataset& dataset);
/// The shape as the source gives it; plans made by hand have the network's alone.
const Dims& stored_shape(const plan::Dataset& dataset);
/// Whether the samples have a class for every pixel or step.
bool labels_pixels(const plan::Dataset& dataset);

/// RunError where the plan has another shape or number of classes than the type.
void check_fixed(const plan::Dataset& dataset, const Dims& shape, std::int64_t classes);
/// Of sources that have labels of one kind only.
void check_label_kind(const plan::Dataset& dataset, plan::LabelKind kind);

/// The folders of a dataset's splits, below its path: "." is the path itself. No test: the images
/// have no split of their own.
struct ImageFolders {
    std::string train = "train";
    std::string test = "test";
    std::string validation = {};  ///< listed, or passed over, with the others; opened by itself
};
/// Plans made by hand have train and test.
ImageFolders folders_of(const plan::Dataset& dataset);

ImageIndex::Expected images_of(const plan::Dataset& dataset, const Asked& asked);
ArraySource::Expected arrays_of(const plan::Dataset& dataset, const Asked& asked);

/// Adds SPLIT_FOLDER/CLASS/IMAGE of the index's folder of this number.
void add_class_folders(ImageIndex& index, int folder, const std::string& split_folder, Split split,
                       const ClassFolders& content);

}  // namespace dtnn::runtime
