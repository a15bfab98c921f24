#include "runtime/data/sources/cifar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/content_hash.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCifarSide = 32;
constexpr std::int64_t kPixels = 3 * kCifarSide * kCifarSide;
constexpr std::int64_t kMostNames = 65536;  ///< bytes of the file with the classes' names

const char* title_of(Cifar::Kind kind) {
    return kind == Cifar::Kind::ten ? "CIFAR-10" : "CIFAR-100";
}

/// The file that names the classes, one a line.
const char* names_file(Cifar::Kind kind) {
    switch (kind) {
        case Cifar::Kind::ten:
            return "batches.meta.txt";
        case Cifar::Kind::fine:
            return "fine_label_names.txt";
        default:
            return "coarse_label_names.txt";
    }
}

/// Returns as many names as classes, or none: without the file the classes have numbers.
std::vector<std::string> names_in(const std::string& text, std::int64_t classes) {
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
            line.pop_back();
        if (!line.empty()) names.push_back(printable(line));
    }
    if (std::int64_t(names.size()) != classes) names.clear();
    return names;
}

}  // namespace

std::int64_t Cifar::classes_of(Kind kind) {
    return kind == Kind::ten ? 10 : kind == Kind::fine ? 100 : 20;
}

std::int64_t Cifar::record_bytes(Kind kind) {
    return kPixels + (kind == Kind::ten ? 1 : 2);
}

Cifar::Cifar(Kind kind, const std::string& path, std::int64_t train_samples,
             std::int64_t test_samples)
    : kind_(kind),
      record_(record_bytes(kind)),
      train_samples_(train_samples),
      test_samples_(test_samples) {
    if (kind == Kind::ten) {
        for (int number = 1; number <= 5; ++number)
            parts_.push_back({Split::train, fmt::format("data_batch_{}.bin", number), "", {}});
        parts_.push_back({Split::test, "test_batch.bin", "", {}});
    } else {
        parts_.push_back({Split::train, "train.bin", "", {}});
        parts_.push_back({Split::test, "test.bin", "", {}});
    }
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        read_folder(path);
    } else if (fs::exists(path, ignored)) {
        read_archive(path);
    } else {
        throw RunError(Exit::failed, fmt::format("the dataset's path {} is not there", path),
                       fmt::format("compile the job with --set dataset.path=PATH, the folder of "
                                   "{}'s .bin files, or its .tar.gz; it is relative to the current "
                                   "folder",
                                   title_of(kind)));
    }
    verify(path);
}

void Cifar::read_folder(const std::string& path) {
    const bool ten = kind_ == Kind::ten;
    std::error_code ignored;
    fs::path folder = path;
    // The folder that the archive unpacks to, and the archive itself, are as good as the files.
    const fs::path inner = folder / (ten ? "cifar-10-batches-bin" : "cifar-100-binary");
    const fs::path packed = folder / (ten ? "cifar-10-binary.tar.gz" : "cifar-100-binary.tar.gz");
    if (!fs::exists(folder / parts_[0].name, ignored)) {
        if (fs::exists(inner / parts_[0].name, ignored)) {
            folder = inner;
        } else if (fs::exists(packed, ignored)) {
            return read_archive(packed.string());
        }
    }
    for (Part& part : parts_) {
        const std::string file_path = (folder / part.name).string();
        const RegularFile file(file_path);
        file.read(0, room(part, file_path, file.size()));
    }
    const fs::path names = folder / names_file(kind_);
    if (fs::is_regular_file(names, ignored)) {
        class_names_ =
            names_in(RegularFile(names.string()).read_all(kMostNames, "a list of classes"),
                     classes_of(kind_));
    }
}

void Cifar::read_archive(const std::string& path) {
    const RegularFile file(path);
    ArchiveReader archive(file);
    while (const auto member = archive.next()) {
        const std::string name = base_name(member->path);
        if (name == names_file(kind_) && member->size <= kMostNames)
            class_names_ = names_in(archive.read(), classes_of(kind_));
        for (Part& part : parts_)
            if (part.name == name)
                archive.read(room(part, path + ":" + member->path, member->size));
    }
}

