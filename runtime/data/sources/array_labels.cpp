/// The labels of arrays: one for each sample, or pixel, or step, rows of numbers, and sequences.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/rules/label_sequences.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/sources/array_source.hpp"

namespace dtnn::runtime {
namespace {

std::int32_t checked_class(const NpyArray& array, std::int64_t sample, std::int64_t value,
                           std::int64_t first, std::int64_t classes) {
    if (value >= first && value - first < classes) return std::int32_t(value - first);
    throw bad_file(array.name,
                   fmt::format("the label of sample {} is {}; labels are {} to {}", sample, value,
                               first, first + classes - 1),
                   "correct the array, or compile the job with the right dataset.classes");
}

/// The one of a row that is 1.
std::int64_t one_hot(const NpyArray& array, std::int64_t sample, std::span<const double> row) {
    const auto ones = std::count(row.begin(), row.end(), 1.0);
    const auto zeros = std::count(row.begin(), row.end(), 0.0);
    if (ones == 1 && zeros + ones == std::ptrdiff_t(row.size()))
        return std::find(row.begin(), row.end(), 1.0) - row.begin();
    throw bad_file(
        array.name,
        fmt::format("the row of labels of sample {} is not a single 1 among zeros", sample),
        "with several labels a sample compile the job with dataset.label_kind=multiple");
}

/// What an array of images says of one: without an axis of channels it has one channel; a row of
/// numbers is channels.
Dims image_shape(Dims extents) {
    constexpr std::size_t kHeightAndWidth = 2;
    if (extents.size() == kHeightAndWidth) extents.insert(extents.begin(), 1);
    extents.resize(std::max(extents.size(), image_axes().size()), 1);
    return extents;
}

}  // namespace

void ArraySource::settle(const Part& part, const NpyArray& labels) {
    Dims& shape = expected_.inputs[0].stored_dims;
    if (const Dims& dims = part.inputs[0].header.dims; shape.empty() && !dims.empty()) {
        shape = image_shape({dims.begin() + 1, dims.end()});
    }
    const Dims& dims = labels.header.dims;
    const bool sequences = expected_.sequences.has_value();
    if (sequences && expected_.sequences->room == 0)
        expected_.sequences->room = dims.size() > 1 ? dims[1] : 1;
    if (expected_.kind == plan::LabelKind::input || expected_.classes > 0 || dims.empty()) return;
    if (dims == Dims{dims[0], dims.back()} && dims.back() > 1 && !expected_.pixels && !sequences) {
        expected_.classes = dims.back();  // a row of numbers each
        return;
    }
    if (!plan::are_integers(expected_.kind)) {
        expected_.classes = 1;
        return;
    }
    constexpr std::int64_t kMost = 1'000'000;
    std::vector<std::int64_t> values(static_cast<std::size_t>(labels.header.elements()));
    labels.copy(std::span<std::int64_t>(values));
    if (expected_.ignored) std::erase(values, *expected_.ignored);
    const auto greatest = std::max_element(values.begin(), values.end());
    if (greatest == values.end()) return;
    if (*greatest < 0 || *greatest >= kMost)
        throw bad_file(labels.name, fmt::format("a label is {}, no class", *greatest),
                       "classes are numbers from 0; for others give the dataset `label_kind: "
                       "values`");
    expected_.classes = *greatest + 1;
}

Attributes ArraySource::found_attributes() const {
    if (!expected_.sequences) return {};
    return {{plan::kMostLabels, expected_.sequences->room}};
}

Dims ArraySource::places() const {
    plan::Feature stored = expected_.inputs[0], places;
    stored.dims = stored.stored_dims;
    plan::label_places(stored, places);
    return places.dims;
}

void ArraySource::set_masks(Part& part, NpyArray& array) {
    Dims wanted = places();
    const std::int64_t pixels = element_count(wanted);
    wanted.insert(wanted.begin(), part.samples());
    const NpyHeader& header = array.header;
    if (header.dims.empty() || squeezed(header.dims, 0) != squeezed(wanted, 0) || header.fortran ||
        header.kind == NpyHeader::Kind::real) {
        throw bad_file(
            array.name,
            fmt::format("it is {} of the shape ({}); with `labels: {}` it must be "
                        "whole numbers of ({})",
                        header.type(), fmt::join(header.dims, ","), image_ ? "pixel" : "step",
                        fmt::join(wanted, ",")),
            fmt::format("there is a class for every {} of every sample, in row-major order",
                        image_ ? "pixel" : "step"));
    }
    std::vector<std::int64_t> values(static_cast<std::size_t>(pixels));
    const std::int64_t bytes = std::int64_t(values.size()) * header.item_bytes;
    const bool has_steps = plan::has_steps(expected_.inputs[0]);
    for (std::int64_t i = 0; i < part.samples(); ++i) {
        convert_elements(header, array.bytes.data() + header.begin + i * bytes, array.name,
                         std::span<std::int64_t>(values));
        values.resize(std::size_t(counted(part, i, has_steps, places())));
        for (const std::int64_t value : values)
            if (value != expected_.ignored) checked_class(array, i, value, 0, expected_.classes);
        values.resize(std::size_t(pixels));
    }
    part.masks = std::move(array);
}

void ArraySource::check_sequence(const Part& part, const NpyArray& array, std::int64_t at,
                                 std::span<const std::int64_t> row) const {
    const Sequences& sequences = *expected_.sequences;
    std::vector<std::int32_t> labels;
    for (std::size_t place = 0; place < row.size(); ++place) {
        const std::int64_t value = row[place];
        if (value == expected_.ignored) continue;
        const auto refuse = [&](const std::string& fact, const std::string& help) {
            throw bad_file(fmt::format("{}[{},{}]", array.name, at, place), fact, help);
        };
        if (value < 0 || value >= expected_.classes)
            refuse(fmt::format("it is {}; labels are 0 to {}, and {} stands behind the last of a "
                               "sample",
                               value, expected_.classes - 1, *expected_.ignored),
                   "correct the array, or compile the job with the right dataset.classes and "
                   "dataset.ignored_value");
        if (value == sequences.blank)
            refuse(fmt::format("it is {}, the blank, which is no label", value),
                   "leave blanks out of the array: the loss puts them between labels itself; or "
                   "give the loss another `blank`");
        if (labels.size() < place)
            refuse(fmt::format("it is {}, and the labels of the sample have ended at {} with {}",
                               value, labels.size(), *expected_.ignored),
                   "write the labels of a sample first in its row, without holes");
        labels.push_back(std::int32_t(value));
    }
    if (sequences.steps == 0) return;
    // The predictions have the steps of the samples, or others, all of which count.
    const bool own =
        !part.lengths.empty() && sequences.steps == expected_.inputs.back().classes - 1;
    const std::int64_t steps = own ? part.lengths[std::size_t(at)] : sequences.steps;
    const std::int64_t least = plan::least_steps(labels);
    if (least <= steps) return;
    throw bad_file(
        fmt::format("{}[{}]", array.name, at),
        fmt::format("it has {} labels, which take {} steps{}, and {} {}", labels.size(), least,
                    least > std::int64_t(labels.size()) ? ", as equal neighbours have a blank "
                                                          "between them"
                                                        : "",
                    own ? "the sample has" : "the model gives", steps),
        own ? "leave the sample out, or correct its length"
            : "leave the sample out, or give the model more steps: fewer strides and windows");
}

void ArraySource::set_sequences(Part& part, NpyArray& array) const {
    const std::int64_t samples = part.samples(), room = expected_.sequences->room;
    const NpyHeader& header = array.header;
    const bool rows =
        header.dims == Dims{samples, room} || (room == 1 && header.dims == Dims{samples});
    if (!rows || header.fortran || header.kind == NpyHeader::Kind::real || !expected_.ignored)
        throw bad_file(
            array.name,
            fmt::format("it is {} of the shape ({}); with `labels: sequence` it must be whole "
                        "numbers of ({},{})",
                        header.type(), fmt::join(header.dims, ","), samples, room),
            "there is a row of labels for every sample, in row-major order, filled up with "
            "dataset.ignored_value to dataset.most_labels");
    std::vector<std::int64_t> row(static_cast<std::size_t>(room));
    const std::int64_t bytes = room * header.item_bytes;
    for (std::int64_t i = 0; i < samples; ++i) {
        convert_elements(header, array.bytes.data() + header.begin + i * bytes, array.name,
                         std::span<std::int64_t>(row));
        check_sequence(part, array, i, row);
    }
    part.masks = std::move(array);
}

void ArraySource::set_labels(Part& part, NpyArray& array, std::int64_t first_class) {
    if (expected_.kind == plan::LabelKind::input) return;
    if (expected_.pixels) return set_masks(part, array);
    if (expected_.sequences) return set_sequences(part, array);
    const std::int64_t samples = part.samples(), classes = expected_.classes;
    const std::int64_t elements = array.header.elements();
    const Dims& dims = array.header.dims;
    const bool rows = dims == Dims{samples, classes};
    const bool column = dims == Dims{samples} || dims == Dims{samples, 1};
    const bool of_classes = expected_.kind == plan::LabelKind::classes;
    if (!rows && !(column && (of_classes || classes == 1))) {
        throw bad_file(
            array.name,
            fmt::format("its shape is ({}); for {} samples it must be ({}{},{})",
                        fmt::join(dims, ","), samples,
                        of_classes ? fmt::format("{},) or (", samples) : "", samples, classes),
            "there is a label, or a row of them, for every sample, in the same order");
    }
    if (of_classes && column) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(samples));
        array.copy(std::span<std::int64_t>(values));
        part.labels.reserve(values.size());
        for (std::int64_t i = 0; i < samples; ++i)
            part.labels.push_back(
                checked_class(array, i, values[std::size_t(i)], first_class, classes));
        return;
    }
    std::vector<double> values(static_cast<std::size_t>(elements));
    array.copy(std::span<double>(values));
    if (of_classes) part.labels.reserve(std::size_t(samples));
    for (std::int64_t i = 0; i < samples; ++i) {
        const std::span<const double> row(values.data() + i * classes, std::size_t(classes));
        if (of_classes) {
            part.labels.push_back(std::int32_t(one_hot(array, i, row)));
            continue;
        }
        const bool multiple = expected_.kind == plan::LabelKind::multiple;
        for (const double value : row) {
            if (multiple ? value == 0.0 || value == 1.0 : std::isfinite(value)) continue;
            throw bad_file(array.name,
                           fmt::format("a label of sample {} is {}; it must be {}", i, value,
                                       multiple ? "0 or 1" : "a finite number"),
                           "correct the array");
        }
    }
    if (!of_classes) part.targets = std::move(values);
}

