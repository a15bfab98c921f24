#include "runtime/data/formats/mat_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kHeader = 128;
constexpr std::size_t kMostUnpacked = std::size_t{64} << 20;
constexpr int kMostDepth = 8;

/// Types of elements, and classes of arrays.
constexpr std::uint32_t kInt8 = 1, kUint8 = 2, kInt16 = 3, kUint16 = 4, kInt32 = 5, kUint32 = 6,
                        kSingle = 7, kDouble = 9, kInt64 = 12, kUint64 = 13, kMatrix = 14,
                        kCompressed = 15, kUtf8 = 16;
constexpr std::uint32_t kStructure = 2, kCharacters = 4;

struct Broken {
    const char* fact;
};

struct Element {
    std::uint32_t type = 0;
    std::string_view data;
};

std::uint32_t word(std::string_view bytes, std::size_t at) {
    if (bytes.size() < at + 4) throw Broken{"it is cut off"};
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// The element at the beginning of `bytes`, which it is taken from with its padding.
Element take(std::string_view& bytes) {
    const std::uint32_t tag = word(bytes, 0);
    Element element;
    std::size_t begin = 8, size = 0, whole = 0;
    if (tag >> 16 != 0) {  // four bytes at most, within the tag
        element.type = tag & 0xFFFF;
        size = tag >> 16;
        begin = 4;
        if (size > 4) throw Broken{"a small element is not small"};
        whole = 8;
    } else {
        element.type = tag;
        size = word(bytes, 4);
        whole = begin + size;
        if (element.type != kCompressed) whole = (whole + 7) / 8 * 8;
    }
    if (bytes.size() < begin + size) throw Broken{"it is cut off"};
    element.data = bytes.substr(begin, size);
    bytes.remove_prefix(std::min(whole, bytes.size()));
    return element;
}

std::string unpacked(std::string_view packed) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw Broken{"there is no memory to unpack it"};
    std::string text;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = uInt(packed.size());
    int result = Z_OK;
    while (result == Z_OK && text.size() < kMostUnpacked) {
        const std::size_t have = text.size();
        text.resize(have + (std::size_t{1} << 18));
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + have);
        stream.avail_out = uInt(text.size() - have);
        result = inflate(&stream, Z_NO_FLUSH);
        text.resize(text.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (result != Z_STREAM_END) throw Broken{"its compressed data is corrupt or too large"};
    return text;
}

template <class Stored>
double stored(std::string_view data) {
    Stored value{};
    if (data.size() < sizeof value) throw Broken{"a number is missing"};
    std::memcpy(&value, data.data(), sizeof value);
    return double(value);
}

struct Matrix {
    std::uint32_t array_class = 0;
    std::size_t elements = 1;
    std::string_view name;
    std::string_view rest;  ///< what the class has behind the name
};

Matrix matrix_of(const Element& element) {
    if (element.type != kMatrix) throw Broken{"an array is missing"};
    Matrix matrix;
    matrix.rest = element.data;
    if (element.data.empty()) return matrix;
    matrix.array_class = word(take(matrix.rest).data, 0) & 0xFF;
    const Element dims = take(matrix.rest);
    for (std::size_t axis = 0; axis + 4 <= dims.data.size(); axis += 4) {
        matrix.elements *= word(dims.data, axis);
        if (matrix.elements > 1'000'000) throw Broken{"an array is too large"};
    }
    matrix.name = take(matrix.rest).data;
    return matrix;
}

double number_of(const Element& element) {
    Matrix matrix = matrix_of(element);
    const Element value = take(matrix.rest);
    switch (value.type) {
        case kInt8:
            return stored<std::int8_t>(value.data);
        case kUint8:
            return stored<std::uint8_t>(value.data);
        case kInt16:
            return stored<std::int16_t>(value.data);
        case kUint16:
            return stored<std::uint16_t>(value.data);
        case kInt32:
            return stored<std::int32_t>(value.data);
        case kUint32:
            return stored<std::uint32_t>(value.data);
        case kInt64:
            return stored<std::int64_t>(value.data);
        case kUint64:
            return stored<std::uint64_t>(value.data);
        case kSingle:
            return stored<float>(value.data);
        case kDouble:
            return stored<double>(value.data);
        default:
            throw Broken{"a number is of an unknown type"};
    }
}

/// ASCII, which names of synsets are.
std::string text_of(const Element& element) {
    Matrix matrix = matrix_of(element);
    if (matrix.array_class != kCharacters) throw Broken{"a text is missing"};
    const Element value = take(matrix.rest);
    const std::size_t step = value.type == kUint16 ? 2 : 1;
    if (step == 1 && value.type != kUtf8 && value.type != kUint8 && value.type != kInt8)
        throw Broken{"a text is of an unknown type"};
    std::string text;
    for (std::size_t at = 0; at + step <= value.data.size(); at += step)
        text += value.data[at];
    return text;
}

std::map<std::int64_t, std::string> synsets_of(Matrix matrix) {
    if (matrix.array_class != kStructure) throw Broken{"`synsets` is not a structure"};
    const std::size_t length = word(take(matrix.rest).data, 0);
    const std::string_view fields = take(matrix.rest).data;
    if (length == 0 || length > 64 || fields.empty() || fields.size() % length != 0)
        throw Broken{"the names of the fields are broken"};
    const std::size_t count = fields.size() / length;
    const auto field = [&](std::size_t index) {
        const std::string_view name = fields.substr(index * length, length);
        return name.substr(0, name.find('\0'));
    };
    std::map<std::int64_t, std::string> synsets;
    for (std::size_t i = 0; i < matrix.elements; ++i) {
        std::optional<double> id;
        std::string synset;
        for (std::size_t f = 0; f < count; ++f) {
            const Element value = take(matrix.rest);
            if (field(f) == "ILSVRC2012_ID") id = number_of(value);
            if (field(f) == "WNID") synset = text_of(value);
        }
        if (!id || synset.empty() || !(*id >= 1 && *id <= 1e6) || *id != std::floor(*id))
            throw Broken{"a synset has no ILSVRC2012_ID or no WNID"};
        if (!synsets.emplace(std::int64_t(*id), synset).second)
            throw Broken{"an ILSVRC2012_ID comes twice"};
    }
    return synsets;
}

std::optional<std::map<std::int64_t, std::string>> find(std::string_view bytes, int depth) {
    while (bytes.size() >= 8) {
        const Element element = take(bytes);
        if (element.type == kCompressed && depth < kMostDepth) {
            const std::string text = unpacked(element.data);
            if (auto found = find(text, depth + 1)) return found;
        } else if (element.type == kMatrix) {
            const Matrix matrix = matrix_of(element);
            if (matrix.name == "synsets") return synsets_of(matrix);
        }
    }
    return std::nullopt;
}

}  // namespace

std::map<std::int64_t, std::string> read_synsets(const std::string& bytes,
                                                 const std::string& name) {
    try {
        if (bytes.size() < kHeader || bytes.compare(124, 4, std::string("\0\1IM", 4)) != 0)
            throw Broken{"it is no MATLAB file of level 5"};
        auto found = find(std::string_view(bytes).substr(kHeader), 0);
        if (!found) throw Broken{"it has no `synsets`"};
        return *found;
    } catch (const Broken& broken) {
        throw RunError(Exit::failed, fmt::format("{}: {}", name, broken.fact),
                       "download ImageNet's devkit again (ILSVRC2012_devkit_t12.tar.gz)");
    }
}

}  // namespace dtnn::runtime
