#include "runtime/data/sources/prediction_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file_limits.hpp"
#include "base/quantity_text.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/lengths.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/data/sources/array_source.hpp"
#include "runtime/data/sources/given_samples.hpp"
#include "runtime/data/sources/image_names.hpp"
#include "runtime/data/sources/series_source.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

bool fits(const Dims& sample, const Dims& shape) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] != 0 && shape[i] != sample[i]) return false;
    }
    return true;
}

/// The shape of one sample, and whether the array has an axis of samples before it.
struct ArrayShape {
    Dims sample;
    bool several = false;
};
std::optional<ArrayShape> array_shape(const Dims& dims, const Dims& shape) {
    if (dims.size() == shape.size() + 1) {
        Dims sample(dims.begin() + 1, dims.end());
        if (fits(sample, shape)) return ArrayShape{std::move(sample), true};
    }
    const bool fixed = std::find(shape.begin(), shape.end(), 0) == shape.end();
    if (fixed && !dims.empty() && squeezed(dims, 1) == squeezed(shape, 0))
        return ArrayShape{shape, true};
    if (fixed && squeezed(dims, 0) == squeezed(shape, 0)) return ArrayShape{shape, false};
    if (dims.size() == shape.size() && fits(dims, shape)) return ArrayShape{dims, false};
    return std::nullopt;
}

std::string shape_text(const Dims& shape) {
    std::string text;
    for (const std::int64_t extent : shape)
        text += (text.empty() ? "" : ",") + (extent == 0 ? "any" : fmt::format("{}", extent));
    return text;
}

}  // namespace

PredictionInputs::PredictionInputs(const std::vector<std::string>& paths,
                                   const plan::Dataset& dataset,
                                   std::vector<std::string> feature_names)
    : dataset_(dataset),
      shape_(dataset.input().stored_dims.empty() ? dataset.input().dims
                                                 : dataset.input().stored_dims) {
    const bool series = plan::is_series(dataset);
    const std::int64_t columns = series ? shape_.back() : element_count(shape_);
    if (std::int64_t(feature_names.size()) == columns) feature_names_ = std::move(feature_names);
    if (!dataset.input().name.empty() || !plan::has_image(dataset)) {
        for (const std::string& path : paths) {
            if (series && is_called_table(path))
                add_series(path);
            else
                add_given(path);
        }
        return;
    }
    limits_.channels = shape_[0] == 1 ? 1 : 3;
    // Where the dataset has one size, an image of another one is resized or, behind the decoder,
    // refused as such.
    const bool fixed = shape_[1] > 0 && shape_[2] > 0;
    const auto most = dataset.attributes.find("most_pixels");
    limits_.from_plan = !fixed && most != dataset.attributes.end();
    if (limits_.from_plan) {
        if (const auto* number = std::get_if<std::int64_t>(&most->second))
            limits_.most_pixels = *number;
    } else if (fixed) {
        limits_.most_pixels = std::max(kMostImagePixels, shape_[1] * shape_[2]);
    }
    for (const std::string& path : paths) {
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (error || !fs::exists(status))
            throw system_error("open", path, error ? error.value() : ENOENT);
        if (fs::is_directory(status)) {
            add_folder(path);
        } else if (path.ends_with(".npy") || path.ends_with(".npz")) {
            add_array(path);
        } else if (is_called_table(path)) {
            add_table(path);
        } else {
            add_part({.path = path});
        }
    }
}

void PredictionInputs::add_part(Part part) {
    part.first = size(Split::test);
    parts_.push_back(std::move(part));
}

void PredictionInputs::add_folder(const std::string& path) {
    std::vector<std::string> files, passed_over;
    const std::string root = path + (path.ends_with('/') ? "" : "/");
    std::error_code error;
    // Links to folders are not gone into: they may lead around in a circle.
    fs::recursive_directory_iterator entry(path, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        std::error_code ignored;
        const bool folder = entry->is_directory(ignored);
        if (name.starts_with('.')) {
            if (folder) entry.disable_recursion_pending();
            continue;
        }
        const std::string file = root + entry->path().lexically_relative(path).generic_string();
        if (folder && entry->is_symlink(ignored)) {
            throw bad_file(file, "it is a link to a folder, and links to folders are not followed",
                           "name the folder that it leads to beside the other");
        }
        if (folder) continue;
        if (is_beside_images(name)) {
            passed_over.push_back(file.substr(root.size()));
            continue;
        }
        files.push_back(file);
    }
    if (error) throw system_error("read the folder", path, error.value());
    if (files.empty())
        throw bad_file(path, "there are no images in this folder or below it",
                       "name image files, or a folder that has them in it");
    std::sort(files.begin(), files.end());
    std::sort(passed_over.begin(), passed_over.end());
    if (!passed_over.empty()) notes_.push_back(passed_over_note(path, passed_over));
    for (const std::string& file : files) {
        require_image_file(file);
        add_part({.path = file});
    }
}

