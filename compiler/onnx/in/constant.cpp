#include "compiler/onnx/in/constant.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/files.hpp"
#include "base/utf8.hpp"

namespace dtnn::compiler::onnx {
namespace {

template <class T>
T load(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

float of_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = bits >> 15 ? -1.0F : 1.0F;
    if (exponent == 31) return fraction ? std::nanf("") : sign * INFINITY;
    return sign * (exponent == 0 ? std::ldexp(float(fraction), -24)
                                 : std::ldexp(float(fraction + 1024), exponent - 25));
}

struct Stored {
    std::int64_t bytes;  ///< of one number
    bool real;
    double (*value)(const char* at);
};

const Stored* stored(std::int64_t type) {
    static const std::map<std::int64_t, Stored> all{
        {kFloat, {4, true, [](const char* at) { return double(load<float>(at)); }}},
        {kDouble, {8, true, [](const char* at) { return load<double>(at); }}},
        {kFloat16, {2, true, [](const char* at) { return double(of_half(load<uint16_t>(at))); }}},
        {kBfloat16,
         {2, true,
          [](const char* at) {
              return double(std::bit_cast<float>(std::uint32_t(load<std::uint16_t>(at)) << 16));
          }}},
        {kInt64, {8, false, [](const char* at) { return double(load<std::int64_t>(at)); }}},
        {kInt32, {4, false, [](const char* at) { return double(load<std::int32_t>(at)); }}},
        {kInt8, {1, false, [](const char* at) { return double(load<std::int8_t>(at)); }}},
        {kUint8, {1, false, [](const char* at) { return double(load<std::uint8_t>(at)); }}},
        {kBool, {1, false, [](const char* at) { return double(*at != 0); }}}};
    const auto found = all.find(type);
    return found == all.end() ? nullptr : &found->second;
}

void store(std::string& bytes, std::size_t i, bool real, double value) {
    if (real) {
        const auto single = float(value);
        std::memcpy(bytes.data() + 4 * i, &single, 4);
    } else {
        const std::int64_t number = whole(value);
        std::memcpy(bytes.data() + 8 * i, &number, 8);
    }
}

std::string text_of(const std::vector<TextEntry>& entries, const char* key) {
    for (const TextEntry& entry : entries)
        if (entry.key == key) return entry.value;
    return "";
}

/// Whole numbers from 0; nothing where it is none.
std::int64_t place_of(const std::string& text) {
    if (text.empty()) return 0;
    if (text.size() > 15 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
    return std::stoll(text);
}

}  // namespace

std::int64_t batch_of(double number) {
    constexpr double kMost = 1024;
    const double times = number / kBatch;
    return times >= 1 && times <= kMost && times == std::floor(times) ? std::int64_t(times) : 0;
}

std::int64_t whole(double number) {
    const auto most = double(std::int64_t{1} << 62);
    return std::isnan(number) ? 0 : std::int64_t(std::clamp(number, -most, most));
}

double Constant::at(std::int64_t i) const {
    return real ? double(load<float>(bytes.data() + 4 * i))
                : double(load<std::int64_t>(bytes.data() + 8 * i));
}

Numbers numbers_of(const Constant& constant) {
    Numbers numbers(static_cast<std::size_t>(constant.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = constant.at(std::int64_t(i));
    return numbers;
}

void Constants::take(std::int64_t bytes) {
    if (bytes > room_)
        throw Refused("the file works out far more numbers than it has, as no model does");
    room_ -= bytes;
}

std::string& Constants::keep(std::size_t bytes) {
    take(std::int64_t(bytes));
    return storage_.emplace_back(bytes, '\0');
}

Constant Constants::make(Dims dims, bool real, const Numbers& numbers) {
    std::string& bytes = keep(numbers.size() * (real ? 4 : 8));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        store(bytes, i, real, numbers[i]);
    return {std::move(dims), real, bytes};
}

Constant Constants::transpose(const Constant& constant, const std::vector<std::int64_t>& order) {
    const std::size_t rank = constant.dims.size(), size = constant.real ? 4 : 8;
    const Dims strides = strides_of(constant.dims, {});
    Constant made{Dims(rank), constant.real, {}};
    Dims steps(rank), place(rank, 0);
    for (std::size_t i = 0; i < rank; ++i) {
        made.dims[i] = constant.dims[std::size_t(order[i])];
        steps[i] = strides[std::size_t(order[i])];
    }
    std::string& bytes = keep(constant.bytes.size());
    std::int64_t from = 0;
    for (std::size_t to = 0; to < bytes.size(); to += size) {
        std::memcpy(bytes.data() + to, constant.bytes.data() + from * std::int64_t(size), size);
        for (std::size_t axis = rank; axis-- > 0;) {
            from += steps[axis];
            if (++place[axis] < made.dims[axis]) break;
            from -= steps[axis] * made.dims[axis];
            place[axis] = 0;
        }
    }
    made.bytes = bytes;
    return made;
}

Constant Constants::reorder(const Constant& constant, const std::vector<std::int64_t>& rows) {
    std::string& bytes = keep(constant.bytes.size());
    const std::size_t each = bytes.size() / rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::memcpy(bytes.data() + i * each, constant.bytes.data() + std::size_t(rows[i]) * each,
                    each);
    return {constant.dims, constant.real, bytes};
}

std::string_view Constants::read_beside(const TensorProto& tensor, std::int64_t bytes) {
    const std::string location = text_of(tensor.external_data, "location");
    const auto refuse = [&](const std::string& fact) {
        throw Refused(fmt::format("the weights `{}` are in the file `{}`, which {}",
                                  printable(tensor.name), printable(location), fact),
                      "put the model's own file of weights beside it");
    };
    Descriptor file(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::size_t begin = 0;
    while (begin <= location.size()) {
        const std::size_t end = std::min(location.find('/', begin), location.size());
        const std::string part = location.substr(begin, end - begin);
        if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos)
            refuse("is none of the model's folder");
        const int kind = end < location.size() ? O_DIRECTORY : O_NONBLOCK;
        file.reset(::openat(file.number(), part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind));
        if (file.number() < 0)
            refuse(errno == ELOOP ? "is a link"
                                  : fmt::format("cannot be opened: {}", std::strerror(errno)));
        begin = end + 1;
    }
    struct stat facts {};
    if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
        refuse("is no regular file");
    const std::int64_t offset = place_of(text_of(tensor.external_data, "offset"));
    const std::string said = text_of(tensor.external_data, "length");
    const std::int64_t length = said.empty() ? bytes : place_of(said);
    if (offset < 0 || length != bytes || offset > facts.st_size || bytes > facts.st_size - offset)
        refuse(fmt::format("does not have {} bytes for them at {}", bytes, offset));
    // Tensors may share their bytes, but not make a small file into any amount of memory.
    std::int64_t& read = beside_[location];
    read += bytes;
    if (read > 4 * facts.st_size) refuse("is read more than four times over");
    room_ += 5 * bytes;  // for themselves, and for what is worked out of them
    std::string& memory = keep(std::size_t(bytes));
    for (std::int64_t at = 0; at < bytes;) {
        const ssize_t got =
            ::pread(file.number(), memory.data() + at, std::size_t(bytes - at), offset + at);
        if (got <= 0) refuse("cannot be read");
        at += got;
    }
    return memory;
}

Constant Constants::read(const TensorProto& tensor) {
    const std::string name = printable(tensor.name);
    const Stored* form = stored(tensor.data_type);
    if (!form)
        throw Refused(fmt::format("the tensor `{}` has elements of type {}, which are not read",
                                  name, tensor.data_type),
                      "export the model with float weights, not quantized and not complex");
    for (const std::int64_t extent : tensor.dims)
        if (extent < 0) throw Refused(fmt::format("the tensor `{}` has a negative extent", name));
    const bool none = std::find(tensor.dims.begin(), tensor.dims.end(), 0) != tensor.dims.end();
    const std::int64_t count = none ? 0 : element_count(tensor.dims);
    if (count > kFar) throw Refused(fmt::format("the tensor `{}` is too large", name));
    Constant made{tensor.dims, form->real, {}};
    const auto lists = [&](std::size_t has) {
        if (std::int64_t(has) != count)
            throw Refused(fmt::format("the tensor `{}` has {} numbers, but its shape [{}] has {}",
                                      name, has, fmt::join(tensor.dims, ","), count));
    };
    const auto of_list = [&](const auto& list) {
        lists(list.size());
        return make(made.dims, form->real, Numbers(list.begin(), list.end()));
    };
    std::string_view raw = tensor.raw_data;
    if (tensor.data_location == kExternal) {
        raw = read_beside(tensor, count * form->bytes);
    } else if (raw.empty() && count > 0) {
        if (tensor.data_type == kFloat) return of_list(tensor.float_data);
        if (tensor.data_type == kDouble) return of_list(tensor.double_data);
        if (tensor.data_type == kInt64) return of_list(tensor.int64_data);
        if (!form->real) return of_list(tensor.int32_data);
        // 16 bits, as integers.
        Numbers numbers;
        for (const std::int64_t bits : tensor.int32_data) {
            const auto half = std::uint16_t(bits);
            numbers.push_back(form->value(reinterpret_cast<const char*>(&half)));
        }
        lists(numbers.size());
        return make(made.dims, true, numbers);
    }
    if (std::int64_t(raw.size()) != count * form->bytes)
        throw Refused(fmt::format("the tensor `{}` has {} bytes, but its shape [{}] takes {}", name,
                                  raw.size(), fmt::join(tensor.dims, ","), count * form->bytes));
    if (tensor.data_type == kFloat || tensor.data_type == kInt64) {
        made.bytes = raw;
        return made;
    }
    Numbers numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = form->value(raw.data() + i * std::size_t(form->bytes));
    return make(made.dims, form->real, numbers);
}

}  // namespace dtnn::compiler::onnx
