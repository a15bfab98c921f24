#include "runtime/data/find_in_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/formats/text_lines.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/sources/csv_source.hpp"
#include "runtime/data/sources/image_names.hpp"
#include "runtime/data/sources/mask_source.hpp"
#include "runtime/data/sources/mnist.hpp"
#include "runtime/data/sources/table_columns.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

/// The share that is kept for the test where nobody has made a split.
constexpr double kTestShare = 0.2;

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

// ---- tables

struct Separator {
    const char* name;
    char sign;
};
constexpr std::array kSeparators = {Separator{"comma", ','}, Separator{"semicolon", ';'},
                                    Separator{"tab", '\t'}};

/// The sign that cuts the first line into most columns.
Separator separator_of(std::string_view line) {
    Separator best = kSeparators[0];
    std::size_t most = 0;
    std::vector<std::string_view> columns;
    std::vector<std::string> room;
    for (const Separator& one : kSeparators) {
        if (!split_columns(line, one.sign, columns, room) || columns.size() <= most) continue;
        most = columns.size();
        best = one;
    }
    return best;
}

constexpr std::size_t kMostClasses = 100;  ///< that a column is taken to hold

/// Calls `see` with the columns of the first lines.
template <class See>
void look_at_lines(const std::string& path, char separator, const See& see) {
    constexpr std::int64_t kLines = 10'000;
    TextLines lines(path);
    std::string_view line;
    TableLine texts;
    std::vector<std::string> room;
    while (lines.number() < kLines && lines.next(line))
        if (!line.empty() && split_columns(line, separator, texts, room)) see(texts);
}

bool is_number(std::string_view text, char decimal) {
    double value = 0;
    return parse_number(text, decimal, value) == std::errc();
}

/// The sign before the fractions of most numbers.
char decimal_of(const std::string& path, char separator) {
    std::int64_t points = 0, commas = 0;
    if (separator == ',') return '.';
    look_at_lines(path, separator, [&](const TableLine& texts) {
        for (const std::string_view text : texts) {
            points += text.find('.') != text.npos && is_number(text, '.') ? 1 : 0;
            commas += text.find(',') != text.npos && is_number(text, ',') ? 1 : 0;
        }
    });
    return commas > points ? ',' : '.';
}

/// What the first lines of a column are.
struct ColumnLook {
    bool numbers = true;
    bool counts = true;  ///< the lines, from 0 or 1
    double last = -1;
    std::size_t lines = 0;
    std::set<std::string, std::less<>> texts = {};  ///< the first that differ

    void add(std::string_view text, char decimal) {
        double value = 0;
        numbers = numbers && parse_number(text, decimal, value) == std::errc();
        const bool first = last < 0 && value == 1;
        counts = counts && numbers && (first || value == last + 1);
        last = value;
        ++lines;
        if (!numbers && texts.size() <= kMostClasses) texts.emplace(text);
    }
    /// Whether they are texts that come again and again.
    bool classes() const {
        return !numbers && texts.size() <= kMostClasses && texts.size() * 2 <= lines;
    }
};

/// The only column of texts, if these are as classes are; else the last one.
std::size_t label_of(const std::vector<ColumnLook>& columns) {
    std::size_t texts = 0, label = columns.size() - 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].numbers) continue;
        ++texts;
        label = i;
    }
    return texts == 1 && columns[label].classes() ? label : columns.size() - 1;
}

