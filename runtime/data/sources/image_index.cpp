#include "runtime/data/sources/image_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/quantity_text.hpp"
#include "base/utf8.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/image_names.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

/// So many headers say what shape images have; and so many bytes hold most headers.
constexpr std::int64_t kLookedAt = 4096;
constexpr std::int64_t kHeaderBytes = 64 * 1024;

std::int64_t most_file(const ImageIndex::Expected& expected) {
    const Dims& shape = expected.shape;
    const std::int64_t pixels = shape[1] > 0 ? shape[1] * shape[2] : expected.most_pixels;
    return std::min<std::int64_t>(plan::most_image_file(pixels),
                                  std::numeric_limits<std::int32_t>::max());
}

/// Offsets of kept images: the chunk above, the place in it below.
constexpr int kPlaceBits = 32;

}  // namespace

ImageIndex::ImageIndex(std::string path, Expected expected)
    : path_(std::move(path)), expected_(std::move(expected)), most_file_(most_file(expected_)) {
    images_[0].reserve(std::size_t(std::min(expected_.train_samples, expected_.cache / 32)));
    images_[1].reserve(std::size_t(std::min(expected_.test_samples, expected_.cache / 32)));
}

int ImageIndex::add_folder(std::string folder) {
    containers_.push_back({std::move(folder), std::nullopt});
    return int(containers_.size()) - 1;
}

int ImageIndex::add_container(RegularFile file) {
    const std::string path = file.path();
    containers_.push_back({path, std::move(file)});
    return int(containers_.size()) - 1;
}

std::int32_t ImageIndex::class_number(const std::string& name, Split split) {
    const auto [place, added] = numbers_.emplace(name, std::int32_t(numbers_.size()));
    if (added) trained_.push_back(false);
    if (split == Split::train) trained_[std::size_t(place->second)] = true;
    return place->second;
}

void ImageIndex::set_classes(std::vector<std::string> names) {
    class_names_ = std::move(names);
}

ImageIndex::Image& ImageIndex::append(Split split, const std::string& name, std::int32_t label,
                                      int container, std::int64_t size) {
    const Image image{std::int64_t(names_.size()), 0, std::int32_t(size), container, label, false};
    names_ += name;
    names_ += '\0';
    if (size > most_file_) {
        const auto [found, most] = unlike_bytes_text(double(size), double(most_file_));
        throw RunError(Exit::failed,
                       fmt::format("{} has {}; the plan has memory for image files of {}",
                                   full_name(image), found, most),
                       "take the file out of the dataset, or compile the job with a larger "
                       "dataset.most_pixels");
    }
    image_bytes_ += size;
    of(split).push_back(image);
    return of(split).back();
}

void ImageIndex::add(Split split, const std::string& name, std::int32_t label, int container,
                     std::int64_t offset, std::int64_t size) {
    append(split, name, label, container, size).offset = offset;
}

void ImageIndex::add_unpacked(Split split, const std::string& name, std::int32_t label,
                              int container, std::int64_t size,
                              const std::function<void(std::span<char>)>& read_bytes) {
    Image& image = append(split, name, label, container, size);
    // Past the cache only sizes are added up, for the message.
    if (resident_bytes() + size > expected_.cache) {
        overflow_ = true;
        return;
    }
    read_bytes(keep(image));
}

void ImageIndex::pass_over(const std::string& name) {
    passed_over_.push_back(printable(name));
}

std::vector<std::string> ImageIndex::notes() const {
    if (passed_over_.empty()) return {};
    return {passed_over_note(path_, passed_over_)};
}

std::span<char> ImageIndex::keep(Image& image) {
    const auto size = std::size_t(image.size);
    if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < size) {
        chunks_.emplace_back().reserve(std::max(kChunk, size));
        chunk_bytes_ += std::int64_t(chunks_.back().capacity());
    }
    std::vector<std::uint8_t>& chunk = chunks_.back();
    const std::size_t place = chunk.size();
    chunk.resize(place + size);
    image.offset = std::int64_t(chunks_.size() - 1) << kPlaceBits | std::int64_t(place);
    image.kept = true;
    return {reinterpret_cast<char*>(chunk.data()) + place, size};
}

std::span<const std::uint8_t> ImageIndex::kept(const Image& image) const {
    const std::vector<std::uint8_t>& chunk = chunks_[std::size_t(image.offset >> kPlaceBits)];
    const std::int64_t place = image.offset & ((std::int64_t{1} << kPlaceBits) - 1);
    return {chunk.data() + place, std::size_t(image.size)};
}

std::string ImageIndex::full_name(const Image& image) const {
    const Container& container = containers_[std::size_t(image.container)];
    return container.path + (container.file ? ":" : "/") + printable(name(image));
}

std::string ImageIndex::name_of(Split split, std::int64_t index) const {
    return full_name(at(split, index));
}

