#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/utf8.hpp"
#include "plan/dataset_types.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/sources/image_names.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

struct Place {
    Split split;
    std::string class_name;
    std::string name;  ///< SPLIT/CLASS/IMAGE, or SPLIT/FILE of what is no image
};

/// The place of a member by its path; nothing: outside the splits' folders.
std::optional<Place> place_of(const std::string& path, const std::string& archive,
                              const ImageFolders& names) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (end > begin) parts.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    for (std::size_t at = 0; at < std::min<std::size_t>(2, parts.size()); ++at) {
        if (parts[at] == names.validation) return std::nullopt;
        if (parts[at] != names.train && parts[at] != names.test) continue;
        const Split split = parts[at] == names.train ? Split::train : Split::test;
        // A file beside the classes.
        if (parts.size() == at + 2 && is_beside_images(parts.back()))
            return Place{split, "", parts[at] + "/" + parts.back()};
        if (parts.size() != at + 3) {
            throw RunError(Exit::failed,
                           fmt::format("{}: the member `{}` is not {}/CLASS/IMAGE", archive,
                                       printable(path), parts[at]),
                           "an archive of images has train/CLASS/IMAGE and test/CLASS/IMAGE");
        }
        return Place{split, parts[at + 1], parts[at] + "/" + parts[at + 1] + "/" + parts[at + 2]};
    }
    return std::nullopt;
}

std::unique_ptr<SampleSource> open_image_archive(const std::string& path, const ImageFolders& names,
                                                 ImageIndex::Expected expected) {
    auto index = std::make_unique<ImageIndex>(path, std::move(expected));
    const int container = index->add_container(RegularFile(path));
    ArchiveReader archive(index->container(container));
    while (const auto member = archive.next()) {
        const auto place = place_of(member->path, path, names);
        if (!place) continue;
        if (is_beside_images(place->name.substr(place->name.rfind('/') + 1))) {
            index->pass_over(place->name);
            continue;
        }
        const std::string full_name = path + ":" + printable(member->path);
        const std::int32_t label = index->class_number(place->class_name, place->split);
        if (member->offset >= 0) {
            std::string begin(std::size_t(std::min<std::int64_t>(member->size, kImageBegin)), '\0');
            if (!is_called_image(place->name))
                index->container(container).read(member->offset, std::span<char>(begin));
            require_image(full_name, begin);
            index->add(place->split, place->name, label, container, member->offset, member->size);
        } else {
            index->add_unpacked(place->split, place->name, label, container, member->size,
                                [&](std::span<char> bytes) {
                                    archive.read(bytes);
                                    require_image(full_name, {bytes.data(), bytes.size()});
                                });
        }
    }
    index->finish();
    return std::make_unique<ImageSource>(std::move(index), false);
}

}  // namespace

/// An .npz; or a tar, tar.gz or zip with members [FOLDER/]train/CLASS/IMAGE and test/CLASS/IMAGE,
/// or other names in their place. Members outside these folders are passed over; those inside are
/// taken as files of folders are.
SourceType archive_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked& asked) -> Source {
        const std::string& path = path_of(dataset);
        if (plan::holds_arrays(dataset))
            return ArraySource::open_archive(path, arrays_of(dataset, asked));
        check_label_kind(dataset, plan::LabelKind::classes);
        ImageFolders names;
        if (const std::string part = part_of(dataset); !part.empty()) names = {part, "", ""};
        if (dataset.attributes.contains(kValidationName))
            names.validation = attribute<std::string>(dataset, kValidationName);
        return open_image_archive(path, names, images_of(dataset, asked));
    }};
}

}  // namespace dtnn::runtime
