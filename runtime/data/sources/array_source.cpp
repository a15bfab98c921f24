#include "runtime/data/sources/array_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/quantity_text.hpp"
#include "plan/rules/lengths.hpp"
#include "runtime/base/files.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/formats/content_hash.hpp"

namespace dtnn::runtime {

void ArraySource::check_cache(const std::string& name, std::int64_t more) const {
    if (more <= expected_.cache - resident_) return;
    const auto [all, cache] = unlike_bytes_text(double(more + resident_), double(expected_.cache));
    throw bad_file(
        name,
        fmt::format("it takes {} in memory, with what is there {}; dataset.cache is {}",
                    bytes_text(double(more), BytesForm::fine), all, cache),
        fmt::format("compile the job with --set dataset.cache={}, or save the arrays with "
                    "numpy.savez, not savez_compressed: they are read where they lie then",
                    more + resident_));
}

ArraySource::ArraySource(Expected expected) : expected_(std::move(expected)) {
    plan::Dataset dataset;
    dataset.inputs = expected_.inputs;
    image_ = plan::has_image(dataset);
}

void ArraySource::check_input(const Part& part, std::size_t i) const {
    const Stored& input = part.inputs[i];
    const plan::Feature& wanted = expected_.inputs[i];
    const Dims& dims = input.header.dims;
    if (dims.empty() || squeezed(dims, 1) != squeezed(wanted.stored_dims, 0)) {
        throw bad_file(input.name,
                       fmt::format("its shape is ({}); samples of the dataset are [{}]",
                                   fmt::join(dims, ","), fmt::join(wanted.stored_dims, ",")),
                       i == 0 && image_ ? "the array is [samples, channels, height, width]: "
                                          "numpy.transpose(x, (0, 3, 1, 2)) makes it of channels "
                                          "last"
                                        : "the array is [samples] and the extents of the input");
    }
    if (dims[0] != part.samples()) {
        throw bad_file(input.name,
                       fmt::format("it has {} samples, and {} has {}", dims[0], part.inputs[0].name,
                                   part.samples()),
                       "all inputs have the same samples, in the same order");
    }
    if (wanted.kind == plan::LabelKind::classes && input.header.kind == NpyHeader::Kind::real) {
        throw bad_file(input.name,
                       fmt::format("its elements are {}; the input `{}` takes integers",
                                   input.header.type(), wanted.name),
                       "save it as integers: x.astype(numpy.int32)");
    }
    if (input.header.fortran && squeezed(dims, 0).size() > 1) {
        throw bad_file(input.name,
                       "its elements are in Fortran's order, so samples do not lie together",
                       "save numpy.ascontiguousarray(x)");
    }
}

void ArraySource::read_input(const RegularFile& file, Stored& input, ArchiveReader& archive,
                             const Member& member, bool verify) {
    if (member.zip_offset >= 0) {
        // What libarchive tells of the place is believed when the header is found there.
        std::string beginning(std::size_t(std::min(member.size, kMostNpyHeader)), '\0');
        file.read(member.zip_offset, std::span<char>(beginning));
        input.header = parse_npy_header(beginning, member.size, input.name);
        input.offset = member.zip_offset;
        if (!verify) return;
        ContentHash hash;
        hash.add(hash_);
        archive.read([&](std::string_view piece) { hash.add(piece); });
        hash_ = hash.value();
        return;
    }
    check_cache(input.name, member.size);
    NpyArray array = parse_npy(archive.read(), input.name);
    input.header = std::move(array.header);
    input.packed = std::move(array.bytes);
    resident_ += std::int64_t(input.packed.capacity());
    hash_ = ContentHash().add(hash_).add(input.packed).value();
}

ArraySource::Part ArraySource::read_part(const std::string& path, const Names& names, bool verify) {
    Part part;
    part.file = std::make_unique<RegularFile>(path);
    if (!is_zip(*part.file))
        throw bad_file(path, "this is no .npz file (a zip of NumPy arrays)",
                       "save it by numpy.savez");
    ArchiveReader archive(*part.file);
    part.inputs.resize(names.inputs.size());
    NpyArray labels;
    const bool wanted = expected_.kind != plan::LabelKind::input;
    while (const auto member = archive.next()) {
        const std::string name = path + ":" + member->path;
        const auto once = [&](bool again) {
            if (again)
                throw bad_file(name, "there are two arrays of this name", "make the file again");
        };
        const auto input =
            std::find_if(names.inputs.begin(), names.inputs.end(),
                         [&](const std::string& one) { return member->path == one + ".npy"; });
        if (input != names.inputs.end()) {
            Stored& stored = part.inputs[std::size_t(input - names.inputs.begin())];
            once(!stored.name.empty());
            stored.name = name;
            read_input(*part.file, stored, archive, *member, verify);
        } else if (wanted && member->path == names.labels + ".npy") {
            once(!labels.name.empty());
            check_cache(name, member->size);
            labels = parse_npy(archive.read(), name);
            hash_ = ContentHash().add(hash_).add(labels.bytes).value();
        }
    }
    const auto need = [&](bool found, const std::string& name) {
        if (!found)
            throw bad_file(path, fmt::format("the array `{}` is not in it", name),
                           "save both the samples and their labels");
    };
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
        need(!part.inputs[i].name.empty(), names.inputs[i]);
    need(!labels.name.empty() || !wanted, names.labels);
    settle(part, labels);
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
        check_input(part, i);
    read_lengths(part);
    set_labels(part, labels, names.first_class);
    const std::size_t label_bytes =
        (part.labels.capacity() + part.lengths.capacity()) * sizeof(std::int32_t) +
        part.masks.bytes.capacity() + part.targets.capacity() * sizeof(double);
    check_cache(path, std::int64_t(label_bytes));
    resident_ += std::int64_t(label_bytes);
    hash_ = ContentHash().add(hash_).add(std::uint64_t(part.file->size())).value();
    return part;
}

std::unique_ptr<ArraySource> ArraySource::open_archive(const std::string& path, Expected expected) {
    std::unique_ptr<ArraySource> source(new ArraySource(std::move(expected)));
    const std::string& part = source->expected_.part;
    const std::string ending = !part.empty() ? "_" + part
                               : source->expected_.split
                                   ? "_train"
                                   : source->ending_without_split(path, "_train");
    source->of(Split::train).push_back(source->read_part(path, source->names(ending), true));
    if (source->expected_.split)
        source->of(Split::test).push_back(source->read_part(path, source->names("_test"), true));
    source->check_counts(path);
    return source;
}

ArraySource::Names ArraySource::names(const std::string& ending) const {
    Names names;
    for (const plan::Feature& input : expected_.inputs)
        names.inputs.push_back((input.name.empty() ? "x" : input.name) + ending);
    names.labels = "y" + ending;
    return names;
}

std::string ArraySource::ending_without_split(const std::string& path, const char* other) const {
    const RegularFile file(path);
    if (is_zip(file)) {
        ArchiveReader archive(file);
        const std::string first = names("").inputs.front() + ".npy";
        while (const auto member = archive.next())
            if (member->path == first) return "";
    }
    return other;
}

std::unique_ptr<ArraySource> ArraySource::open_shards(const std::string& folder,
                                                      Expected expected) {
    namespace fs = std::filesystem;
    std::unique_ptr<ArraySource> source(new ArraySource(std::move(expected)));
    for (const Split split : {Split::train, Split::test}) {
        std::error_code error;
        std::string inner = folder + (split == Split::train ? "/train" : "/val");
        if (split == Split::test && !fs::exists(inner, error)) inner = folder + "/test";
        std::vector<std::string> shards;
        for (fs::directory_iterator at(inner, error); !error && at != fs::directory_iterator();
             at.increment(error)) {
            if (at->path().extension() == ".npz") shards.push_back(at->path().string());
        }
        if (error) throw system_error("read the folder", inner, error.value());
        std::sort(shards.begin(), shards.end());
        for (const std::string& shard : shards)
            source->of(split).push_back(source->read_part(shard, {{"x"}, "y", 1}, false));
    }
    source->verified_ = false;
    source->check_counts(folder);
    return source;
}

bool ArraySource::has_shards(const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    for (fs::directory_iterator at(folder + "/train", error);
         !error && at != fs::directory_iterator(); at.increment(error))
        if (at->path().extension() == ".npz") return true;
    return false;
}

void ArraySource::check_counts(const std::string& path) const {
    const std::int64_t train = size(Split::train), test = size(Split::test);
    const bool at_most = expected_.counts == Counts::at_most;
    const auto right = [&](std::int64_t found, std::int64_t wanted) {
        return expected_.counts == Counts::any || found == wanted ||
               (at_most && found > 0 && found < wanted);
    };
    if (right(train, expected_.train_samples) && right(test, expected_.test_samples)) return;
    throw RunError(
        Exit::mismatch,
        fmt::format("{} has {} training and {} test samples; the plan expects {}{} and {}", path,
                    train, test, at_most ? "at most " : "", expected_.train_samples,
                    expected_.test_samples),
        fmt::format("if the file is right, compile the job with --set dataset.train_samples={} "
                    "--set dataset.test_samples={}",
                    train, test));
}

std::int64_t ArraySource::size(Split split) const {
    std::int64_t samples = 0;
    for (const Part& part : of(split))
        samples += part.samples();
    return samples;
}

const ArraySource::Part& ArraySource::part_of(Split split, std::int64_t& index) const {
    for (const Part& part : of(split)) {
        if (index < part.samples()) return part;
        index -= part.samples();
    }
    throw RunError(Exit::internal, "a sample beyond the last");
}

std::string ArraySource::name_of(Split split, std::int64_t index) const {
    const Part& part = part_of(split, index);
    return fmt::format("{}[{}]", part.inputs[0].name, index);
}

const char* ArraySource::elements(const Part& part, std::size_t i, std::int64_t sample,
                                  std::vector<std::uint8_t>& room) const {
    const Stored& input = part.inputs[i];
    const std::int64_t bytes =
        element_count(expected_.inputs[i].stored_dims) * input.header.item_bytes;
    const std::int64_t place = input.header.begin + sample * bytes;
    if (input.given.bytes != nullptr) return given_elements(input.given, sample, room);
    if (input.offset < 0) return input.packed.data() + place;
    room.resize(std::size_t(bytes));
    part.file->read(input.offset + place, std::span<std::uint8_t>(room));
    return reinterpret_cast<const char*>(room.data());
}

namespace {

bool are_bytes(const NpyHeader& header) {
    return header.kind == NpyHeader::Kind::natural && header.item_bytes == 1;
}

}  // namespace

void ArraySource::load_input(const Part& part, std::size_t i, std::int64_t at,
                             Sample& sample) const {
    const plan::Feature& wanted = expected_.inputs[i];
    const Stored& input = part.inputs[i];
    const Dims& dims = wanted.stored_dims;
    const char* const from = elements(part, i, at, sample.packed);
    const auto name = [&] { return fmt::format("{}[{}]", input.name, at); };
    SampleArray& array = sample.inputs[i];
    const auto there = std::size_t(counted(part, at, plan::has_steps(wanted), dims));
    if (wanted.kind == plan::LabelKind::classes) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(dims)));
        convert_elements(input.header, from, input.name, std::span<std::int64_t>(values));
        array.dims = dims;
        array.integers.clear();
        std::fill(values.begin() + std::ptrdiff_t(there), values.end(), std::int64_t{0});
        for (const std::int64_t value : values) {
            if (value < 0 || value >= wanted.classes)
                throw bad_file(name(),
                               fmt::format("it holds {}; the input `{}` may have 0 to {}", value,
                                           wanted.name, wanted.classes - 1),
                               "correct the array, or give the model's input more `values`");
            array.integers.push_back(std::int32_t(value));
        }
        return;
    }
    const bool bytes = are_bytes(input.header);
    if (bytes && i == 0 && image_)
        return array.set_image({dims[0], dims[1], dims[2]},
                               reinterpret_cast<const std::uint8_t*>(from));
    array.fill(dims, [&](auto to) {
        using Real = typename decltype(to)::value_type;
        convert_elements(input.header, from, input.name, to);
        std::fill(to.begin() + std::ptrdiff_t(there), to.end(), Real(0));
        // To the end whatever is found, so that the loop is one of vectors.
        bool finite = true;
        for (const Real value : to)
            finite &= std::isfinite(value);
        if (!finite)
            throw bad_file(name(), "it holds a value that is not a finite number",
                           "correct the array: one such value spoils all weights");
        if (!bytes) return;
        for (Real& value : to)
            value /= 255;
    });
}

void ArraySource::load(Split split, std::int64_t index, Sample& sample) const {
    std::int64_t at = index;
    const Part& part = part_of(split, at);
    sample.inputs.resize(part.inputs.size());
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
        load_input(part, i, at, sample);
    load_labels(part, at, sample);
}

}  // namespace dtnn::runtime