void ImageIndex::read(const Image& image, std::span<char> bytes) const {
    const Container& container = containers_[std::size_t(image.container)];
    if (container.file) {
        container.file->read(image.offset, bytes);
        return;
    }
    const RegularFile file(container.path + "/" + std::string(name(image)));
    if (file.size() != image.size) {
        throw RunError(Exit::failed,
                       fmt::format("{} has {} bytes now, and had {} when the dataset was opened",
                                   file.path(), file.size(), image.size),
                       "leave the dataset alone in a run, and run again");
    }
    file.read(0, bytes);
}

std::span<const std::uint8_t> ImageIndex::bytes(Split split, std::int64_t index,
                                                std::vector<std::uint8_t>& room,
                                                std::int64_t most) const {
    const Image& image = at(split, index);
    if (image.kept) return kept(image);
    room.resize(std::size_t(std::min<std::int64_t>(image.size, most)));
    read(image, {reinterpret_cast<char*>(room.data()), room.size()});
    return room;
}

ImageIndex::Extents ImageIndex::look() const {
    ImageLimits limits;
    limits.most_pixels = std::numeric_limits<std::int64_t>::max();
    std::vector<std::uint8_t> room;
    const auto header = [&](Split split, std::int64_t index) {
        try {
            return read_image_header(bytes(split, index, room, kHeaderBytes), name_of(split, index),
                                     limits);
        } catch (const RunError&) {
            // A long profile may stand before the header.
            return read_image_header(bytes(split, index, room), name_of(split, index), limits);
        }
    };
    Extents result;
    Dims& shape = result.shape;
    const std::int64_t all = size(Split::train) + size(Split::test);
    const std::int64_t step = std::max<std::int64_t>(1, (all + kLookedAt - 1) / kLookedAt);
    for (const Split split : {Split::train, Split::test}) {
        for (std::int64_t index = 0; index < size(split); index += step) {
            const ImageHeader found = header(split, index);
            add_image_shape(shape, {found.channels, found.height, found.width});
            result.pixels = std::max(result.pixels, found.height * found.width);
        }
    }
    return result;
}

bool ImageIndex::fixed() const {
    return expected_.shape[1] > 0 && expected_.shape[2] > 0;
}

ImageLimits ImageIndex::limits() const {
    const Dims& shape = expected_.shape;
    return {shape[0], fixed() ? shape[1] * shape[2] : expected_.most_pixels, !fixed()};
}

void ImageIndex::check_header(std::span<const std::uint8_t> bytes, const std::string& name) const {
    const Dims& shape = expected_.shape;
    ImageLimits limits = this->limits();
    // Every size but the one, where there is one, is refused as such.
    if (fixed()) limits.most_pixels = std::numeric_limits<std::int64_t>::max();
    const auto [height, width, channels] = read_image_header(bytes, name, limits);
    if ((shape[1] == 0 || shape[1] == height) && (shape[2] == 0 || shape[2] == width)) return;
    throw RunError(
        Exit::failed,
        fmt::format("{}: the image has {} x {} pixels (height x width); dataset.shape says {} x {}",
                    name, height, width, shape[1], shape[2]),
        fmt::format("for images of several sizes write `shape: [{}, 0, 0]`, and a transform that "
                    "makes them one size, such as `transforms: [{{resize: {{size: [{}, {}]}}}}]`",
                    shape[0], shape[1], shape[2]));
}

void ImageIndex::finish() {
    number_classes();
    order();
    check_counts();
    keep_all();
    if (expected_.counts != Counts::any) check_headers();
}

void ImageIndex::number_classes() {
    if (!class_names_.empty()) return;
    for (const auto& [name, number] : numbers_) {
        if (trained_[std::size_t(number)]) continue;
        throw RunError(Exit::failed,
                       fmt::format("{}: the test split has the class `{}`, which the train split "
                                   "does not have",
                                   path_, printable(name)),
                       "a class that is never trained cannot be told; take it out of test/, or add "
                       "it to train/");
    }
    // numbers_ is in the order of names.
    std::vector<std::int32_t> by_name(numbers_.size());
    for (const auto& [name, number] : numbers_) {
        by_name[std::size_t(number)] = std::int32_t(class_names_.size());
        class_names_.push_back(name);
    }
    for (std::vector<Image>& images : images_)
        for (Image& image : images)
            image.label = by_name[std::size_t(image.label)];
}

void ImageIndex::order() {
    for (std::vector<Image>& images : images_) {
        std::sort(images.begin(), images.end(), [&](const Image& a, const Image& b) {
            return name(a) != name(b) ? name(a) < name(b) : a.container < b.container;
        });
        const auto twice =
            std::adjacent_find(images.begin(), images.end(),
                               [&](const Image& a, const Image& b) { return name(a) == name(b); });
        if (twice == images.end()) continue;
        throw RunError(
            Exit::failed,
            fmt::format("{} is there twice, or also as {}", full_name(*twice), full_name(twice[1])),
            "take one of them out of the dataset");
    }
}

