#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/mat_file.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostDevkitFile = std::int64_t{16} << 20;

/// PATH/ILSVRC2012_NAME or PATH/NAME; empty: neither is there.
std::string find_file(const std::string& path, const std::string& name) {
    std::error_code ignored;
    for (const char* prefix : {"/ILSVRC2012_", "/"})
        if (fs::exists(path + prefix + name, ignored)) return path + prefix + name;
    return "";
}

/// The synsets that the devkit knows of the validation images, in their order.
std::vector<std::string> validation_synsets(const std::string& path) {
    const RegularFile file(path);
    ArchiveReader archive(file);
    std::map<std::int64_t, std::string> synsets;
    std::string truth, truth_name;
    while (const auto member = archive.next()) {
        const std::string name = base_name(member->path);
        const bool meta = name == "meta.mat";
        if (!meta && name != "ILSVRC2012_validation_ground_truth.txt") continue;
        const std::string place = path + ":" + member->path;
        if (member->size > kMostDevkitFile)
            throw bad_file(place, fmt::format("it has {} bytes", member->size),
                           "download ImageNet's devkit again");
        if (meta)
            synsets = read_synsets(archive.read(), place);
        else
            truth = archive.read(), truth_name = place;
    }
    if (synsets.empty() || truth.empty()) {
        throw bad_file(path, "meta.mat or ILSVRC2012_validation_ground_truth.txt is not in it",
                       "name the devkit of tasks 1 and 2 (ILSVRC2012_devkit_t12.tar.gz)");
    }
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin < truth.size();) {
        const std::size_t end = std::min(truth.find('\n', begin), truth.size());
        std::string line = truth.substr(begin, end - begin);
        if (line.ends_with('\r')) line.pop_back();
        begin = end + 1;
        if (line.empty()) continue;
        std::int64_t id = 0;
        const auto [last, error] = std::from_chars(line.data(), line.data() + line.size(), id);
        const auto found = synsets.find(id);
        if (error != std::errc() || last != line.data() + line.size() || found == synsets.end()) {
            throw bad_file(truth_name,
                           fmt::format("line {} is `{}`, which is no synset's number",
                                       result.size() + 1, printable(line)),
                           "download ImageNet's devkit again");
        }
        result.push_back(found->second);
    }
    return result;
}

/// A tar that holds a tar of images for each synset.
void add_training_tar(ImageIndex& index, const std::string& path) {
    const int container = index.add_container(RegularFile(path));
    const RegularFile& file = index.container(container);
    ArchiveReader outer(file);
    while (const auto synset_tar = outer.next()) {
        const std::string name = base_name(synset_tar->path);
        if (!name.ends_with(".tar") || synset_tar->offset < 0) {
            throw bad_file(path + ":" + printable(synset_tar->path),
                           "it is not the uncompressed tar of a synset",
                           "ILSVRC2012_img_train.tar holds n01440764.tar and 999 others; if it was "
                           "compressed, unpack it: images are read where they lie");
        }
        const std::string synset = name.substr(0, name.size() - 4);
        const std::int32_t label = index.class_number(synset, Split::train);
        ArchiveReader inner(file, *synset_tar);
        while (const auto image = inner.next()) {
            index.add(Split::train, "train/" + synset + "/" + base_name(image->path), label,
                      container, image->offset, image->size);
        }
    }
}

/// Images ILSVRC2012_val_00000001.JPEG and so on, in any order.
void add_validation_tar(ImageIndex& index, const std::string& path,
                        const std::vector<std::string>& synsets) {
    const int container = index.add_container(RegularFile(path));
    ArchiveReader archive(index.container(container));
    while (const auto image = archive.next()) {
        const std::string name = base_name(image->path);
        const std::size_t digits = name.find_last_of('_') + 1;
        std::int64_t number = 0;
        const auto [end, error] =
            std::from_chars(name.data() + digits, name.data() + name.size(), number);
        if (error != std::errc() || *end != '.' || number < 1 ||
            number > std::int64_t(synsets.size()) || image->offset < 0) {
            throw bad_file(
                path + ":" + printable(image->path),
                fmt::format("it is not one of {} validation images in an uncompressed tar",
                            synsets.size()),
                "the images are ILSVRC2012_val_00000001.JPEG and so on, as the devkit counts "
                "them");
        }
        const std::string& synset = synsets[std::size_t(number - 1)];
        index.add(Split::test, "val/" + synset + "/" + name,
                  index.class_number(synset, Split::test), container, image->offset, image->size);
    }
}

SplitFolders list_imagenet(const std::string& path) {
    std::error_code ignored;
    const bool folders = find_file(path, "img_train.tar").empty() &&
                         fs::is_directory(path + "/train", ignored) &&
                         fs::is_directory(path + "/val", ignored);
    if (!folders) return {};
    return {{"train", list_class_folders(path, "train")}, {"val", list_class_folders(path, "val")}};
}

std::unique_ptr<SampleSource> open_imagenet(const std::string& path, ImageIndex::Expected expected,
                                            const SplitFolders& folders) {
    auto index = std::make_unique<ImageIndex>(path, std::move(expected));
    const std::string train = find_file(path, "img_train.tar");
    const std::string validation = find_file(path, "img_val.tar");
    const std::string devkit = find_file(path, "devkit_t12.tar.gz");
    if (!train.empty() && !validation.empty() && !devkit.empty()) {
        add_training_tar(*index, train);
        add_validation_tar(*index, validation, validation_synsets(devkit));
    } else if (!folders.empty()) {
        const int folder = index->add_folder(path);
        add_class_folders(*index, folder, "train", Split::train, folders.at("train"));
        add_class_folders(*index, folder, "val", Split::test, folders.at("val"));
    } else {
        throw bad_file(
            path, "ImageNet is not there in any of its forms",
            "there must be train/SYNSET/IMAGE and val/SYNSET/IMAGE, or the three files "
            "ILSVRC2012_img_train.tar, ILSVRC2012_img_val.tar and "
            "ILSVRC2012_devkit_t12.tar.gz, or train/*.npz and val/*.npz; the path is relative "
            "to the current folder");
    }
    index->finish();
    return std::make_unique<ImageSource>(std::move(index), false);
}

}  // namespace

/// Found by what the folder holds: train/SYNSET/IMAGE and val/SYNSET/IMAGE;
/// ILSVRC2012_img_train.tar (a tar of a tar for each synset), ILSVRC2012_img_val.tar and
/// ILSVRC2012_devkit_t12.tar.gz, with or without the prefix `ILSVRC2012_`; or shards of arrays.
/// Classes are in the order of their synsets' names (n01440764 is 0). (O. Russakovsky et al.,
/// "ImageNet Large Scale Visual Recognition Challenge")
SourceType imagenet_source() {
    return {.list = [](const plan::Dataset& dataset) -> SplitFolders {
                check_label_kind(dataset, plan::LabelKind::classes);
                const std::string& path = path_of(dataset);
                return ArraySource::has_shards(path) ? SplitFolders() : list_imagenet(path);
            },
            .open_listed = [](const plan::Dataset& dataset, const Asked& asked,
                              const SplitFolders& folders) -> Source {
                const std::string& path = path_of(dataset);
                if (ArraySource::has_shards(path))
                    return ArraySource::open_shards(path, arrays_of(dataset, asked));
                return open_imagenet(path, images_of(dataset, asked), folders);
            },
            .marks = {"ILSVRC2012_img_train.tar"},
            .recognise = [](const std::string& path) -> RecognisedData {
                return {.type = "imagenet", .fields = {{"path", path}}, .images = true};
            }};
}

}  // namespace dtnn::runtime
