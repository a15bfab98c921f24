#include "tests/kernel/buffer.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/philox.hpp"
#include "kernels/reduced.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define DTNN_POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define DTNN_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define DTNN_POISON(address, size)
#define DTNN_UNPOISON(address, size)
#endif

namespace dtnn::kernels::conformance {
namespace {

constexpr std::byte kFill{0xFF};
constexpr std::byte kGuardByte{0xA5};

template <class T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

template <class T>
void write(std::byte* to, double number) {
    const T value = T(number);
    std::memcpy(to, &value, sizeof(T));
}

}  // namespace

Buffer::Buffer(TensorType tensor) : tensor_(std::move(tensor)), size_(tensor_.bytes()) {
    const std::int64_t whole = (size_ + 2 * kGuard + 255) / 256 * 256;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(256, std::size_t(whole))));
    std::memset(bytes_.get(), int(kGuardByte), std::size_t(whole));
    std::memset(bytes_.get() + kGuard, int(kFill), std::size_t(size_));
    DTNN_POISON(bytes_.get(), kGuard);
    DTNN_POISON(bytes_.get() + kGuard + size_, kGuard);
}

void Buffer::Free::operator()(std::byte* bytes) const {
    std::free(bytes);
}

std::span<std::byte> Buffer::contents() {
    return {bytes_.get() + kGuard, std::size_t(size_)};
}

double Buffer::get(std::int64_t element) const {
    const std::byte* from = bytes_.get() + kGuard + element * size_of(tensor_.dtype);
    switch (tensor_.dtype) {
        case DType::f32:
            return double(read<float>(from));
        case DType::f64:
            return read<double>(from);
        case DType::i32:
            return double(read<std::int32_t>(from));
        case DType::i64:
            return double(read<std::int64_t>(from));
        case DType::bf16:
            return double(read<BFloat16>(from));
        case DType::fp16:
            return double(read<Float16>(from));
        case DType::u8:
            break;
    }
    return double(read<std::uint8_t>(from));
}

void Buffer::set(std::int64_t element, double value) {
    std::byte* to = bytes_.get() + kGuard + element * size_of(tensor_.dtype);
    switch (tensor_.dtype) {
        case DType::f32:
            return write<float>(to, value);
        case DType::f64:
            return write<double>(to, value);
        case DType::i32:
            return write<std::int32_t>(to, value);
        case DType::i64:
            return write<std::int64_t>(to, value);
        case DType::bf16:
            return write<BFloat16>(to, value);
        case DType::fp16:
            return write<Float16>(to, value);
        case DType::u8:
            break;
    }
    write<std::uint8_t>(to, value);
}

void shift(Buffer& buffer, double by) {
    for (std::int64_t i = 0; i < buffer.tensor().elements(); ++i)
        buffer.set(i, buffer.get(i) + by);
}

void make_positive(Buffer& buffer) {
    for (std::int64_t i = 0; i < buffer.tensor().elements(); ++i)
        buffer.set(i, std::abs(buffer.get(i)) + 0.1);
}

void make_probabilities(Buffer& rows, std::int64_t classes) {
    for (std::int64_t first = 0; first < rows.tensor().elements(); first += classes) {
        double sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) {
            double value = std::abs(rows.get(first + c));
            if (value < 0.05 && classes > 1) value = 0;
            rows.set(first + c, value);
            sum += value;
        }
        for (std::int64_t c = 0; c < classes && sum > 0; ++c) {
            rows.set(first + c, rows.get(first + c) / sum);
        }
    }
}

void quantise(std::vector<Buffer>& sources) {
    for (std::int64_t i = 0; i < sources[0].tensor().elements(); ++i)
        sources[0].set(i, std::round(sources[0].get(i) * 3) / 2);
}

bool Buffer::guards_are_intact() const {
    DTNN_UNPOISON(bytes_.get(), kGuard);
    DTNN_UNPOISON(bytes_.get() + kGuard + size_, kGuard);
    bool intact = true;
    for (std::int64_t i = 0; i < kGuard; ++i) {
        if (bytes_[std::size_t(i)] != kGuardByte) intact = false;
        if (bytes_[std::size_t(kGuard + size_ + i)] != kGuardByte) intact = false;
    }
    DTNN_POISON(bytes_.get(), kGuard);
    DTNN_POISON(bytes_.get() + kGuard + size_, kGuard);
    return intact;
}

std::vector<Buffer> allocate(const std::vector<TensorType>& tensors) {
    std::vector<Buffer> buffers;
    for (const TensorType& tensor : tensors)
        buffers.emplace_back(tensor);
    return buffers;
}

std::vector<Buffer> copies_of(const std::vector<Buffer>& buffers) {
    std::vector<Buffer> copies;
    for (const Buffer& buffer : buffers) {
        copies.emplace_back(buffer.tensor());
        std::memcpy(copies.back().data(), buffer.data(), std::size_t(buffer.tensor().bytes()));
    }
    return copies;
}

std::vector<const void*> source_pointers(std::vector<Buffer>& buffers) {
    std::vector<const void*> pointers;
    for (Buffer& buffer : buffers)
        pointers.push_back(buffer.data());
    return pointers;
}

std::vector<void*> destination_pointers(std::vector<Buffer>& buffers) {
    std::vector<void*> pointers;
    for (Buffer& buffer : buffers)
        pointers.push_back(buffer.data());
    return pointers;
}

bool same_bytes(const Buffer& a, const Buffer& b) {
    return a.tensor().dtype == b.tensor().dtype &&
           std::memcmp(a.data(), b.data(), std::size_t(a.tensor().bytes())) == 0;
}

std::string difference(const Buffer& got, const Buffer& wanted, double tolerance) {
    if (same_bytes(got, wanted)) return {};
    for (std::int64_t i = 0; i < got.tensor().elements(); ++i) {
        const double a = got.get(i), b = wanted.get(i);
        if (a == b) continue;
        if (std::isfinite(b) && std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b))) continue;
        return "element " + std::to_string(i) + " of " + std::to_string(got.tensor().elements()) +
               " is " + std::to_string(a) + ", not " + std::to_string(b) + " (off by " +
               std::to_string(std::abs(a - b) / 1e-9) + "e-9)";
    }
    return {};
}

double noise(std::uint64_t stream, std::uint64_t element) {
    const philox::Block block = philox::block(stream + 1, 0, element);
    return philox::uniform_double(block[0], block[1]);
}

}  // namespace dtnn::kernels::conformance
