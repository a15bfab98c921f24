#include "runtime/data/formats/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "base/quantity_text.hpp"
#include "base/utf8.hpp"
#include "runtime/data/formats/archive_reader.hpp"

namespace dtnn::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr const char* kSaveAgain =
    "save it again with numpy.save or numpy.savez, as an array of numbers";

/// The header is a Python dictionary of three known keys; nothing else of Python is read.
class HeaderText {
  public:
    HeaderText(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

    NpyHeader read() {
        NpyHeader header;
        std::set<std::string> seen;
        expect('{');
        while (!accept('}')) {
            const std::string key = text();
            expect(':');
            if (!seen.insert(key).second) fail(fmt::format("the key `{}` comes twice", key));
            if (key == "descr") {
                set_type(header);
            } else if (key == "fortran_order") {
                header.fortran = truth();
            } else if (key == "shape") {
                set_dims(header);
            } else {
                fail(fmt::format("it has the key `{}`", printable(key)));
            }
            if (accept(',')) continue;
            expect('}');
            break;
        }
        skip();
        if (!rest_.empty()) fail("something follows the dictionary");
        if (seen.size() != 3) fail("descr, fortran_order and shape are not all there");
        return header;
    }

  private:
    [[noreturn]] void fail(const std::string& fact) const {
        throw bad_file(name_, "the header of the array is broken: " + fact, kSaveAgain);
    }
    void skip() {
        const std::size_t end = rest_.find_first_not_of(" \t\n");
        rest_.remove_prefix(std::min(end, rest_.size()));
    }
    bool accept(char wanted) {
        skip();
        if (rest_.empty() || rest_[0] != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char wanted) {
        if (!accept(wanted)) fail(fmt::format("`{}` is missing", wanted));
    }
    bool accept_word(std::string_view word) {
        skip();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    std::string text() {
        skip();
        if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) fail("a text is missing");
        const std::size_t end = rest_.find(rest_[0], 1);
        if (end == std::string_view::npos) fail("a text does not end");
        std::string value(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return value;
    }
    bool truth() {
        if (accept_word("True")) return true;
        if (!accept_word("False")) fail("fortran_order is neither True nor False");
        return false;
    }
    void set_dims(NpyHeader& header) {
        expect('(');
        while (!accept(')')) {
            skip();
            std::int64_t value = 0;
            std::size_t digits = 0;
            while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
                if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
                    __builtin_add_overflow(value, std::int64_t(rest_[digits] - '0'), &value))
                    fail("an extent is too large");
                ++digits;
            }
            if (digits == 0) fail("an extent is no number");
            rest_.remove_prefix(digits);
            header.dims.push_back(value);
            if (header.dims.size() > 32) fail("it has more than 32 axes");
            if (accept(',')) continue;
            expect(')');
            break;
        }
    }
    void set_type(NpyHeader& header) {
        skip();
        if (!rest_.empty() && rest_[0] == '[')
            throw bad_file(name_, "the array has fields (a structured type)", kSaveAgain);
        const std::string type = text();
        if (type.size() >= 2 && (type[0] == '|' || type[0] == '<' || type[0] == '=')) {
            if (type[1] == 'O') {
                throw bad_file(
                    name_,
                    "it is an array of Python objects (pickle), which could run any code "
                    "when it is read",
                    kSaveAgain);
            }
            static const std::map<std::string, std::pair<NpyHeader::Kind, int>> kTypes = {
                {"f4", {NpyHeader::Kind::real, 4}},    {"f8", {NpyHeader::Kind::real, 8}},
                {"i1", {NpyHeader::Kind::integer, 1}}, {"i2", {NpyHeader::Kind::integer, 2}},
                {"i4", {NpyHeader::Kind::integer, 4}}, {"i8", {NpyHeader::Kind::integer, 8}},
                {"u1", {NpyHeader::Kind::natural, 1}}, {"u2", {NpyHeader::Kind::natural, 2}},
                {"u4", {NpyHeader::Kind::natural, 4}}, {"b1", {NpyHeader::Kind::boolean, 1}}};
            if (const auto found = kTypes.find(type.substr(1)); found != kTypes.end()) {
                std::tie(header.kind, header.item_bytes) = found->second;
                return;
            }
        }
        const bool whole = type.size() > 1 && (type[1] == 'i' || type[1] == 'u');
        throw bad_file(
            name_,
            fmt::format("its elements are of the type `{}`; float32, float64, integers of 8 to 64 "
                        "bits, without a sign to 32, and booleans in little-endian order can be "
                        "read",
                        printable(type)),
            fmt::format("convert it first, such as by array.astype('<{}')", whole ? "i8" : "f4"));
    }

    std::string_view rest_;
    const std::string& name_;
};

template <class Stored, class Wanted>
Wanted converted(const char* at, const std::string& name) {
    Stored value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_integral_v<Wanted> && std::is_floating_point_v<Stored>) {
        // 2^53: above, doubles are not the numbers that were meant.
        if (!(std::abs(double(value)) <= 9007199254740992.0) || value != std::trunc(value))
            throw bad_file(name, fmt::format("it holds {}, where whole numbers are needed", value),
                           kSaveAgain);
    }
    return static_cast<Wanted>(value);
}

