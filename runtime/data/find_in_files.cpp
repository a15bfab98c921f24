#include "runtime/data/find_in_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"
#include "plan/dataset_types.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/recognise_table.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/sources/csv_source.hpp"
#include "runtime/data/sources/image_names.hpp"
#include "runtime/data/sources/mask_source.hpp"
#include "runtime/data/sources/source_type.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

/// The first of these folders in `path`; empty: none is there.
std::string folder_of(const std::string& path, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (is_folder(path + "/" + name)) return name;
    return "";
}

bool has_class_folders(const std::string& path) {
    for (const std::string& name : visible_names_in(path))
        if (is_folder(path + "/" + name)) return true;
    return false;
}

/// The names that samples of validation have.
constexpr std::array kValidationNames = {"val", "valid", "validation"};

// ---- arrays

constexpr std::string_view kNpy = ".npy";

/// Rows of labels are looked through where they are not more than this.
constexpr std::int64_t kMostRowsBytes = std::int64_t{1} << 28;

/// Whether an array of that name holds samples or labels: x, y_train.
bool is_of_samples(std::string_view name) {
    return name == "x" || name == "y" || name.starts_with("x_") || name.starts_with("y_");
}

/// The headers of the archive's arrays, by their names.
std::map<std::string, NpyHeader> arrays_in(const std::string& path) {
    const RegularFile file(path);
    if (!is_zip(file))
        throw bad_file(path, "it is no .npz: not a zip file of arrays",
                       "write it by numpy.savez('FILE.npz', x=x, y=y)");
    std::map<std::string, NpyHeader> arrays;
    ArchiveReader archive(file);
    while (const auto member = archive.next()) {
        if (!member->path.ends_with(kNpy)) continue;
        std::string begin;
        archive.read([&](std::string_view piece) {
            const std::size_t room = std::size_t(kMostNpyHeader) - begin.size();
            begin += piece.substr(0, std::min(room, piece.size()));
        });
        const std::string name = member->path.substr(0, member->path.size() - kNpy.size());
        try {
            arrays.emplace(name, parse_npy_header(begin, member->size, path + ":" + member->path));
        } catch (const RunError&) {
            // Others may be of any type: the names of the classes, say.
            if (is_of_samples(name)) throw;
        }
    }
    return arrays;
}

/// Refuses an archive without labels: with what it has, and how to name it.
[[noreturn]] void refuse_names(const std::string& path,
                               const std::map<std::string, NpyHeader>& arrays) {
    constexpr std::size_t kShown = 6;
    std::string has;
    for (const auto& [name, header] : arrays) {
        if (std::size_t(std::count(has.begin(), has.end(), '`')) / 2 == kShown) {
            has += " and others";
            break;
        }
        has += fmt::format("{}`{}` of ({})", has.empty() ? "" : ", ", name,
                           fmt::join(header.dims, ","));
    }
    std::string help =
        "save samples and labels as x_train, y_train, x_test and y_test, or as x and y; for "
        "samples without labels write the spec by hand, with `target: input`";
    const auto name = [](const auto& one) { return std::string_view(one->first); };
    const auto plain = [](std::string_view text) {
        return std::all_of(text.begin(), text.end(), [](char c) {
            return c > ' ' && c < '\x7f' &&
                   std::string_view("'\"\\`$!").find(c) == std::string_view::npos;
        });
    };
    // Two arrays, one of which has fewer axes, can only be meant in one way.
    if (arrays.size() == 2) {
        auto labels = arrays.begin(), samples = std::next(labels);
        if (labels->second.dims.size() > samples->second.dims.size()) std::swap(labels, samples);
        if (labels->second.dims.size() < samples->second.dims.size() && plain(path) &&
            plain(name(labels)) && plain(name(samples)))
            help = fmt::format(
                "they may have these names: python3 -c \"import numpy; d = "
                "numpy.load('{}'); numpy.savez('arrays.npz', x=d['{}'], y=d['{}'])\"",
                path, name(samples), name(labels));
    }
    throw bad_file(
        path,
        fmt::format("neither `y_train` nor `y` is in it{}{}", has.empty() ? "" : ", but ", has),
        help);
}

