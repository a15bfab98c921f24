#include "runtime/data/sources/class_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/text_bytes.hpp"
#include "runtime/data/sources/image_names.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

/// As texts: "S" and a split's folder, then "P" and what was passed over, "C" and a class, each
/// with "F" and a file, whose size follows.
constexpr char kSplit = 'S', kPassed = 'P', kClass = 'C', kFile = 'F';

/// So many files another rank's list is held against.
constexpr std::size_t kChecked = 64;

}  // namespace

std::vector<std::string> visible_names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (name.starts_with('.') || name == "__MACOSX") continue;
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

namespace {

void add_files(const std::string& path, std::vector<std::string>& files) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        files.push_back(path);
        return;
    }
    for (const std::string& name : visible_names_in(path))
        add_files(path + "/" + name, files);
}

}  // namespace

std::vector<std::string> files_below(const std::string& path) {
    std::vector<std::string> files;
    add_files(path, files);
    if (files.empty())
        throw bad_file(path, "there are no files in the folder", "name a folder of texts");
    return files;
}

std::vector<ClassFolders::File> list_image_files(const std::string& folder,
                                                 std::vector<std::string>& passed_over) {
    std::vector<std::string> files = visible_names_in(folder);
    std::erase_if(files, [&](const std::string& file) {
        if (is_beside_images(file)) passed_over.push_back(file);
        return is_beside_images(file);
    });
    const auto refuse = [](const std::string& what, const std::string& fact) {
        return RunError(Exit::failed, what + " " + fact,
                        "there must be images in this folder, and nothing else");
    };
    if (files.empty()) throw refuse(folder, "is empty");
    std::vector<ClassFolders::File> list;
    list.reserve(files.size());
    for (std::string& file : files) {
        const std::string whole = folder + "/" + file;
        std::error_code error;
        const fs::file_status status = fs::status(whole, error);
        if (!fs::is_regular_file(status))
            throw refuse(whole, fs::exists(status) ? "is not a file" : "is a link to nothing");
        require_image_file(whole);
        const auto size = fs::file_size(whole, error);
        if (error) throw system_error("read", whole, error.value());
        list.push_back({std::move(file), std::int64_t(size)});
    }
    return list;
}

ClassFolders list_class_folders(const std::string& path, const std::string& split_folder) {
    ClassFolders found;
    const std::string root = split_folder == "." ? path : path + "/" + split_folder;
    const std::string prefix = split_folder == "." ? "" : split_folder + "/";
    std::vector<std::string> classes = visible_names_in(root);
    std::erase_if(classes, [&](const std::string& name) {
        std::error_code ignored;
        const bool beside = is_beside_images(name) && !fs::is_directory(root + "/" + name, ignored);
        if (beside) found.passed_over.push_back(prefix + name);
        return beside;
    });
    const auto refuse = [](const std::string& what, const std::string& fact) {
        return RunError(Exit::failed, what + " " + fact,
                        "a dataset of images has train/CLASS/IMAGE and test/CLASS/IMAGE, or, with "
                        "`test_share`, CLASS/IMAGE; dataset.train_folder and dataset.test_folder "
                        "say where");
    };
    if (classes.empty()) throw refuse(root, "is empty");
    for (const std::string& name : classes) {
        const std::string class_folder = root + "/" + name;
        std::error_code error;
        if (!fs::is_directory(class_folder, error))
            throw refuse(class_folder, "is not a folder; there must be one for each class");
        std::vector<std::string> beside;
        found.classes[name] = list_image_files(class_folder, beside);
        for (const std::string& file : beside)
            found.passed_over.push_back(prefix + name + "/" + file);
    }
    return found;
}

void check_some_files(const std::string& path, const SplitFolders& folders) {
    std::size_t files = 0;
    for (const auto& [split, content] : folders)
        for (const auto& [name, list] : content.classes)
            files += list.size();
    const std::size_t every = std::max<std::size_t>(1, files / kChecked);
    std::size_t at = 0;
    for (const auto& [split, content] : folders) {
        for (const auto& [name, list] : content.classes) {
            for (const ClassFolders::File& file : list) {
                if (at++ % every != 0) continue;
                const std::string whole = path + "/" + split + "/" + name + "/" + file.name;
                std::error_code error;
                const auto size = fs::file_size(whole, error);
                if (!error && std::int64_t(size) == file.size) continue;
                throw RunError(
                    Exit::mismatch,
                    fmt::format("{} {}, and rank 0 has it with {} bytes", whole,
                                error ? "is not there" : fmt::format("has {} bytes", size),
                                file.size),
                    "all ranks read the dataset at the same path: give them the same "
                    "file system, or the same files");
            }
        }
    }
}

std::vector<std::byte> bytes_of(const SplitFolders& folders) {
    std::vector<std::byte> bytes;
    for (const auto& [split, content] : folders) {
        append_text(bytes, kSplit + split);
        for (const std::string& name : content.passed_over)
            append_text(bytes, kPassed + name);
        for (const auto& [name, files] : content.classes) {
            append_text(bytes, kClass + name);
            for (const ClassFolders::File& file : files) {
                append_text(bytes, kFile + file.name);
                append_text(bytes, std::to_string(file.size));
            }
        }
    }
    return bytes;
}

SplitFolders split_folders_of(std::span<const std::byte> bytes) {
    const auto refuse = [] {
        return RunError(Exit::mismatch, "what rank 0 has sent is no list of files",
                        "start all ranks with the same version of dtnn-run");
    };
    SplitFolders folders;
    ClassFolders* split = nullptr;
    std::vector<ClassFolders::File>* files = nullptr;
    const std::vector<std::string> texts = texts_of(bytes);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string& text = texts[i];
        if (text.empty() || (text[0] != kSplit && split == nullptr)) throw refuse();
        const std::string rest = text.substr(1);
        if (text[0] == kSplit) {
            split = &folders[rest];
            files = nullptr;
        } else if (text[0] == kPassed) {
            split->passed_over.push_back(rest);
        } else if (text[0] == kClass) {
            files = &split->classes[rest];
        } else if (text[0] == kFile && files != nullptr && i + 1 < texts.size()) {
            const std::string& number = texts[++i];
            std::int64_t size = 0;
            const char* const end = number.data() + number.size();
            const auto [stop, error] = std::from_chars(number.data(), end, size);
            if (error != std::errc() || stop != end || size < 0) throw refuse();
            files->push_back({rest, size});
        } else {
            throw refuse();
        }
    }
    return folders;
}

}  // namespace dtnn::runtime
