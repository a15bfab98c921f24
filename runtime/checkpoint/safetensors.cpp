#include "runtime/checkpoint/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/file_limits.hpp"
#include "base/formats.hpp"
#include "base/json.hpp"
#include "base/utf8.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/npz_writer.hpp"

namespace dtnn::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie");

constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr std::size_t kMostAxes = 32;

constexpr const char* kOwn = "dtnn";
constexpr const char* kNumberKey = "format_version";
const std::string kNumber = std::to_string(formats::kWeights.number);

struct TypeName {
    DType dtype;
    const char* name;
};
constexpr TypeName kTensorTypes[] = {
    {DType::f32, "F32"}, {DType::f64, "F64"},   {DType::i32, "I32"}, {DType::i64, "I64"},
    {DType::u8, "U8"},   {DType::bf16, "BF16"}, {DType::fp16, "F16"}};

const char* type_name(DType dtype) {
    for (const TypeName& type : kTensorTypes) {
        if (type.dtype == dtype) return type.name;
    }
    return "";
}

std::optional<DType> type_of(const std::string& name) {
    for (const TypeName& type : kTensorTypes) {
        if (name == type.name) return type.dtype;
    }
    return std::nullopt;
}

/// Throws about one file.
class HeaderReader {
  public:
    HeaderReader(const std::string& path, std::size_t data) : path_(path), data_(data) {}

    [[noreturn]] void refuse(const std::string& fact) const {
        throw RunError(Exit::mismatch, path_ + " is not a sound safetensors file: " + fact,
                       "name a weights.safetensors that a run has written");
    }

    std::uint64_t whole_number(const Json& value, const std::string& what) const {
        if (value.is_number_unsigned()) return value.get<std::uint64_t>();
        refuse(what + " is not a whole number");
    }

    StoredTensor tensor(const std::string& name, const Json& entry, const char* data) const {
        if (name.size() > kMostTensorName)
            refuse(fmt::format("the name `{}` has {} bytes; there are at most {}", printable(name),
                               name.size(), kMostTensorName));
        if (!entry.is_object()) refuse(fmt::format("the entry of `{}` is not an object", name));
        for (const auto& item : entry.items()) {
            if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets") {
                refuse(fmt::format("`{}` has the unknown field `{}`", name, item.key()));
            }
        }
        const auto dtype = entry.find("dtype"), shape = entry.find("shape"),
                   offsets = entry.find("data_offsets");
        if (dtype == entry.end() || shape == entry.end() || offsets == entry.end()) {
            refuse(fmt::format("`{}` lacks one of dtype, shape, data_offsets", name));
        }
        StoredTensor tensor;
        tensor.name = name;
        const auto known = dtype->is_string() ? type_of(dtype->get<std::string>()) : std::nullopt;
        if (!known) refuse(fmt::format("the dtype of `{}` is unknown", name));
        tensor.dtype = *known;
        if (!shape->is_array() || shape->size() > kMostAxes) {
            refuse(fmt::format("the shape of `{}` is not a list of at most {} sizes", name,
                               kMostAxes));
        }
        // No tensor is larger than the file, so no product grows beyond what a number holds.
        std::uint64_t bytes = std::uint64_t(size_of(tensor.dtype));
        bool empty = false;
        for (const Json& dim : *shape) {
            const std::uint64_t size = whole_number(dim, fmt::format("a size of `{}`", name));
            if (size > std::uint64_t(std::numeric_limits<std::int64_t>::max())) {
                refuse(fmt::format("a size of `{}` is too large", name));
            }
            tensor.dims.push_back(std::int64_t(size));
            empty = empty || size == 0;
        }
        for (const std::int64_t dim : tensor.dims) {
            if (empty) break;
            if (std::uint64_t(dim) > data_ / bytes) {
                refuse(fmt::format("`{}` is larger than the file", name));
            }
            bytes *= std::uint64_t(dim);
        }
        if (empty) bytes = 0;
        if (!offsets->is_array() || offsets->size() != 2) {
            refuse(fmt::format("the data_offsets of `{}` are not two numbers", name));
        }
        const std::uint64_t begin = whole_number((*offsets)[0], "an offset of `" + name + "`");
        const std::uint64_t end = whole_number((*offsets)[1], "an offset of `" + name + "`");
        if (begin > end || end > data_) {
            refuse(fmt::format("`{}` lies at bytes {} to {} of {}", name, begin, end, data_));
        }
        if (end - begin != bytes) {
            refuse(
                fmt::format("`{}` has {} bytes; its shape asks for {}", name, end - begin, bytes));
        }
        tensor.bytes = {reinterpret_cast<const std::byte*>(data) + begin, std::size_t(bytes)};
        return tensor;
    }

  private:
    const std::string& path_;
    std::size_t data_;
};

}  // namespace

const StoredTensor* Safetensors::find(const std::string& name) const {
    const auto found = places.find(name);
    return found == places.end() ? nullptr : &tensors[found->second];
}

std::map<std::string, std::string> own_metadata(const std::string& model, const std::string& plan) {
    return {{kFormatKey, kOwn}, {kNumberKey, kNumber}, {"model", model}, {"plan", plan}};
}

bool is_own(const std::map<std::string, std::string>& metadata) {
    const auto writer = metadata.find(kFormatKey);
    return writer != metadata.end() && writer->second == kOwn;
}

