#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/data/formats/image_readers.hpp"
#include "runtime/data/sources/image_names.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

/// The names in a folder but for hidden ones, in order: what the system gives first must not
/// matter.
std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (name.starts_with('.')) continue;
        if (!is_utf8(name)) {
            throw RunError(
                Exit::failed,
                fmt::format("{}: the name `{}` in it is not UTF-8", folder, printable(name)),
                "rename the file");
        }
        names.push_back(std::move(name));
    }
    if (error) throw system_error("read the folder", folder, error.value());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

void add_class_folders(ImageIndex& index, int folder, const std::string& path,
                       const std::string& split_folder, Split split) {
    const std::string root = path + "/" + split_folder;
    std::vector<std::string> classes = names_in(root);
    std::erase_if(classes, [&](const std::string& name) {
        std::error_code ignored;
        const bool beside = is_beside_images(name) && !fs::is_directory(root + "/" + name, ignored);
        if (beside) index.pass_over(split_folder + "/" + name);
        return beside;
    });
    const auto refuse = [](const std::string& what, const std::string& fact) {
        return RunError(Exit::failed, what + " " + fact,
                        "a dataset of images has train/CLASS/IMAGE and test/CLASS/IMAGE");
    };
    if (classes.empty()) throw refuse(root, "is empty");
    for (const std::string& name : classes) {
        const std::string class_folder = root + "/" + name;
        std::error_code error;
        if (!fs::is_directory(class_folder, error))
            throw refuse(class_folder, "is not a folder; there must be one for each class");
        std::vector<std::string> files = names_in(class_folder);
        std::erase_if(files, [&](const std::string& file) {
            if (is_beside_images(file)) index.pass_over(split_folder + "/" + name + "/" + file);
            return is_beside_images(file);
        });
        if (files.empty()) throw refuse(class_folder, "is empty; every class must have images");
        const std::int32_t label = index.class_number(name, split);
        for (const std::string& file : files) {
            const std::string relative = split_folder + "/" + name + "/" + file;
            const fs::file_status status = fs::status(path + "/" + relative, error);
            if (!fs::is_regular_file(status)) {
                throw refuse(path + "/" + relative,
                             fs::exists(status) ? "is not a file" : "is a link to nothing");
            }
            require_image_file(path + "/" + relative);
            const auto size = fs::file_size(path + "/" + relative, error);
            if (error) throw system_error("read", path + "/" + relative, error.value());
            index.add(split, relative, label, folder, 0, std::int64_t(size));
        }
    }
}

std::unique_ptr<SampleSource> open_image_folder(const std::string& path,
                                                ImageIndex::Expected expected) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        throw RunError(Exit::failed, fmt::format("the dataset's folder {} is not there", path),
                       "compile the job with --set dataset.path=DIR; it is relative to the current "
                       "folder");
    }
    auto index = std::make_unique<ImageIndex>(path, std::move(expected));
    const int folder = index->add_folder(path);
    add_class_folders(*index, folder, path, "train", Split::train);
    add_class_folders(*index, folder, path, "test", Split::test);
    index->finish();
    return std::make_unique<ImageSource>(std::move(index), false);
}

}  // namespace dtnn::runtime
