#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace fs = std::filesystem;

void add_class_folders(ImageIndex& index, int folder, const std::string& split_folder, Split split,
                       const ClassFolders& content) {
    const std::string prefix = split_folder == "." ? "" : split_folder + "/";
    for (const std::string& name : content.passed_over)
        index.pass_over(name);
    for (const auto& [name, files] : content.classes) {
        const std::int32_t label = index.class_number(name, split);
        for (const ClassFolders::File& file : files)
            index.add(split, prefix + name + "/" + file.name, label, folder, 0, file.size);
    }
}

namespace {

SplitFolders list_image_folder(const std::string& path, const ImageFolders& names) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        throw RunError(Exit::failed, fmt::format("the dataset's folder {} is not there", path),
                       "compile the job with --set dataset.path=DIR; it is relative to the current "
                       "folder");
    }
    SplitFolders found = {{names.train, list_class_folders(path, names.train)}};
    for (const std::string& name : {names.test, names.validation})
        if (!name.empty()) found[name] = list_class_folders(path, name);
    return found;
}

std::unique_ptr<SampleSource> open_image_folder(const std::string& path, const ImageFolders& names,
                                                ImageIndex::Expected expected,
                                                const SplitFolders& folders) {
    auto index = std::make_unique<ImageIndex>(path, std::move(expected));
    const int folder = index->add_folder(path);
    const auto add = [&](const std::string& name, Split split) {
        const auto content = folders.find(name);
        if (content == folders.end())
            throw RunError(Exit::mismatch,
                           fmt::format("rank 0 has not sent what the folder {} holds", name),
                           "start all ranks with the same plan");
        add_class_folders(*index, folder, name, split, content->second);
    };
    add(names.train, Split::train);
    if (!names.test.empty()) add(names.test, Split::test);
    index->finish();
    return std::make_unique<ImageSource>(std::move(index), false);
}

}  // namespace

/// PATH/TRAIN/CLASS/IMAGE and PATH/TEST/CLASS/IMAGE. Class folders hold images and nothing else:
/// names that begin with a dot are passed over, a README and the like (image_names.hpp) with a
/// note, and any other file is an error. Links are followed.
SourceType folder_source() {
    return {.list = [](const plan::Dataset& dataset) -> SplitFolders {
                check_label_kind(dataset, plan::LabelKind::classes);
                return list_image_folder(path_of(dataset), folders_of(dataset));
            },
            .open_listed = [](const plan::Dataset& dataset, const Asked& asked,
                              const SplitFolders& folders) -> Source {
                return open_image_folder(path_of(dataset), folders_of(dataset),
                                         images_of(dataset, asked), folders);
            }};
}

}  // namespace dtnn::runtime