/// What rows of labels are, by their numbers: a 1 among zeros in each, which is a class; any number
/// of ones in some; or neither, of which nothing is told.
std::optional<plan::LabelKind> kind_of_rows(const std::string& path, const std::string& name) {
    const RegularFile file(path);
    ArchiveReader archive(file);
    while (const auto member = archive.next()) {
        if (member->path != name + std::string(kNpy)) continue;
        const NpyArray array = parse_npy(archive.read(), path + ":" + member->path);
        const auto columns = std::size_t(array.header.dims.back());
        std::vector<double> values(std::size_t(array.header.elements()));
        array.copy(std::span<double>(values));
        if (std::any_of(values.begin(), values.end(),
                        [](double value) { return value != 0 && value != 1; }))
            return std::nullopt;
        for (auto row = values.begin(); row != values.end(); row += std::ptrdiff_t(columns))
            if (std::count(row, row + std::ptrdiff_t(columns), 1.0) != 1)
                return plan::LabelKind::multiple;
        return plan::LabelKind::classes;
    }
    return std::nullopt;
}

/// Images as Keras has them are taken as they lie, and are hardly meant so.
void tell_channels_last(const Dims& dims, RecognisedData& data) {
    const auto channels = [](std::int64_t extent) { return extent == 1 || extent == 3; };
    if (dims.size() != 1 + image_axes().size() || channels(dims[1]) || !channels(dims[3])) return;
    data.remarks.push_back(fmt::format(
        "samples of ({}) look like images with their channels last; they are read as {} channels "
        "of {} x {}: save numpy.transpose(x, (0, 3, 1, 2))",
        fmt::join(dims, ","), dims[1], dims[2], dims[3]));
}

RecognisedData recognise_arrays(const std::string& path) {
    RecognisedData data{.type = "archive", .fields = {{"path", path}}};
    const std::map<std::string, NpyHeader> arrays = arrays_in(path);
    const bool split = arrays.contains("x_test");
    const char* name = arrays.contains("y_train") ? "y_train" : "y";
    const auto found = arrays.find(name);
    if (found == arrays.end()) refuse_names(path, arrays);
    const NpyHeader& labels = found->second;
    if (!split) data.fields.emplace_back("test_share", kTestShare);
    for (const char* one : kValidationNames)
        if (arrays.contains(fmt::format("x_{}", one))) {
            data.fields.emplace_back("validation_name", std::string(one));
            break;
        }
    if (const auto samples = arrays.find(split ? "x_train" : "x"); samples != arrays.end())
        tell_channels_last(samples->second.dims, data);
    bool whole = labels.kind != NpyHeader::Kind::real;
    // NumPy says of axes no more than how many there are: a label's own are height and width.
    const bool pixels = whole && squeezed(labels.dims, 1).size() == 2;
    if (pixels) data.fields.emplace_back("labels", std::string("pixel"));
    std::optional<plan::LabelKind> rows;
    if (labels.dims.size() == 2 && labels.dims[1] > 1 && labels.bytes() <= kMostRowsBytes)
        rows = kind_of_rows(path, name);
    const bool several = rows == plan::LabelKind::multiple;
    whole = whole || rows.has_value();
    if (several || !whole)
        data.fields.emplace_back(
            "label_kind", name_of(several ? plan::LabelKind::multiple : plan::LabelKind::values));
    data.remarks.push_back(
        fmt::format("`{}` is {} of the shape ({}), taken for {}; label_kind says otherwise", name,
                    labels.type(), fmt::join(labels.dims, ","),
                    several  ? "any number of classes"
                    : !whole ? "numbers"
                    : pixels ? "a class for every pixel"
                             : "classes"));
    return data;
}

/// What a folder or an archive is that has one of the type's marks.
RecognisedData data_of(std::string_view name, const SourceType& type, const std::string& path) {
    if (type.recognise != nullptr) return type.recognise(path);
    return {.type = std::string(name), .fields = {{"path", path}}};
}

RecognisedData recognise_text(const std::string& path) {
    constexpr std::int64_t kSteps = 128;
    return {.type = "text",
            .fields = {{"path", path}, {"steps", kSteps}, {"test_share", kTestShare}},
            .remarks = {fmt::format("{} characters a sample are a guess; `unit: byte` takes bytes",
                                    kSteps)}};
}

// ---- archives

RecognisedData recognise_archive(const std::string& path) {
    const RegularFile file(path);
    ArchiveReader archive(file);
    const auto within = [](const std::string& member, const std::string& folder) {
        return member.starts_with(folder + "/") ||
               member.find("/" + folder + "/") != std::string::npos;
    };
    RecognisedData data{"archive", {{"path", path}}, true, {}};
    bool train = false;
    while (const auto member = archive.next()) {
        const std::string name = base_name(member->path);
        for (const auto& [type_name, type] : source_types())
            if (type.in_archives && std::count(type.marks.begin(), type.marks.end(), name) > 0)
                return data_of(type_name, type, path);
        if (within(member->path, "train")) {
            train = true;
            continue;
        }
        for (const char* one : kValidationNames)
            if (data.fields.size() == 1 && within(member->path, one))
                data.fields.emplace_back("validation_name", std::string(one));
    }
    if (train) return data;
    throw bad_file(path, "it holds neither train/CLASS/IMAGE nor CIFAR's binary files",
                   "unpack it, and name the folder");
}