/// What columns are called that number the lines of a table.
bool is_called_index(std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    constexpr std::array kNames = {"", "id", "index", "unnamed: 0", "no", "nr", "#", "row"};
    return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

/// What the labels of a table are, by those of its first lines.
class LabelGuess {
  public:
    explicit LabelGuess(char decimal) : decimal_(decimal) {}

    void add(std::string_view text) {
        ++samples_;
        double value = -1;
        numbers_ = numbers_ && parse_number(text, decimal_, value) == std::errc();
        whole_ = whole_ && numbers_ && value >= 0 && value <= kMostWhole &&
                 text.find_first_not_of("0123456789") == text.npos;
        least_ = std::min(least_, value);
        if (distinct_.size() <= kMostClasses) distinct_.emplace(text);
    }
    /// Texts are classes, and so are few different whole numbers, each of which comes again.
    bool classes() const {
        return !numbers_ ||
               (whole_ && distinct_.size() <= kMostClasses && distinct_.size() * 2 <= samples_);
    }
    /// Of whole numbers the least, where it is above 0.
    std::optional<std::int64_t> begins_late() const {
        if (!numbers_ || !whole_ || samples_ == 0 || least_ < 1) return std::nullopt;
        return std::int64_t(least_);
    }

  private:
    static constexpr double kMostWhole = 1e15;
    char decimal_;
    std::size_t samples_ = 0;
    bool numbers_ = true, whole_ = true;
    double least_ = kMostWhole;
    std::set<std::string, std::less<>> distinct_;
};

/// The table of the test that goes with one of training samples: iris_test.csv with iris_train.csv.
std::string test_table_of(const std::string& path) {
    const std::size_t name = path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1;
    const std::size_t at = path.find("train", name);
    if (at == path.npos) return "";
    for (const char* word : {"test", "val", "valid", "validation"}) {
        for (const char* rest : {"train", "training"}) {
            const std::string_view found(rest);
            if (path.compare(at, found.size(), found) != 0) continue;
            std::string other = path;
            other.replace(at, found.size(), word);
            if (is_there(other)) return other;
        }
    }
    return "";
}

/// Says what the first column is, where it only numbers the lines.
void leave_out_index(const ColumnLook& column, const std::string& name, bool header,
                     RecognisedData& data) {
    if (!column.counts || column.last < 1) return;
    if (!header || !is_called_index(name)) {
        data.remarks.emplace_back(
            "the first column counts the lines; where that says nothing of a sample, "
            "`ignored_columns: [1]` leaves it out");
        return;
    }
    data.fields.emplace_back("ignored_columns", std::vector<std::int64_t>{1});
    data.remarks.push_back(fmt::format(
        "the first column{} counts the lines, and is left out by `ignored_columns`",
        name.empty() ? ", which has no name," : fmt::format(", `{}`,", printable(name))));
}

RecognisedData recognise_table(const std::string& path) {
    RecognisedData data{.type = "csv", .fields = {{"path", path}}};
    TextLines lines(path);
    std::string_view line;
    if (!lines.next(line)) throw bad_file(path, "the table is empty", "name another file");
    const Separator separator = separator_of(line);
    const char decimal = decimal_of(path, separator.sign);
    bool header = false;
    std::vector<std::string> names;
    std::vector<ColumnLook> columns;
    look_at_lines(path, separator.sign, [&](const TableLine& texts) {
        if (names.empty()) {
            names.assign(texts.begin(), texts.end());
            columns.resize(texts.size());
            header = std::none_of(texts.begin(), texts.end(),
                                  [&](std::string_view text) { return is_number(text, decimal); });
            if (header) return;
        }
        for (std::size_t i = 0; i < columns.size() && texts.size() == columns.size(); ++i)
            columns[i].add(texts[i], decimal);
    });
    if (columns.size() < 2)
        throw bad_file(path, "its first line has one column; a sample has features and a label",
                       "columns stand between commas, semicolons or tabs");
    const std::size_t label = label_of(columns);
    const bool last = label + 1 == columns.size();
    LabelGuess labels(decimal);
    bool is_header = header;
    look_at_lines(path, separator.sign, [&](const TableLine& texts) {
        if (!is_header && texts.size() == columns.size()) labels.add(texts[label]);
        is_header = false;
    });
    if (const std::string test = test_table_of(path); !test.empty()) {
        data.fields.emplace_back("test_path", test);
    } else {
        data.fields.emplace_back("test_share", kTestShare);
    }
    if (separator.sign != ',') data.fields.emplace_back("separator", std::string(separator.name));
    if (decimal == ',') data.fields.emplace_back("decimal", std::string("comma"));
    if (!header) data.fields.emplace_back("header", false);
    const std::vector<std::int64_t> place = {std::int64_t(label) + 1};
    if (!last) data.fields.emplace_back("label_columns", place);
    const bool classes = labels.classes();
    if (!classes) data.fields.emplace_back("label_kind", std::string("values"));
    data.remarks.push_back(fmt::format(
        "{}{} is taken for the label, and holds {}; label_columns, label_names and label_kind say "
        "otherwise",
        last ? "the last column" : fmt::format("column {}, the only one of texts", label + 1),
        header ? fmt::format(", `{}`,", printable(names[label]))
        : last ? ""
               : ",",
        classes ? "classes" : "numbers"));
    if (const auto least = labels.begins_late(); classes && least)
        data.remarks.push_back(fmt::format(
            "classes are numbered from 0, and the labels begin with {}: {} no samples", *least,
            *least == 1 ? "class 0 has" : fmt::format("classes 0 to {} have", *least - 1)));
    if (label != 0 && columns.size() > 2)
        leave_out_index(columns.front(), names.front(), header, data);
    return data;
}

// ---- arrays

/// The header of an array of the archive; nothing: it is not in it.
std::optional<NpyHeader> header_in(const std::string& path, std::string_view name) {
    const RegularFile file(path);
    if (!is_zip(file)) return std::nullopt;
    ArchiveReader archive(file);
    while (const auto member = archive.next()) {
        if (member->path != std::string(name) + ".npy") continue;
        std::string begin;
        archive.read([&](std::string_view piece) {
            const std::size_t room = std::size_t(kMostNpyHeader) - begin.size();
            begin += piece.substr(0, std::min(room, piece.size()));
        });
        return parse_npy_header(begin, member->size, path + ":" + member->path);
    }
    return std::nullopt;
}

/// Images as Keras has them are taken as they lie, and are hardly meant so.
void tell_channels_last(const plan::Dims& dims, RecognisedData& data) {
    const auto channels = [](std::int64_t extent) { return extent == 1 || extent == 3; };
    if (dims.size() != 4 || channels(dims[1]) || !channels(dims[3])) return;
    data.remarks.push_back(fmt::format(
        "samples of ({}) look like images with their channels last; they are read as {} channels "
        "of {} x {}: save numpy.transpose(x, (0, 3, 1, 2))",
        fmt::join(dims, ","), dims[1], dims[2], dims[3]));
}

RecognisedData recognise_arrays(const std::string& path) {
    RecognisedData data{.type = "archive", .fields = {{"path", path}}};
    if (!is_zip(RegularFile(path)))
        throw bad_file(path, "it is no .npz: not a zip file of arrays",
                       "write it by numpy.savez('FILE.npz', x=x, y=y)");
    const bool split = header_in(path, "x_test").has_value();
    const char* name = header_in(path, "y_train") ? "y_train" : "y";
    const auto labels = header_in(path, name);
    if (!labels)
        throw bad_file(path, "neither `y_train` nor `y` is in it",
                       "save samples and labels as x_train, y_train, x_test and y_test, or as x "
                       "and y; for samples without labels write the spec by hand, with `target: "
                       "input`");
    if (!split) data.fields.emplace_back("test_share", kTestShare);
    if (const auto samples = header_in(path, split ? "x_train" : "x"))
        tell_channels_last(samples->dims, data);
    const bool whole = labels->kind != NpyHeader::Kind::real;
    const plan::Dims shape = squeezed(labels->dims, 1);
    if (whole && shape.size() == 2) data.fields.emplace_back("labels", std::string("pixel"));
    if (!whole) data.fields.emplace_back("label_kind", std::string("values"));
    data.remarks.push_back(
        fmt::format("`{}` is {} of the shape ({}), taken for {}; label_kind says otherwise", name,
                    labels->type(), fmt::join(labels->dims, ","),
                    !whole              ? "numbers"
                    : shape.size() == 2 ? "a class for every pixel"
                                        : "classes"));
    return data;
}

// ---- archives

RecognisedData recognise_archive(const std::string& path) {
    const RegularFile file(path);
    ArchiveReader archive(file);
    while (const auto member = archive.next()) {
        const std::string name = base_name(member->path);
        if (name == "data_batch_1.bin") return {"cifar10", {{"path", path}}, false, {}};
        if (name == "train.bin") return {"cifar100", {{"path", path}}, false, {}};
        if (member->path.starts_with("train/") || member->path.find("/train/") != std::string::npos)
            return {"archive", {{"path", path}}, true, {}};
    }
    throw bad_file(path, "it holds neither train/CLASS/IMAGE nor CIFAR's binary files",
                   "unpack it, and name the folder");
}

// ---- folders

RecognisedData recognise_mnist(const std::string& path) {
    // Datasets in the form of MNIST may have fewer samples.
    constexpr std::int64_t kTrain = 60'000, kTest = 10'000;
    const Mnist source(path, kTrain, kTest, true);
    RecognisedData data{.type = "mnist", .fields = {{"path", path}}};
    if (source.size(Split::train) != kTrain || source.size(Split::test) != kTest) {
        data.fields.emplace_back("train_samples", source.size(Split::train));
        data.fields.emplace_back("test_samples", source.size(Split::test));
    }
    return data;
}

/// What says where the test samples are, beside the folder `train`.
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
        data.remarks.push_back(fmt::format(
            "{0}/ is there too, and not read: `test_folder: {0}` with `test_as_validation: true` "
            "validates with it, and `--set dataset.test_folder={1}` is for the test",
            validation, test));
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
    const std::vector<std::int64_t> numbers = mask_numbers(path + "/" + train + "/" + masks);
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

RecognisedData recognise_folder(const std::string& path) {
    const auto has = [&](const char* name) { return is_there(path + "/" + name); };
    if (has("train-images-idx3-ubyte") || has("train-images-idx3-ubyte.gz"))
        return recognise_mnist(path);
    if (has("data_batch_1.bin")) return {"cifar10", {{"path", path}}, false, {}};
    if (has("train.bin") && has("test.bin")) return {"cifar100", {{"path", path}}, false, {}};
    if (has("Data_Entry_2017_v2020.csv") || has("Data_Entry_2017.csv"))
        return {"chestxray", {{"path", path}}, false, {}};
    if (has("ILSVRC2012_img_train.tar") || ArraySource::has_shards(path))
        return {"imagenet", {{"path", path}}, true, {}};
    if (has_masks(path)) return recognise_masks(path);
    if (has("train.csv")) return recognise_table(path + "/train.csv");
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
    if (files.size() == 1) return recognise_data(path + "/" + files.front());
    throw bad_file(
        path, "it holds no data of a known form",
        "known are train/CLASS/IMAGE and test/CLASS/IMAGE, CLASS/IMAGE, the files of "
        "MNIST, CIFAR, ImageNet and NIH's chest X-rays, train.csv; or name a file: .csv, "
        ".tsv, .npz, .tar, .tar.gz, .zip");
}

}  // namespace

