/// Arrays of samples that are to be predicted: no splits, no labels.

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
