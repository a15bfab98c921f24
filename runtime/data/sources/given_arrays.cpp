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
                                                     std::int64_t cache) {
    Expected expected;
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
                                                    std::vector<GivenArray> arrays) {
    Expected expected;
    expected.kind = plan::LabelKind::input;
    expected.counts = Counts::any;
    Part part;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        plan::Feature& input = inputs[i];
        if (input.stored_dims.empty()) input.stored_dims = input.dims;
        const Dims& dims = arrays[i].header.dims;
        // Of several sizes: this array has one.
        for (std::size_t axis = 0; axis < input.stored_dims.size(); ++axis)
            if (input.stored_dims[axis] == 0 && dims.size() == input.stored_dims.size() + 1)
                input.stored_dims[axis] = dims[axis + 1];
        part.inputs.push_back(
            {input.name.empty() ? "the array" : fmt::format("the array `{}`", input.name),
             arrays[i].header, -1, "", std::move(arrays[i])});
    }
    expected.inputs = std::move(inputs);
    std::unique_ptr<ArraySource> source(new ArraySource(std::move(expected)));
    for (std::size_t i = 0; i < part.inputs.size(); ++i)
        source->check_input(part, i);
    source->of(Split::train).push_back(std::move(part));
    return source;
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
