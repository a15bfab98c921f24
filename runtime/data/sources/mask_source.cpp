#include "runtime/data/sources/mask_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plan/rules/ignored_labels.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

/// So many masks are looked at for their numbers.
constexpr std::int64_t kMasksLookedAt = 256;

/// Masks and images of a split share the memory.
constexpr std::int64_t kMaskQuarter = 4;

std::string pair_name(const std::string& name) {
    return name.substr(0, name.rfind('.'));
}

std::string below_split(const std::string& split_folder) {
    return split_folder == "." ? "" : split_folder + "/";
}

ImageIndex::Expected half_of(ImageIndex::Expected expected, bool masks) {
    expected.classes = 0;
    expected.cache =
        masks ? expected.cache / kMaskQuarter : expected.cache - expected.cache / kMaskQuarter;
    return expected;
}

void collect_numbers(const std::vector<std::int32_t>& numbers, std::set<std::int64_t>& all) {
    std::array<bool, 256> seen{};
    for (const std::int32_t number : numbers)
        seen[std::size_t(number)] = true;
    for (std::size_t number = 0; number < seen.size(); ++number)
        if (seen[number]) all.insert(std::int64_t(number));
}

}  // namespace

MaskValues::MaskValues(const std::vector<std::int64_t>& values, std::int64_t classes,
                       std::optional<std::int64_t> ignored)
    : values_(values), classes_(classes), ignored_(ignored) {
    class_of_.fill(kNone);
    for (std::size_t number = 0; number < class_of_.size(); ++number)
        if (values.empty() && std::int64_t(number) < classes)
            class_of_[number] = std::int32_t(number);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] >= 0 && values[i] < std::int64_t(class_of_.size()))
            class_of_[std::size_t(values[i])] = std::int32_t(i);
    if (ignored && *ignored >= 0 && *ignored < std::int64_t(class_of_.size()))
        class_of_[std::size_t(*ignored)] = plan::kIgnoredLabel;
}

void MaskValues::to_classes(std::vector<std::int32_t>& numbers, std::int64_t width,
                            const std::string& name) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::int32_t label = class_of_[std::size_t(numbers[i])];
        if (label == kNone) {
            const std::int64_t at = std::int64_t(i);
            throw bad_file(
                name,
                fmt::format("pixel {} of row {} is {}; {}", at % width, at / width, numbers[i],
                            values_.empty() ? fmt::format("classes are 0 to {}", classes_ - 1)
                                            : fmt::format("dataset.mask_values are {}",
                                                          fmt::join(values_, ", "))),
                "dataset.mask_values lists the numbers that masks have, in the order of the "
                "classes, such as [0, 255]; dataset.ignored_value is the number of pixels that do "
                "not count");
        }
        numbers[i] = label;
    }
}

MaskSource::MaskSource(const std::string& path, const MaskFolders& folders,
                       const ImageIndex::Expected& expected,
                       const std::vector<std::int64_t>& values, std::optional<std::int64_t> ignored)
    : path_(path),
      folders_(folders),
      values_(values),
      classes_(values, expected.classes, ignored),
      images_(path, half_of(expected, false)),
      masks_(path, half_of(expected, true)) {
    for (ImageIndex* index : {&images_, &masks_}) {
        index->add_folder(path);
        // Labels say which mask belongs to an image; none of them is a class.
        index->set_classes({"mask"});
    }
    add(Split::train, folders.train);
    if (!folders.test.empty()) add(Split::test, folders.test);
    images_.finish();
    masks_.finish();
    for (const Split split : {Split::train, Split::test}) {
        std::vector<std::int64_t>& places = mask_of_[split == Split::train ? 0 : 1];
        std::vector<std::int64_t> of_label(static_cast<std::size_t>(masks_.size(split)));
        for (std::int64_t i = 0; i < masks_.size(split); ++i)
            of_label[std::size_t(masks_.label(split, i))] = i;
        for (std::int64_t i = 0; i < images_.size(split); ++i)
            places.push_back(of_label[std::size_t(images_.label(split, i))]);
    }
}

void MaskSource::add(Split split, const std::string& folder) {
    const auto list = [&](const std::string& inner) {
        std::vector<std::string> passed_over;
        std::map<std::string, ClassFolders::File> files;
        const std::string below = below_split(folder) + inner;
        for (ClassFolders::File& file : list_image_files(path_ + "/" + below, passed_over)) {
            const std::string name = file.name;
            const auto [place, added] = files.emplace(pair_name(name), std::move(file));
            if (!added)
                throw bad_file(path_ + "/" + below,
                               fmt::format("{} and {} have one stem", place->second.name, name),
                               "an image and its mask have the same name but for its ending; "
                               "rename one of the files");
        }
        for (const std::string& name : passed_over)
            images_.pass_over(below + "/" + name);
        return files;
    };
    const auto images = list(folders_.images), masks = list(folders_.masks);
    const auto alone = [&](const auto& some, const auto& others, const std::string& here,
                           const std::string& there, const char* what) {
        for (const auto& [stem, file] : some)
            if (!others.contains(stem))
                throw bad_file(path_ + "/" + below_split(folder) + here + "/" + file.name,
                               fmt::format("{} of this name is not in {}", what, there),
                               "images and masks go together by their names without the endings");
    };
    alone(images, masks, folders_.images, folders_.masks, "the mask");
    alone(masks, images, folders_.masks, folders_.images, "the image");
    std::int32_t number = 0;
    const auto take = [&](ImageIndex& index, const std::string& inner,
                          const ClassFolders::File& file) {
        index.add(split, below_split(folder) + inner + "/" + file.name, number, 0, 0, file.size);
    };
    for (const auto& [stem, file] : images) {
        take(images_, folders_.images, file);
        take(masks_, folders_.masks, masks.at(stem));
        ++number;
    }
}