void PredictionInputs::add_array(const std::string& path) {
    const RegularFile file(path);
    Part part{.path = path};
    if (is_zip(file)) {
        std::map<std::string, NpyArray> arrays = read_npz(path, kMostTensorBytes);
        auto found = arrays.find("x");
        if (found == arrays.end()) found = arrays.find("x_test");
        if (found == arrays.end() && arrays.size() == 1) found = arrays.begin();
        if (found == arrays.end()) {
            std::string names;
            for (const auto& [name, array] : arrays)
                names += (names.empty() ? "" : ", ") + name;
            throw bad_file(path, fmt::format("it holds several arrays: {}", names),
                           "save the samples as its only array, or as `x` or `x_test`");
        }
        part.array = std::move(found->second);
    } else {
        part.array = parse_npy(file.read_all(kMostTensorBytes, "an array"), path);
    }
    const NpyHeader& header = part.array.header;
    const auto shape = array_shape(header.dims, shape_);
    if (!shape) {
        throw bad_file(part.array.name,
                       fmt::format("its shape is ({}); samples of the plan's dataset are [{}]",
                                   fmt::join(header.dims, ","), shape_text(shape_)),
                       "the array is [samples, channels, height, width]: "
                       "numpy.transpose(x, (0, 3, 1, 2)) makes it of channels last");
    }
    if (header.fortran && squeezed(header.dims, 0).size() > 1)
        throw bad_file(part.array.name,
                       "its elements are in Fortran's order, so samples do not lie together",
                       "save numpy.ascontiguousarray(x)");
    part.shape = shape->sample;
    part.several = shape->several;
    part.samples = shape->several ? header.dims[0] : 1;
    add_part(std::move(part));
}

void PredictionInputs::add_given(const std::string& path) {
    std::string names;
    for (const plan::Feature& input : dataset_.inputs)
        names += (names.empty() ? "`" : ", `") + input.name + "`";
    const bool several = dataset_.inputs.size() > 1;
    if (!path.ends_with(".npz") && (several || !path.ends_with(".npy")))
        throw bad_file(path,
                       several ? fmt::format("the network's inputs have names: {}", names)
                               : fmt::format("the network's input is an array of [{}], no image",
                                             shape_text(shape_)),
                       several ? "give an .npz file that has an array for each"
                               : "give .npz or .npy files of arrays [samples] and these extents");
    Part part{.path = path, .several = true};
    part.source = ArraySource::open_given(path, dataset_.inputs, kMostTensorBytes,
                                          plan::lengths_input(dataset_).has_value());
    part.samples = part.source->size(Split::train);
    add_part(std::move(part));
}

void PredictionInputs::add_table(const std::string& path) {
    if (std::find(shape_.begin(), shape_.end(), 0) != shape_.end())
        throw bad_file(path, "the samples of the plan's dataset are images of several sizes",
                       "give images, or folders of them");
    CsvSource::Form form = table_form(dataset_);
    form.shape = shape_;
    form.kind = plan::LabelKind::input;
    form.counts = Counts::any;
    form.cache = kMostTensorBytes;
    form.encoding.wide = true;
    // Labels are what is asked for; a table that has them all the same is taken without.
    const CsvFirstLine first = read_first_line(path, form.separator);
    const auto has = [&](const std::string& name) {
        return std::find(first.columns.begin(), first.columns.end(), name) != first.columns.end();
    };
    // What becomes of columns, the plan knows with their names.
    const bool encoded = !dataset_.columns.empty();
    const std::int64_t columns =
        encoded ? std::int64_t(dataset_.columns.size()) : element_count(shape_);
    const std::vector<std::string> names =
        encoded ? TableEncoding(dataset_.columns, form.encoding).names() : feature_names_;
    if (form.header && !names.empty()) {
        form.feature_names = names;
        form.model = "the table that the weights were trained on";
        form.labels = {};
    } else if (std::int64_t(first.columns.size()) == columns) {
        form.labels = form.ignored = {};
    } else {
        // Where they are called by names, those that are not there need not be left out.
        std::erase_if(form.labels.names, std::not_fn(has));
        std::erase_if(form.ignored.names, std::not_fn(has));
        if (!dataset_.label_names.empty()) form.labels.numbers.clear();
    }
    Part part{.path = path, .several = true};
    part.source = std::make_unique<CsvSource>(path, "", form);
    part.samples = part.source->size(Split::train);
    part.shape = shape_;
    add_part(std::move(part));
}