std::string write_safetensors(const std::string& path, std::span<const StoredTensor> tensors,
                              const std::map<std::string, std::string>& metadata) {
    Json header = Json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::size_t offset = 0;
    std::unordered_set<std::string_view> names = {"__metadata__"};
    for (const StoredTensor& tensor : tensors) {
        check_tensor_name(tensor.name, path);
        if (!names.insert(tensor.name).second)
            throw RunError(Exit::failed, fmt::format("cannot write {}: two tensors are called `{}`",
                                                     path, printable(tensor.name)));
        add_member(header, tensor.name,
                   {{"dtype", type_name(tensor.dtype)},
                    {"shape", tensor.dims},
                    {"data_offsets", {offset, offset + tensor.bytes.size()}}});
        offset += tensor.bytes.size();
    }
    std::string text = write_json(header);
    // The data begins at a multiple of 8, so that a mapped file can be used as it is.
    text.append((8 - text.size() % 8) % 8, ' ');
    const std::uint64_t length = text.size();
    char prefix[sizeof length];
    std::memcpy(prefix, &length, sizeof length);
    std::vector<std::string_view> parts = {{prefix, sizeof prefix}, text};
    for (const StoredTensor& tensor : tensors)
        parts.emplace_back(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    write_file(path, parts);
    Checksum checksum;
    for (const std::string_view part : parts)
        checksum.add(part);
    return checksum.text();
}

Safetensors parse_safetensors(std::string content, const std::string& path) {
    Safetensors file;
    file.content = std::move(content);
    std::uint64_t length = 0;
    if (file.content.size() < sizeof length) {
        HeaderReader(path, 0).refuse(fmt::format("it has {} bytes", file.content.size()));
    }
    std::memcpy(&length, file.content.data(), sizeof length);
    const std::uint64_t rest = file.content.size() - sizeof length;
    if (length > rest || length > kMostHeader) {
        HeaderReader(path, 0).refuse(
            fmt::format("its header has {} bytes; {} follow, and {} are the "
                        "limit",
                        length, rest, kMostHeader));
    }
    const char* header_begin = file.content.data() + sizeof length;
    const std::size_t data = std::size_t(rest - length);
    const HeaderReader reader(path, data);
    const Json header = parse_json_or_discard({header_begin, length});
    if (!header.is_object()) reader.refuse("its header is not a JSON object");
    for (const auto& item : header.items()) {
        if (item.key() != "__metadata__") {
            file.tensors.push_back(reader.tensor(item.key(), item.value(), header_begin + length));
            continue;
        }
        if (!item.value().is_object()) reader.refuse("its __metadata__ is not an object");
        for (const auto& entry : item.value().items()) {
            if (!entry.value().is_string()) reader.refuse("its __metadata__ holds more than text");
            file.metadata[entry.key()] = entry.value().get<std::string>();
        }
    }
    if (is_own(file.metadata)) {
        // Those of releases before 0.2 do not say it.
        const auto number = file.metadata.find(kNumberKey);
        if (number != file.metadata.end() && number->second != kNumber)
            throw RunError(
                Exit::mismatch,
                fmt::format("{}: {}", path, other_format(formats::kWeights, number->second)),
                "read it with the release that wrote it, and export it as .npz");
    }
    std::stable_sort(file.tensors.begin(), file.tensors.end(),
                     [](const StoredTensor& a, const StoredTensor& b) {
                         return a.bytes.data() != b.bytes.data() ? a.bytes.data() < b.bytes.data()
                                                                 : a.bytes.size() < b.bytes.size();
                     });
    const auto* next = reinterpret_cast<const std::byte*>(header_begin + length);
    const auto* end = next + data;
    for (const StoredTensor& tensor : file.tensors) {
        if (tensor.bytes.data() < next) {
            reader.refuse(fmt::format("`{}` overlaps the tensor before it", tensor.name));
        }
        if (tensor.bytes.data() > next) {
            reader.refuse(fmt::format("there is a gap before `{}`", tensor.name));
        }
        next += tensor.bytes.size();
    }
    for (std::size_t i = 0; i < file.tensors.size(); ++i)
        file.places.emplace(file.tensors[i].name, i);
    if (next != end) {
        reader.refuse(fmt::format("{} bytes follow the last tensor", end - next));
    }
    return file;
}

std::map<std::string, std::string> read_safetensors_metadata(const std::string& path) {
    try {
        const RegularFile file(path, Exit::mismatch);
        std::uint64_t length = 0;
        if (file.size() < std::int64_t(sizeof length)) return {};
        std::string prefix(sizeof length, '\0');
        file.read(0, std::span<char>(prefix));
        std::memcpy(&length, prefix.data(), sizeof length);
        if (length > kMostHeader || length > std::uint64_t(file.size()) - sizeof length) return {};
        std::string text(std::size_t(length), '\0');
        file.read(std::int64_t(sizeof length), std::span<char>(text));
        std::map<std::string, std::string> metadata;
        const Json header = parse_json_or_discard(text);
        if (!header.is_object() || !header.contains("__metadata__")) return {};
        for (const auto& entry : header.at("__metadata__").items())
            if (entry.value().is_string()) metadata[entry.key()] = entry.value().get<std::string>();
        return metadata;
    } catch (const RunError&) {
        return {};
    }
}

Safetensors read_safetensors(const std::string& path) {
    return parse_safetensors(read_file(path, kMostTensorBytes, "a file of tensors", Exit::mismatch),
                             path);
}

}  // namespace dtnn::runtime