void ArraySource::load_labels(const Part& part, std::int64_t at, Sample& sample) const {
    if (expected_.pixels) {
        const NpyHeader& header = part.masks.header;
        SampleArray& target = sample.target();
        target.dims = places();
        const auto pixels = std::size_t(element_count(target.dims));
        target.integers.resize(pixels);
        std::vector<std::int64_t> values(pixels);
        convert_elements(
            header,
            part.masks.bytes.data() + header.begin + at * std::int64_t(pixels) * header.item_bytes,
            part.masks.name, std::span<std::int64_t>(values));
        std::transform(
            values.begin(), values.end(), target.integers.begin(), [&](std::int64_t value) {
                return value == expected_.ignored ? plan::kIgnoredLabel : std::int32_t(value);
            });
        const std::int64_t there =
            counted(part, at, plan::has_steps(expected_.inputs[0]), target.dims);
        std::fill(target.integers.begin() + std::ptrdiff_t(there), target.integers.end(),
                  plan::kIgnoredLabel);
    } else if (expected_.sequences) {
        const NpyHeader& header = part.masks.header;
        std::vector<std::int64_t> row(static_cast<std::size_t>(expected_.sequences->room));
        convert_elements(header,
                         part.masks.bytes.data() + header.begin +
                             at * std::int64_t(row.size()) * header.item_bytes,
                         part.masks.name, std::span<std::int64_t>(row));
        SampleArray& target = sample.target();
        target.dims = {};
        target.integers.resize(row.size());
        std::transform(row.begin(), row.end(), target.integers.begin(), [&](std::int64_t value) {
            return value == expected_.ignored ? plan::kIgnoredLabel : std::int32_t(value);
        });
    } else if (expected_.kind == plan::LabelKind::classes) {
        sample.target().set_class(part.labels[std::size_t(at)]);
    } else if (expected_.kind != plan::LabelKind::input) {
        const auto row = part.targets.begin() + at * expected_.classes;
        sample.target().doubles.assign(row, row + expected_.classes);
    }
}

}  // namespace dtnn::runtime