void PredictionInputs::add_series(const std::string& path) {
    SeriesSource::Form form = series_form(dataset_);
    CsvSource::Form& table = form.table;
    table.cache = kMostTensorBytes;
    table.encoding.wide = true;
    table.labels = {};
    form.ahead = 0;
    form.from_end = true;
    const CsvFirstLine first = read_first_line(path, table.separator);
    const auto lacks = [&](const std::string& name) {
        return std::find(first.columns.begin(), first.columns.end(), name) == first.columns.end();
    };
    const bool alone = std::int64_t(first.columns.size()) == shape_.back();
    if (!feature_names_.empty()) table.feature_names = feature_names_;
    if (table.header && !table.feature_names.empty())
        table.model = "the table that the weights were trained on";
    else
        table.feature_names.clear();
    // What is left out need not be there, and a table of one group need not say which.
    if (alone) table.ignored = table.group = {};
    std::erase_if(table.ignored.names, lacks);
    std::erase_if(table.group.names, lacks);
    find_series_columns(path, form);
    Part part{.path = path, .several = true, .named = true};
    part.source = std::make_unique<SeriesSource>(path, "", form);
    part.samples = part.source->size(Split::train);
    part.shape = shape_;
    if (part.samples == 0)
        throw bad_file(path,
                       fmt::format("no group of its lines is as long as a sample, which takes {}",
                                   form.window),
                       "give a table with more lines");
    if (part.source->found_shape() != shape_)
        throw bad_file(path,
                       fmt::format("samples of it are [{}]; those of the plan's dataset are [{}]",
                                   fmt::join(part.source->found_shape(), ","), shape_text(shape_)),
                       "give a table with the columns of the dataset's tables");
    add_part(std::move(part));
}

bool PredictionInputs::reads(const std::string& path) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
        std::error_code ignored;
        return fs::equivalent(part.path, path, ignored);
    });
}

std::int64_t PredictionInputs::size(Split split) const {
    if (split != Split::test || parts_.empty()) return 0;
    return parts_.back().first + parts_.back().samples;
}

std::int64_t PredictionInputs::resident_bytes() const {
    std::int64_t bytes = 0;
    for (const Part& part : parts_)
        bytes += std::int64_t(part.array.bytes.capacity()) +
                 (part.source ? part.source->resident_bytes() : 0);
    return bytes;
}

const PredictionInputs::Part& PredictionInputs::part_of(std::int64_t index) const {
    // The last one that does not begin behind it: parts without samples are passed over.
    const auto behind =
        std::upper_bound(parts_.begin(), parts_.end(), index,
                         [](std::int64_t i, const Part& part) { return i < part.first; });
    return *std::prev(behind);
}

std::string PredictionInputs::name_of(Split, std::int64_t index) const {
    const Part& part = part_of(index);
    if (part.named) return part.source->name_of(Split::train, index - part.first);
    return part.several ? fmt::format("{}[{}]", part.path, index - part.first) : part.path;
}

void PredictionInputs::load_elements(const Part& part, std::int64_t index, Sample& sample) const {
    const NpyHeader& header = part.array.header;
    const char* const from = part.array.bytes.data() + header.begin +
                             (index - part.first) * element_count(part.shape) * header.item_bytes;
    if (header.kind == NpyHeader::Kind::natural && header.item_bytes == 1) {
        sample.input().set_image({part.shape[0], part.shape[1], part.shape[2]},
                                 reinterpret_cast<const std::uint8_t*>(from));
        return;
    }
    sample.input().fill(part.shape, [&](auto elements) {
        convert_elements(header, from, part.array.name, elements);
        for (const auto value : elements) {
            if (std::isfinite(value)) continue;
            throw bad_file(name_of(Split::test, index), fmt::format("it holds {}", value),
                           "samples are finite numbers");
        }
    });
}

void PredictionInputs::load_image(const Part& part, Sample& sample) const {
    if (shape_[0] != 1 && shape_[0] != 3 && shape_[0] != 0) {
        throw bad_file(
            part.path,
            fmt::format("an image has 1 or 3 channels; samples of the plan's dataset are [{}]",
                        shape_text(shape_)),
            "give samples as arrays: .npy or .npz");
    }
    const RegularFile file(part.path);
    const std::int64_t most = plan::most_image_file(limits_.most_pixels);
    if (file.size() > most) {
        const auto [found, allowed] = unlike_bytes_text(double(file.size()), double(most));
        throw bad_file(part.path,
                       fmt::format("it has {}; an image of {} pixels has at most {}", found,
                                   limits_.most_pixels, allowed),
                       "make the image smaller; arrays are .npy or .npz files");
    }
    sample.packed.resize(std::size_t(file.size()));
    file.read(0, std::span<std::uint8_t>(sample.packed));
    decode_image(sample.packed, part.path, limits_, sample);
}

void PredictionInputs::load(Split, std::int64_t index, Sample& sample) const {
    const Part& part = part_of(index);
    if (part.source) {
        part.source->load(Split::train, index - part.first, sample);
    } else if (part.shape.empty()) {
        load_image(part, sample);
    } else {
        load_elements(part, index, sample);
    }
    leave_target_open(dataset_, sample);
}

}  // namespace dtnn::runtime
