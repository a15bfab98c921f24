#pragma once
/// The tensors of kernels under test: memory between guards, what fills it, and how two differ.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"

namespace dtnn::kernels::conformance {

/// A block of memory between guards; filled with bytes that make a floating-point number a NaN.
class Buffer {
  public:
    explicit Buffer(TensorType tensor);
    Buffer(Buffer&&) = default;

    const TensorType& tensor() const { return tensor_; }
    void* data() { return bytes_.get() + kGuard; }
    const void* data() const { return bytes_.get() + kGuard; }
    std::span<std::byte> contents();
    /// By physical element, whatever the type.
    double get(std::int64_t element) const;
    void set(std::int64_t element, double value);
    bool guards_are_intact() const;

    /// Bytes of a guard.
    static constexpr std::int64_t kGuard = 256;

  private:
    struct Free {
        void operator()(std::byte* bytes) const;
    };
    TensorType tensor_;
    std::int64_t size_;
    std::unique_ptr<std::byte[], Free> bytes_;
};

/// Moves values far from zero mean, so that a careless variance shows.
void shift(Buffer& buffer, double by = 30);
/// Makes values at least 0.1.
void make_positive(Buffer& buffer);
/// Positive rows of sum one; a few classes with probability zero.
void make_probabilities(Buffer& rows, std::int64_t classes);
/// Gives the first source values with many ties, so that the rule of the first largest shows.
void quantise(std::vector<Buffer>& sources);

/// Uniform in [0, 1), a pure function of its arguments.
double noise(std::uint64_t stream, std::uint64_t element);

std::vector<Buffer> allocate(const std::vector<TensorType>& tensors);
std::vector<Buffer> copies_of(const std::vector<Buffer>& buffers);
std::vector<const void*> source_pointers(std::vector<Buffer>& buffers);
std::vector<void*> destination_pointers(std::vector<Buffer>& buffers);

bool same_bytes(const Buffer& a, const Buffer& b);
/// The first element that is off, in words; empty when there is none.
/// |got - wanted| <= tolerance * max(1, |wanted|) is not.
std::string difference(const Buffer& got, const Buffer& wanted, double tolerance);

}  // namespace dtnn::kernels::conformance