void MaskSource::read_mask(Split split, std::int64_t index, Sample& sample, std::int64_t& height,
                           std::int64_t& width) const {
    const std::int64_t place = mask_of_[split == Split::train ? 0 : 1][std::size_t(index)];
    const auto bytes = masks_.bytes(split, place, sample.packed);
    const ImageHeader header =
        decode_mask(bytes, masks_.name_of(split, place), masks_.limits(), sample);
    height = header.height, width = header.width;
}

void MaskSource::load(Split split, std::int64_t index, Sample& sample) const {
    std::int64_t height = 0, width = 0;
    read_mask(split, index, sample, height, width);
    const std::int64_t place = mask_of_[split == Split::train ? 0 : 1][std::size_t(index)];
    classes_.to_classes(sample.target().integers, width, masks_.name_of(split, place));
    const auto bytes = images_.bytes(split, index, sample.packed);
    const std::string name = images_.name_of(split, index);
    if (!images_.is_kept(split, index)) images_.check_header(bytes, name);
    decode_image(bytes, name, images_.limits(), sample);
    const Dims& image = sample.input().dims;
    if (image[1] == height && image[2] == width) return;
    throw bad_file(
        masks_.name_of(split, place),
        fmt::format("the mask has {} x {} pixels (height x width), and its image {} x {}", height,
                    width, image[1], image[2]),
        "make masks of the size of their images");
}

std::uint64_t MaskSource::content_hash() const {
    ContentHash hash;
    hash.add("masks").add(images_.content_hash()).add(masks_.content_hash());
    return hash.value();
}

std::int64_t MaskSource::resident_bytes() const {
    return images_.resident_bytes() + masks_.resident_bytes() +
           std::int64_t((mask_of_[0].capacity() + mask_of_[1].capacity()) * sizeof(std::int64_t));
}

std::int64_t MaskSource::found_classes() const {
    if (!values_.empty()) return std::int64_t(values_.size());
    std::set<std::int64_t> numbers;
    Sample sample;
    std::int64_t height = 0, width = 0;
    const std::int64_t all = size(Split::train) + size(Split::test);
    const std::int64_t step =
        std::max<std::int64_t>(1, (all + kMasksLookedAt - 1) / kMasksLookedAt);
    for (const Split split : {Split::train, Split::test}) {
        for (std::int64_t index = 0; index < size(split); index += step) {
            read_mask(split, index, sample, height, width);
            collect_numbers(sample.target().integers, numbers);
        }
    }
    if (classes_.ignored()) numbers.erase(*classes_.ignored());
    if (numbers.empty()) return 0;
    const std::int64_t classes = *numbers.rbegin() + 1;
    if (std::int64_t(numbers.size()) * 2 >= classes) return std::max<std::int64_t>(classes, 2);
    throw bad_file(path_ + "/" + below_split(folders_.train) + folders_.masks,
                   fmt::format("the masks have the numbers {}", fmt::join(numbers, ", ")),
                   fmt::format("give the dataset `mask_values: [{}]`, the number of every class in "
                               "their order, or `classes`",
                               fmt::join(numbers, ", ")));
}

std::vector<std::int64_t> mask_numbers(const std::string& folder) {
    std::vector<std::string> passed_over;
    const std::vector<ClassFolders::File> files = list_image_files(folder, passed_over);
    const std::size_t step = std::max<std::size_t>(
        1, (files.size() + std::size_t(kMasksLookedAt) - 1) / std::size_t(kMasksLookedAt));
    std::set<std::int64_t> numbers;
    Sample sample;
    for (std::size_t i = 0; i < files.size(); i += step) {
        const RegularFile file(folder + "/" + files[i].name);
        const std::string bytes = file.read_all(std::int64_t{1} << 28, "a mask");
        decode_mask({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                    file.path(), {}, sample);
        collect_numbers(sample.target().integers, numbers);
    }
    return {numbers.begin(), numbers.end()};
}

SourceType segmentation_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked& asked) -> Source {
        check_label_kind(dataset, plan::LabelKind::classes);
        const ImageFolders splits = folders_of(dataset);
        ImageIndex::Expected expected = images_of(dataset, asked);
        std::vector<std::int64_t> values;
        if (dataset.attributes.contains("mask_values"))
            values = attribute<std::vector<std::int64_t>>(dataset, "mask_values");
        return std::make_unique<MaskSource>(
            path_of(dataset),
            MaskFolders{splits.train, splits.test, attribute<std::string>(dataset, "image_folder"),
                        attribute<std::string>(dataset, "mask_folder")},
            expected, values, plan::ignored_value(dataset));
    }};
}

}  // namespace dtnn::runtime