// ---- folders

/// Adds the fields that say where the test samples are, beside the folder `train`.
void add_test_folder(const std::string& path, const std::string& train, RecognisedData& data) {
    const std::string test = folder_of(path, {"test", "testing", "Test", "Testing"});
    const std::string validation =
        folder_of(path, {"val", "valid", "validation", "Val", "Validation"});
    const std::string& held = test.empty() ? validation : test;
    if (train != "train" || held.empty()) data.fields.emplace_back("train_folder", train);
    if (held.empty()) {
        data.fields.emplace_back("test_share", kTestShare);
    } else if (held != "test") {
        data.fields.emplace_back("test_folder", held);
    }
    if (!test.empty() && !validation.empty())
        data.fields.emplace_back("validation_folder", validation);
}

RecognisedData recognise_images(const std::string& path) {
    RecognisedData data{.type = "folder", .fields = {{"path", path}}, .images = true};
    const std::string train = folder_of(path, {"train", "training", "Train", "Training"});
    if (train.empty()) {
        data.fields.emplace_back("test_share", kTestShare);
        return data;
    }
    add_test_folder(path, train, data);
    return data;
}
/// The folders of images and of masks in `path`; empty: it has none.
std::pair<std::string, std::string> mask_folders_of(const std::string& path) {
    return {folder_of(path, {"images", "image", "imgs", "JPEGImages"}),
            folder_of(path, {"masks", "mask", "labels", "annotations", "SegmentationClass"})};
}

RecognisedData recognise_masks(const std::string& path) {
    RecognisedData data{.type = "segmentation", .fields = {{"path", path}}, .images = true};
    std::string train = folder_of(path, {"train", "training", "Train", "Training"});
    if (train.empty()) {
        train = ".";
        data.fields.emplace_back("test_share", kTestShare);
    } else {
        add_test_folder(path, train, data);
    }
    const auto [images, masks] = mask_folders_of(path + "/" + train);
    if (images != "images") data.fields.emplace_back("image_folder", images);
    if (masks != "masks") data.fields.emplace_back("mask_folder", masks);
    std::vector<std::int64_t> numbers = mask_numbers(path + "/" + train + "/" + masks);
    // Pixels at the edges of things, as PASCAL VOC and Cityscapes have them.
    constexpr std::int64_t kEdge = 255;
    if (numbers.size() > 2 && numbers.back() == kEdge &&
        numbers[numbers.size() - 2] + 2 == std::int64_t(numbers.size())) {
        numbers.pop_back();
        data.fields.emplace_back("ignored_value", kEdge);
        data.remarks.push_back(fmt::format(
            "pixels of {} are taken to belong to no class, and do not count (`ignored_value`)",
            kEdge));
    }
    if (!numbers.empty() && numbers.back() + 1 != std::int64_t(numbers.size()))
        data.fields.emplace_back("mask_values", numbers);
    data.remarks.push_back(fmt::format("the numbers of {} of the masks' pixels are {}",
                                       numbers.size() == 1 ? "all" : "the classes",
                                       fmt::join(numbers, ", ")));
    return data;
}

bool has_masks(const std::string& path) {
    for (const char* below : {"", "/train", "/training", "/Train", "/Training"}) {
        const auto [images, masks] = mask_folders_of(path + below);
        if (!images.empty() && !masks.empty()) return true;
    }
    return false;
}

