/// Samples of arrays that have fewer steps than there is room for.

#include <fmt/format.h>

#include <algorithm>

#include "plan/rules/lengths.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/sources/array_source.hpp"

namespace dtnn::runtime {

void ArraySource::read_lengths(Part& part) const {
    if (!expected_.lengths) return;
    const Stored& input = part.inputs.back();
    const std::int64_t steps = expected_.inputs.back().classes - 1;
    const NpyHeader& header = input.header;
    std::vector<std::int64_t> values(static_cast<std::size_t>(part.samples()));
    std::vector<std::uint8_t> room;
    if (input.given.bytes != nullptr) {
        for (std::int64_t i = 0; i < part.samples(); ++i)
            convert_elements(header, elements(part, part.inputs.size() - 1, i, room), input.name,
                             std::span<std::int64_t>(values).subspan(std::size_t(i), 1));
    } else if (input.offset < 0) {
        convert_elements(header, input.packed.data() + header.begin, input.name,
                         std::span<std::int64_t>(values));
    } else {
        room.resize(values.size() * std::size_t(header.item_bytes));
        part.file->read(input.offset + header.begin, std::span<std::uint8_t>(room));
        convert_elements(header, reinterpret_cast<const char*>(room.data()), input.name,
                         std::span<std::int64_t>(values));
    }
    part.lengths.clear();
    part.lengths.reserve(values.size());
    for (const std::int64_t value : values) {
        if (value < 1 || value > steps)
            throw bad_file(fmt::format("{}[{}]", input.name, part.lengths.size()),
                           fmt::format("it is {}; a sample has 1 to {} steps", value, steps),
                           "correct the array, leave samples of no steps out, or give the model's "
                           "inputs more steps");
        part.lengths.push_back(std::int32_t(value));
    }
}

std::int64_t ArraySource::counted(const Part& part, std::int64_t at, bool has_steps,
                                  const Dims& dims) const {
    const std::int64_t all = element_count(dims);
    if (part.lengths.empty() || !has_steps) return all;
    return all / dims[0] * std::min<std::int64_t>(part.lengths[std::size_t(at)], dims[0]);
}

}  // namespace dtnn::runtime