void ImageIndex::check_counts() const {
    const std::int64_t classes = std::int64_t(class_names_.size());
    const std::int64_t train = size(Split::train), test = size(Split::test);
    const bool at_most = expected_.counts == Counts::at_most;
    const auto right = [&](std::int64_t found, std::int64_t wanted) {
        return found == wanted || (at_most && found > 0 && found < wanted);
    };
    if (expected_.counts == Counts::any) return;
    if ((expected_.classes == 0 || classes == expected_.classes) &&
        right(train, expected_.train_samples) && right(test, expected_.test_samples))
        return;
    if (expected_.classes == 0) {
        throw RunError(Exit::mismatch,
                       fmt::format("{} has {} training and {} test images; the plan expects {}{} "
                                   "and {}",
                                   path_, train, test, at_most ? "at most " : "",
                                   expected_.train_samples, expected_.test_samples),
                       fmt::format("if the files are right, compile the job with train_samples: {} "
                                   "and test_samples: {} in its dataset",
                                   train, test));
    }
    throw RunError(
        Exit::mismatch,
        fmt::format(
            "{} has {} training and {} test images of {} classes; the plan expects {}{}, {} "
            "and {}",
            path_, train, test, classes, at_most ? "at most " : "", expected_.train_samples,
            expected_.test_samples, expected_.classes),
        fmt::format("if the files are right, compile the job with train_samples: {}, test_samples: "
                    "{} and classes: {} in its dataset",
                    train, test, classes));
}

bool ImageIndex::all_kept() const {
    return std::all_of(std::begin(images_), std::end(images_), [](const auto& images) {
        return std::all_of(images.begin(), images.end(),
                           [](const Image& image) { return image.kept; });
    });
}

void ImageIndex::keep_all() {
    names_.shrink_to_fit();
    if (overflow_ || resident_bytes() > expected_.cache) {
        const std::int64_t index = resident_bytes() - chunk_bytes_;
        // Chunks are not filled to the last byte.
        const std::int64_t need =
            overflow_ ? index + image_bytes_ + image_bytes_ / 8 + std::int64_t(kChunk) : index;
        throw RunError(
            Exit::failed,
            fmt::format("{}: {} images of {} in all, with their names, do not fit dataset.cache, "
                        "{}",
                        path_, images_[0].size() + images_[1].size(),
                        bytes_text(double(image_bytes_), BytesForm::fine),
                        bytes_text(double(expected_.cache), BytesForm::fine)),
            fmt::format(
                "compile the job with --set dataset.cache={}, or unpack the archive: images "
                "in folders and in an uncompressed .tar are read where they lie",
                need));
    }
    if (expected_.counts == Counts::any) return;  // they are looked at once, where they lie
    std::int64_t more = std::int64_t(kChunk);
    for (const std::vector<Image>& images : images_)
        for (const Image& image : images)
            if (!image.kept) more += image.size;
    if (resident_bytes() + more + more / 8 > expected_.cache) return;
    for (std::vector<Image>& images : images_) {
        for (Image& image : images) {
            if (image.kept) continue;
            Image placed = image;
            read(image, keep(placed));
            image = placed;
        }
    }
}

void ImageIndex::check_headers() const {
    for (const std::vector<Image>& images : images_)
        for (const Image& image : images)
            if (image.kept) check_header(kept(image), full_name(image));
}

std::uint64_t ImageIndex::content_hash() const {
    ContentHash hash;
    const bool all = all_kept();
    hash.add(all ? "images" : "names of images");
    for (const std::string& name : class_names_)
        hash.add(name);
    for (const std::vector<Image>& images : images_) {
        hash.add(images.size());
        for (const Image& image : images) {
            hash.add(name(image)).add(std::uint64_t(image.label));
            if (!all) {
                hash.add(std::uint64_t(image.size));
                continue;
            }
            const auto bytes = kept(image);
            hash.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }
    }
    return hash.value();
}

std::int64_t ImageIndex::resident_bytes() const {
    const std::size_t index =
        names_.capacity() + (images_[0].capacity() + images_[1].capacity()) * sizeof(Image);
    return std::int64_t(index) + chunk_bytes_;
}

void ImageSource::load(Split split, std::int64_t index, Sample& sample) const {
    const auto bytes = index_->bytes(split, index, sample.packed);
    const std::string name = index_->name_of(split, index);
    if (!index_->is_kept(split, index)) index_->check_header(bytes, name);
    decode_image(bytes, name, index_->limits(), sample);
    const std::int32_t label = index_->label(split, index);
    if (!several_) {
        sample.target().set_class(label);
        return;
    }
    std::vector<double>& labels = sample.target().doubles;
    labels.resize(std::size_t(index_->expected().classes));
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = (std::uint32_t(label) >> i & 1) != 0 ? 1.0 : 0.0;
}

}  // namespace dtnn::runtime
