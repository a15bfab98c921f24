#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFindings = {"Atelectasis",        "Cardiomegaly", "Consolidation", "Edema",
                                  "Effusion",           "Emphysema",    "Fibrosis",      "Hernia",
                                  "Infiltration",       "Mass",         "No Finding",    "Nodule",
                                  "Pleural_Thickening", "Pneumonia",    "Pneumothorax"};

struct Listed {
    std::int32_t findings = 0;  ///< a bit for each
    bool listed = false;
    Split split = Split::train;
    bool found = false;
};
using Images = std::unordered_map<std::string, Listed>;

/// "Cardiomegaly|Effusion"
std::int32_t findings_of(std::string_view text, const std::string& place) {
    std::int32_t bits = 0;
    while (true) {
        const std::string_view one = text.substr(0, text.find('|'));
        const auto found = std::find(kFindings.begin(), kFindings.end(), one);
        if (found == kFindings.end()) {
            throw bad_file(place, fmt::format("`{}` is none of the 15 findings", printable(one)),
                           "correct the line, or download the table again");
        }
        bits |= 1 << (found - kFindings.begin());
        if (one.size() == text.size()) return bits;
        text.remove_prefix(one.size() + 1);
    }
}

Images read_table(const std::string& path) {
    Images images;
    TextLines lines(path);
    std::string_view line;
    std::vector<std::string_view> columns;
    std::vector<std::string> room;
    std::size_t name = 0, findings = 0;
    while (lines.next(line)) {
        const std::string place = fmt::format("{}:{}", path, lines.number());
        if (line.empty()) continue;
        if (!split_columns(line, ',', columns, room))
            throw bad_file(place, "a quote does not end, or text follows it", "correct the line");
        if (lines.number() == 1) {
            const auto column = [&](const char* title) {
                const auto found = std::find(columns.begin(), columns.end(), title);
                if (found != columns.end()) return std::size_t(found - columns.begin());
                throw bad_file(path, fmt::format("it has no column `{}`", title),
                               "name the folder of NIH's Data_Entry_2017_v2020.csv");
            };
            name = column("Image Index");
            findings = column("Finding Labels");
            continue;
        }
        if (columns.size() <= std::max(name, findings))
            throw bad_file(place, "columns are missing", "correct the line");
        Listed image;
        image.findings = findings_of(columns[findings], place);
        if (!images.emplace(columns[name], image).second) {
            throw bad_file(place, fmt::format("the image {} comes twice", printable(columns[name])),
                           "take one of the lines out");
        }
    }
    return images;
}

void read_list(const std::string& path, Split split, Images& images) {
    TextLines lines(path);
    std::string_view line;
    while (lines.next(line)) {
        if (line.empty()) continue;
        const std::string place = fmt::format("{}:{}", path, lines.number());
        const auto found = images.find(std::string(line));
        if (found == images.end()) {
            throw bad_file(
                place, fmt::format("the image {} is not in the table of findings", printable(line)),
                "download the lists and the table again");
        }
        if (found->second.listed) {
            throw bad_file(place, fmt::format("the image {} is listed twice", printable(line)),
                           "an image is a training or a test sample; take one of the lines out");
        }
        found->second.listed = true;
        found->second.split = split;
    }
}

std::vector<std::string> entries_of(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error))
        names.push_back(at->path().filename().string());
    if (error) throw system_error("read the folder", folder, error.value());
    std::sort(names.begin(), names.end());
    return names;
}

/// The image, if it is listed; each once.
Listed* wanted(Images& images, const std::string& name, const std::string& place) {
    const auto found = images.find(name);
    if (found == images.end() || !found->second.listed) return nullptr;
    if (found->second.found)
        throw bad_file(place, "the image is there twice", "take one of them out of the dataset");
    found->second.found = true;
    return &found->second;
}

void add_folder(ImageIndex& index, const std::string& folder, Images& images) {
    const int number = index.add_folder(folder);
    for (const std::string& name : entries_of(folder)) {
        const std::string path = folder + "/" + name;
        const Listed* image = wanted(images, name, path);
        if (image == nullptr) continue;
        std::error_code error;
        const auto size = fs::file_size(path, error);
        if (error) throw system_error("read", path, error.value());
        index.add(image->split, name, image->findings, number, 0, std::int64_t(size));
    }
}

void add_tar(ImageIndex& index, const std::string& path, Images& images) {
    const int number = index.add_container(RegularFile(path));
    ArchiveReader archive(index.container(number));
    while (const auto member = archive.next()) {
        const std::string name = member->path.substr(member->path.find_last_of('/') + 1);
        const Listed* image = wanted(images, name, path + ":" + printable(member->path));
        if (image == nullptr) continue;
        if (member->offset >= 0) {
            index.add(image->split, name, image->findings, number, member->offset, member->size);
        } else {
            index.add_unpacked(image->split, name, image->findings, number, member->size,
                               [&](std::span<char> bytes) { archive.read(bytes); });
        }
    }
}

std::unique_ptr<SampleSource> open_chestxray(const std::string& path,
                                             ImageIndex::Expected expected) {
    std::error_code ignored;
    std::string table = path + "/Data_Entry_2017_v2020.csv";
    if (!fs::exists(table, ignored) && fs::exists(path + "/Data_Entry_2017.csv", ignored))
        table = path + "/Data_Entry_2017.csv";
    Images images = read_table(table);
    read_list(path + "/train_val_list.txt", Split::train, images);
    read_list(path + "/test_list.txt", Split::test, images);

    auto index = std::make_unique<ImageIndex>(path, std::move(expected));
    index->set_classes({kFindings.begin(), kFindings.end()});
    for (const std::string& name : entries_of(path)) {
        if (!name.starts_with("images")) continue;
        const std::string entry = path + "/" + name;
        if (fs::is_directory(entry + "/images", ignored)) {
            add_folder(*index, entry + "/images", images);
        } else if (fs::is_directory(entry, ignored)) {
            add_folder(*index, entry, images);
        } else if (name.ends_with(".tar") || name.ends_with(".tar.gz")) {
            add_tar(*index, entry, images);
        }
    }
    for (const auto& [name, image] : images) {
        if (!image.listed || image.found) continue;
        throw bad_file(
            path, fmt::format("the image {} is listed and not there", printable(name)),
            "put NIH's images_001.tar.gz to images_012.tar.gz, or what they unpack to, into "
            "the folder");
    }
    index->finish();
    return std::make_unique<ImageSource>(std::move(index), true);
}

}  // namespace

/// Data_Entry_2017_v2020.csv (or Data_Entry_2017.csv), train_val_list.txt and test_list.txt, and
/// the images in folders images*/ or images*/images/, or in images*.tar or images*.tar.gz. A bit of
/// the label for each finding, in the order of their names. (X. Wang et al., "ChestX-ray8")
SourceType chestxray_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked& asked) -> Source {
                check_label_kind(dataset, plan::LabelKind::multiple);
                return open_chestxray(path_of(dataset), images_of(dataset, asked));
            },
            .marks = {"Data_Entry_2017_v2020.csv", "Data_Entry_2017.csv"}};
}

}  // namespace dtnn::runtime