void find_in_files(plan::Dataset& dataset) {
    const std::unique_ptr<SampleSource> source = open_source(dataset, Counts::any);
    const auto fill = [](auto& value, const auto& empty, auto found) {
        if (value == empty) value = std::move(found);
    };
    fill(dataset.train_samples, 0, source->size(Split::train));
    fill(dataset.test_samples, 0, source->size(Split::test));
    fill(dataset.classes, 0, source->found_classes());
    fill(dataset.class_names, std::vector<std::string>(), source->class_names());
    if (dataset.stored_shape.empty()) dataset.stored_shape = source->found_shape();
    const auto path = dataset.attributes.find("path");
    const auto* text =
        path == dataset.attributes.end() ? nullptr : std::get_if<std::string>(&path->second);
    if (dataset.train_samples > 0 && dataset.test_samples > 0 && dataset.stored_shape.size() == 3)
        return;
    throw bad_file(text == nullptr ? dataset.name : *text,
                   fmt::format("it has {} training and {} test samples", dataset.train_samples,
                               dataset.test_samples),
                   "there must be some of both");
}

RecognisedData recognise_data(const std::string& path) {
    if (is_folder(path)) return recognise_folder(path);
    if (!is_there(path))
        throw RunError(Exit::failed, fmt::format("{} is not there", path), "check the path");
    if (is_called_table(path)) return recognise_table(path);
    if (path.ends_with(".npz")) return recognise_arrays(path);
    return recognise_archive(path);
}

}  // namespace dtnn::runtime