std::span<char> Cifar::room(Part& part, const std::string& path, std::int64_t bytes) const {
    if (!part.path.empty()) {
        throw RunError(
            Exit::failed,
            fmt::format("{}: there are two of {}, this and {}", path, part.name, part.path),
            "remove one of them");
    }
    if (bytes % record_ != 0) {
        throw RunError(
            Exit::failed,
            fmt::format("{}: it has {} bytes, which is not a whole number of records of {} bytes",
                        path, bytes, record_),
            fmt::format("a file that is cut off is downloaded again; the files are those of {}'s "
                        "binary version",
                        title_of(kind_)));
    }
    const std::int64_t expected = size(part.split);
    if (bytes / record_ > expected) {
        throw RunError(Exit::mismatch,
                       fmt::format("{}: it has {} samples alone; the plan expects {} in all", path,
                                   bytes / record_, expected),
                       "compile the job with dataset.train_samples and dataset.test_samples as in "
                       "the files");
    }
    part.path = path;
    part.bytes.resize(std::size_t(bytes));
    return {reinterpret_cast<char*>(part.bytes.data()), part.bytes.size()};
}

void Cifar::verify(const std::string& path) const {
    std::int64_t found[2] = {0, 0};
    for (const Part& part : parts_) {
        if (part.path.empty()) {
            throw RunError(Exit::failed, fmt::format("{}: there is no {} in it", path, part.name),
                           fmt::format("name the archive of {}'s binary version", title_of(kind_)));
        }
        found[part.split == Split::train ? 0 : 1] += std::int64_t(part.bytes.size()) / record_;
    }
    if (found[0] != train_samples_ || found[1] != test_samples_) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{} has {} training and {} test samples; the plan expects {} and {}", path,
                        found[0], found[1], train_samples_, test_samples_),
            fmt::format("compile the job with --set dataset.train_samples={} --set "
                        "dataset.test_samples={}",
                        found[0], found[1]));
    }
    // Both labels of CIFAR-100 must be right, whichever is used: wrong ones are another format.
    for (const Part& part : parts_) {
        for (std::size_t at = 0; at < part.bytes.size(); at += std::size_t(record_)) {
            for (std::size_t label = 0; label < std::size_t(record_ - kPixels); ++label) {
                const int most = kind_ == Kind::ten ? 9 : label == 0 ? 19 : 99;
                if (part.bytes[at + label] <= most) continue;
                throw RunError(
                    Exit::failed,
                    fmt::format("{}: the label of record {} is {}; labels are 0 to {}", part.path,
                                at / std::size_t(record_), part.bytes[at + label], most),
                    fmt::format("download the file again, in {}'s binary version",
                                title_of(kind_)));
            }
        }
    }
}

const std::uint8_t* Cifar::record(Split split, std::int64_t index) const {
    std::int64_t at = index * record_;
    for (const Part& part : parts_) {
        if (part.split != split) continue;
        if (at < std::int64_t(part.bytes.size())) return part.bytes.data() + at;
        at -= std::int64_t(part.bytes.size());
    }
    throw RunError(Exit::internal, SampleSource::name_of(split, index) + " is not there");
}

void Cifar::load(Split split, std::int64_t index, Sample& sample) const {
    const std::uint8_t* const bytes = record(split, index);
    sample.input().set_image({3, kCifarSide, kCifarSide}, bytes + (record_ - kPixels));
    sample.target().set_class(kind_ == Kind::fine ? bytes[1] : bytes[0]);
}

std::int64_t Cifar::size(Split split) const {
    return split == Split::train ? train_samples_ : test_samples_;
}

std::uint64_t Cifar::content_hash() const {
    ContentHash hash;
    hash.add(std::uint64_t(kind_));
    for (const Part& part : parts_)
        hash.add({reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()});
    return hash.value();
}

std::int64_t Cifar::resident_bytes() const {
    return (train_samples_ + test_samples_) * record_;
}

namespace {

Source open_cifar(const plan::Dataset& dataset, Cifar::Kind kind) {
    check_fixed(dataset, {3, kCifarSide, kCifarSide}, Cifar::classes_of(kind));
    return std::make_unique<Cifar>(kind, path_of(dataset), source_train_samples(dataset),
                                   dataset.test_samples);
}

}  // namespace

SourceType cifar10_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked&) -> Source {
                return open_cifar(dataset, Cifar::Kind::ten);
            },
            .marks = {"data_batch_1.bin"},
            .in_archives = true};
}

SourceType cifar100_source() {
    return {.open = [](const plan::Dataset& dataset, const Asked&) -> Source {
                const bool coarse = says(dataset.attributes, "level", plan::LabelLevel::coarse);
                return open_cifar(dataset, coarse ? Cifar::Kind::coarse : Cifar::Kind::fine);
            },
            .marks = {"test.bin"},
            .in_archives = true};
}

}  // namespace dtnn::runtime