template <class Wanted>
using Convert = Wanted (*)(const char*, const std::string&);

template <class Wanted>
Convert<Wanted> converter(const NpyHeader& header) {
    switch (header.kind) {
        case NpyHeader::Kind::real:
            return header.item_bytes == 4 ? converted<float, Wanted> : converted<double, Wanted>;
        case NpyHeader::Kind::integer:
            return header.item_bytes == 1   ? converted<std::int8_t, Wanted>
                   : header.item_bytes == 2 ? converted<std::int16_t, Wanted>
                   : header.item_bytes == 4 ? converted<std::int32_t, Wanted>
                                            : converted<std::int64_t, Wanted>;
        default:
            return header.item_bytes == 1   ? converted<std::uint8_t, Wanted>
                   : header.item_bytes == 2 ? converted<std::uint16_t, Wanted>
                                            : converted<std::uint32_t, Wanted>;
    }
}

template <class Wanted>
void convert_all(const NpyHeader& header, const char* from, const std::string& name,
                 std::span<Wanted> to) {
    if (std::is_floating_point_v<Wanted> && header.kind == NpyHeader::Kind::real &&
        header.item_bytes == int(sizeof(Wanted))) {
        if (!to.empty()) std::memcpy(to.data(), from, to.size_bytes());
        return;
    }
    const Convert<Wanted> convert = converter<Wanted>(header);
    for (Wanted& value : to) {
        value = convert(from, name);
        from += header.item_bytes;
    }
}

template <class Wanted>
void copy_all(const NpyArray& array, std::span<Wanted> to) {
    const NpyHeader& header = array.header;
    const char* const from = array.bytes.data() + header.begin;
    if (!header.fortran) {
        convert_all(header, from, array.name, to);
        return;
    }
    const Convert<Wanted> convert = converter<Wanted>(header);
    const std::size_t axes = header.dims.size();
    std::vector<std::int64_t> strides(axes, header.item_bytes), at(axes, 0);
    for (std::size_t axis = 1; axis < axes; ++axis)
        strides[axis] = strides[axis - 1] * header.dims[axis - 1];
    std::int64_t offset = 0;
    for (Wanted& value : to) {
        value = convert(from + offset, array.name);
        for (std::size_t axis = axes; axis-- > 0;) {
            offset += strides[axis];
            if (++at[axis] < header.dims[axis]) break;
            offset -= at[axis] * strides[axis];
            at[axis] = 0;
        }
    }
}

}  // namespace

std::string NpyHeader::type() const {
    switch (kind) {
        case Kind::real:
            return fmt::format("float{}", 8 * item_bytes);
        case Kind::boolean:
            return "bool";
        default:
            return fmt::format("{}int{}", kind == Kind::natural ? "u" : "", 8 * item_bytes);
    }
}

