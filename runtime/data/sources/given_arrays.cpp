/// Arrays of samples that are to be predicted: no splits, no labels.

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/file_limits.hpp"
#include "runtime/data/formats/archive_reader.hpp"
#include "runtime/data/sources/array_source.hpp"

namespace dtnn::runtime {

std::unique_ptr<ArraySource> ArraySource::open_given(const std::string& path,
                                                     std::vector<plan::Feature> inputs,
                                                     std::int64_t cache, bool lengths) {
    Expected expected;
    expected.lengths = lengths;
    expected.inputs = std::move(inputs);
    expected.kind = plan::LabelKind::input;
    expected.cache = cache;
    expected.counts = Counts::any;
    std::unique_ptr<ArraySource> source(new ArraySource(std::move(expected)));
    source->of(Split::train)
        .push_back(is_zip(RegularFile(path))
                       ? source->read_part(path, source->given_names(path), true)
                       : source->read_array(path));
    return source;
}

std::unique_ptr<ArraySource> ArraySource::of_memory(std::vector<plan::Feature> inputs,
                                                    bool lengths) {
    Part part;
    for (plan::Feature& input : inputs) {
        if (input.stored_dims.empty()) input.stored_dims = input.dims;
        Stored stored;
        stored.name = input.name.empty() ? "the array" : fmt::format("the array `{}`", input.name);
        stored.header.dims = {0};
        stored.given_dims = input.stored_dims;
        part.inputs.push_back(std::move(stored));
    }
    Expected expected;
    expected.kind = plan::LabelKind::input;
    expected.lengths = lengths;
    expected.counts = Counts::any;
    expected.inputs = std::move(inputs);
    std::unique_ptr<ArraySource> source(new ArraySource(std::move(expected)));
    source->of(Split::train).push_back(std::move(part));
    return source;
}

void ArraySource::take(std::vector<GivenArray> arrays) {
    Part& part = of(Split::train).front();
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
        Stored& stored = part.inputs[i];
        stored.given = std::move(arrays[i]);
        stored.header = stored.given.header;
        const Dims& dims = stored.header.dims;
        Dims& wanted = expected_.inputs[i].stored_dims;
        wanted = stored.given_dims;
        // Of several sizes: this array has one.
        for (std::size_t axis = 0; axis < wanted.size(); ++axis)
            if (wanted[axis] == 0 && dims.size() == wanted.size() + 1)
                wanted[axis] = dims[axis + 1];
    }
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
        check_input(part, i);
    read_lengths(part);
}

const char* ArraySource::given_elements(const GivenArray& array, std::int64_t sample,
                                        std::vector<std::uint8_t>& room) {
    const Dims& dims = array.header.dims;
    const auto item = std::size_t(array.header.item_bytes);
    const std::size_t elements = std::size_t(element_count({dims.begin() + 1, dims.end()}));
    if (array.strides.empty()) return array.bytes + std::size_t(sample) * elements * item;
    room.resize(elements * item);
    const char* from = array.bytes + sample * array.strides[0];
    std::vector<std::int64_t> at(dims.size(), 0);
    for (std::size_t i = 0; i < elements; ++i) {
        std::memcpy(room.data() + i * item, from, item);
        // The next place, as an odometer counts.
        for (std::size_t axis = dims.size(); axis-- > 1;) {
            from += array.strides[axis];
            if (++at[axis] < dims[axis]) break;
            from -= array.strides[axis] * dims[axis];
            at[axis] = 0;
        }
    }
    return reinterpret_cast<const char*>(room.data());
}

ArraySource::Part ArraySource::read_array(const std::string& path) {
    Part part;
    part.file = std::make_unique<RegularFile>(path);
    NpyArray array = parse_npy(part.file->read_all(kMostTensorBytes, "an array"), path);
    part.inputs.push_back({path, std::move(array.header), -1, std::move(array.bytes)});
    resident_ += std::int64_t(part.inputs[0].packed.capacity());
    check_input(part, 0);
    return part;
}

ArraySource::Names ArraySource::given_names(const std::string& path) const {
    Names found = names(ending_without_split(path, "_test"));
    if (!expected_.inputs[0].name.empty()) return found;
    const RegularFile file(path);
    ArchiveReader archive(file);
    std::vector<std::string> arrays;
    while (const auto member = archive.next())
        arrays.push_back(member->path.substr(0, member->path.rfind(".npy")));
    if (arrays.size() == 1) found.inputs = arrays;
    return found;
}

}  // namespace dtnn::runtime
