#pragma once
/// The content of the folders of a dataset of images: FOLDER/SPLIT/CLASS/IMAGE. Looking is apart
/// from reading, so that of many ranks on one file system one looks, and tells the others.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dtnn::runtime {

struct ClassFolders {
    struct File {
        std::string name;
        std::int64_t size = 0;
        bool operator==(const File&) const = default;
    };
    std::map<std::string, std::vector<File>> classes;  ///< by name; files in the order of theirs
    std::vector<std::string> passed_over;              ///< relative to the dataset's folder
    bool operator==(const ClassFolders&) const = default;
};

/// Those of several splits, by the names of their folders.
using SplitFolders = std::map<std::string, ClassFolders>;

/// The names in a folder but for hidden ones (__MACOSX, which a Mac puts beside what it unpacks, is
/// one of them), in order: what the system gives first must not matter.
std::vector<std::string> visible_names_in(const std::string& folder);

/// The path, or the files in that folder and below it, in the order of their names, hidden ones
/// left out. RunError where there are none.
std::vector<std::string> files_below(const std::string& path);

/// The images in a folder, in the order of their names; what is expected beside images is told by
/// its name. RunError for anything else, and for none.
std::vector<ClassFolders::File> list_image_files(const std::string& folder,
                                                 std::vector<std::string>& passed_over);

/// Looks into PATH/SPLIT_FOLDER, or, where that is ".", into PATH. What should not be there is a
/// RunError (source_type.hpp).
ClassFolders list_class_folders(const std::string& path, const std::string& split_folder);

/// That some of the files, spread over all, are there with their sizes: another rank has listed
/// them, and may have another folder of this name. RunError.
void check_some_files(const std::string& path, const SplitFolders& folders);

/// As bytes, for the way between ranks. RunError for bytes that are none.
std::vector<std::byte> bytes_of(const SplitFolders& folders);
SplitFolders split_folders_of(std::span<const std::byte> bytes);

}  // namespace dtnn::runtime