RecognisedData recognise_folder(const std::string& path, const KnownColumns& known) {
    const auto has = [&](std::string_view name) {
        return is_there(path + "/" + std::string(name));
    };
    for (const auto& [name, type] : source_types())
        if (std::any_of(type.marks.begin(), type.marks.end(), has))
            return data_of(name, type, path);
    if (ArraySource::has_shards(path)) return imagenet_source().recognise(path);
    if (has_masks(path)) return recognise_masks(path);
    if (has("train.csv")) return recognise_table(path + "/train.csv", known);
    if (has_class_folders(path)) return recognise_images(path);
    const std::vector<std::string> names = visible_names_in(path);
    if (std::any_of(names.begin(), names.end(),
                    [](const std::string& name) { return is_called_image(name); }))
        throw bad_file(path, "images lie in it, and in no folder",
                       "a class is a folder, PATH/CLASS/IMAGE; images that have no classes "
                       "(`target: input`) lie in one folder, PATH/all/IMAGE");
    std::vector<std::string> files;
    std::copy_if(names.begin(), names.end(), std::back_inserter(files),
                 [](const auto& name) { return is_called_table(name) || name.ends_with(".npz"); });
    if (files.size() == 1) return recognise_data(path + "/" + files.front(), known);
    throw bad_file(
        path, "it holds no data of a known form",
        "known are train/CLASS/IMAGE and test/CLASS/IMAGE, CLASS/IMAGE, the files of "
        "MNIST, CIFAR, ImageNet and NIH's chest X-rays, train.csv; or name a file: .csv, "
        ".tsv, .npz, .tar, .tar.gz, .zip");
}

/// The mean and the deviation of each number of the training samples' targets, where these are not
/// said: West's updates, which large numbers do not harm.
void find_target_scale(const SampleSource& source, std::int64_t samples, plan::Feature& target) {
    std::vector<double> mean, squares;
    SampleArray row;
    for (std::int64_t i = 0; i < samples; ++i) {
        source.load_target(Split::train, i, row);
        mean.resize(row.doubles.size());
        squares.resize(row.doubles.size());
        for (std::size_t k = 0; k < row.doubles.size(); ++k) {
            const double apart = row.doubles[k] - mean[k];
            mean[k] += apart / double(i + 1);
            squares[k] += apart * (row.doubles[k] - mean[k]);
        }
    }
    if (target.mean.empty()) target.mean = mean;
    if (!target.deviation.empty()) return;
    for (const double one : squares) {
        // Targets that are all the same are moved and not divided.
        const double deviation = std::sqrt(one / double(std::max<std::int64_t>(1, samples)));
        target.deviation.push_back(deviation > 0 ? deviation : 1);
    }
}

}  // namespace

void find_in_files(plan::Dataset& dataset) {
    const std::unique_ptr<SampleSource> source = open_source(dataset, Counts::any);
    const auto fill = [](auto& value, const auto& empty, auto found) {
        if (value == empty) value = std::move(found);
    };
    fill(dataset.train_samples, 0, source->size(Split::train) - source->validation_size());
    fill(dataset.validation_samples, 0, source->validation_size());
    fill(dataset.test_samples, 0, source->size(Split::test));
    fill(dataset.target().classes, 0, source->found_classes());
    fill(dataset.target().names, std::vector<std::string>(), source->class_names());
    if (dataset.input().stored_dims.empty()) dataset.input().stored_dims = source->found_shape();
    for (const auto& [name, value] : source->found_attributes())
        if (!dataset.attributes.contains(name)) dataset.attributes[name] = value;
    const std::int64_t trained = source->size(Split::train) - source->validation_size();
    if (plan::encodes_columns(dataset) && dataset.columns.empty()) {
        std::vector<std::int64_t> samples(std::size_t(std::max<std::int64_t>(0, trained)));
        std::iota(samples.begin(), samples.end(), 0);
        dataset.columns = source->found_columns(samples);
    }
    if (plan::scales_targets(dataset)) find_target_scale(*source, trained, dataset.target());
    // What is too long for a series is the spec's, which says it at the place.
    if (plan::is_series(dataset)) return;
    const auto path = dataset.attributes.find("path");
    const auto* text =
        path == dataset.attributes.end() ? nullptr : std::get_if<std::string>(&path->second);
    if (dataset.train_samples > 0 && dataset.test_samples > 0 &&
        !dataset.input().stored_dims.empty())
        return;
    throw bad_file(text == nullptr ? dataset.name : *text,
                   fmt::format("it has {} training and {} test samples", dataset.train_samples,
                               dataset.test_samples),
                   "there must be some of both");
}

RecognisedData recognise_data(const std::string& path, const KnownColumns& known) {
    if (is_folder(path)) return recognise_folder(path, known);
    if (!is_there(path))
        throw RunError(Exit::failed, fmt::format("{} is not there", path), "check the path");
    if (is_called_table(path)) return recognise_table(path, known);
    if (path.ends_with(".npz")) return recognise_arrays(path);
    if (path.ends_with(".txt")) return recognise_text(path);
    return recognise_archive(path);
}

}  // namespace dtnn::runtime