NpyHeader parse_npy_header(std::string_view beginning, std::int64_t file_bytes,
                           const std::string& name) {
    if (!beginning.starts_with(kMagic) || beginning.size() < kMagic.size() + 4)
        throw bad_file(name, "this is no NumPy array file (.npy)", kSaveAgain);
    const auto byte = [&](std::size_t at) { return std::size_t(std::uint8_t(beginning[at])); };
    const std::size_t version = byte(6);
    if (version < 1 || version > 3 || byte(7) != 0)
        throw bad_file(
            name,
            fmt::format("its format is version {}.{}; 1.0 to 3.0 can be read", version, byte(7)),
            kSaveAgain);
    std::size_t begin = version == 1 ? 10 : 12;
    if (beginning.size() < begin) throw bad_file(name, "it is cut off in its header", kSaveAgain);
    const std::size_t length = version == 1
                                   ? byte(8) | byte(9) << 8
                                   : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
    if (length > std::size_t(kMostNpyHeader) - begin)
        throw bad_file(
            name, fmt::format("its header has {} bytes; {} are the most", length, kMostNpyHeader),
            kSaveAgain);
    if (beginning.size() < begin + length)
        throw bad_file(name, "it is cut off in its header", kSaveAgain);
    NpyHeader header = HeaderText(beginning.substr(begin, length), name).read();
    header.begin = std::int64_t(begin + length);
    std::int64_t bytes = header.item_bytes;
    for (const std::int64_t dim : header.dims) {
        if (__builtin_mul_overflow(bytes, dim, &bytes))
            throw bad_file(name,
                           fmt::format("its shape ({}) is too large", fmt::join(header.dims, ",")),
                           kSaveAgain);
    }
    if (bytes != file_bytes - header.begin) {
        throw bad_file(name,
                       fmt::format("its shape ({}) of {} takes {} bytes; it has {}",
                                   fmt::join(header.dims, ","), header.type(), bytes,
                                   file_bytes - header.begin),
                       "it is cut off, or was changed: make it again");
    }
    return header;
}

NpyArray parse_npy(std::string bytes, const std::string& name) {
    NpyArray array{name, parse_npy_header(bytes, std::int64_t(bytes.size()), name), {}};
    array.bytes = std::move(bytes);
    return array;
}

void NpyArray::copy(std::span<float> to) const {
    copy_all(*this, to);
}
void NpyArray::copy(std::span<double> to) const {
    copy_all(*this, to);
}
void NpyArray::copy(std::span<std::int64_t> to) const {
    copy_all(*this, to);
}

void convert_elements(const NpyHeader& header, const char* from, const std::string& name,
                      std::span<float> to) {
    convert_all(header, from, name, to);
}
void convert_elements(const NpyHeader& header, const char* from, const std::string& name,
                      std::span<double> to) {
    convert_all(header, from, name, to);
}
void convert_elements(const NpyHeader& header, const char* from, const std::string& name,
                      std::span<std::int64_t> to) {
    convert_all(header, from, name, to);
}

std::map<std::string, NpyArray> read_npz(const std::string& path, std::int64_t most_bytes,
                                         Exit exit) {
    const RegularFile file(path, exit);
    if (!is_zip(file))
        throw bad_file(path, "this is no .npz file (a zip of NumPy arrays)", kSaveAgain);
    std::map<std::string, NpyArray> arrays;
    ArchiveReader archive(file);
    std::int64_t bytes = 0;
    while (const auto member = archive.next()) {
        const std::string name = path + ":" + member->path;
        if (!member->path.ends_with(".npy"))
            throw bad_file(name, "this is no array (.npy)", kSaveAgain);
        if (member->size > most_bytes - bytes) {
            const auto [found, most] =
                unlike_bytes_text(double(bytes + member->size), double(most_bytes));
            throw bad_file(
                name,
                fmt::format("the arrays up to this one have {} or more; at most {} are expected",
                            found, most),
                "check that this is the right file");
        }
        bytes += member->size;
        const std::string key = member->path.substr(0, member->path.size() - 4);
        if (!arrays.emplace(key, parse_npy(archive.read(), name)).second)
            throw bad_file(name, "there are two arrays of this name", kSaveAgain);
    }
    return arrays;
}

bool is_zip(const RegularFile& file) {
    std::array<char, 4> magic{};
    if (file.size() < std::int64_t(magic.size())) return false;
    file.read(0, std::span<char>(magic));
    // "PK", and the beginning of a member, or of the end of an archive that is empty.
    return magic[0] == 'P' && magic[1] == 'K' && (magic[2] == 3 || magic[2] == 5);
}

Dims squeezed(const Dims& dims, std::size_t from) {
    Dims result(dims.begin() + std::ptrdiff_t(std::min(from, dims.size())), dims.end());
    std::erase(result, 1);
    return result;
}

}  // namespace dtnn::runtime
