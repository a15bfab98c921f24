#pragma once
/// A problem's operands by the names of their operator's signature (base/tensor/signatures.def).

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/tensor/signature.hpp"
#include "kernels/layout.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

using Sources = std::span<const void* const>;
using Destinations = std::span<void* const>;
using Workspace = std::span<std::byte>;

/// An operand's type and memory; neither where the problem does not have it, or has no memory yet.
/// It becomes the pointer that it is kept in, null where there is none.
template <class Memory>
class BoundOperand {
  public:
    BoundOperand() = default;
    BoundOperand(const Problem& problem, const TensorType& type, Memory* memory)
        : problem_(&problem), type_(&type), memory_(memory) {}

    explicit operator bool() const { return type_ != nullptr; }
    template <class T>
    operator T*() const {  // NOLINT: see above
        return static_cast<T*>(memory_);
    }
    const TensorType* type() const { return type_; }
    std::int64_t elements() const { return type_->elements(); }

    /// How it lies: as an image, with the channels that the problem says, and with samples of such.
    /// Nothing where the problem does not have it.
    ImageLayout image() const { return type_ ? merged_layout(*type_).value() : ImageLayout{}; }
    ImageLayout by_channel() const {
        return type_ ? channel_layout(*type_, axis_of(*problem_)).value() : ImageLayout{};
    }
    ImageLayout by_sample() const { return sample_layout(*type_, axis_of(*problem_)).value(); }

  private:
    const Problem* problem_ = nullptr;
    const TensorType* type_ = nullptr;
    Memory* memory_ = nullptr;
};

class Operands {
  public:
    using Source = BoundOperand<const void>;
    using Result = BoundOperand<void>;

    /// Of an operator with a signature. With memory the problem's operands have been checked.
    explicit Operands(const Problem& of, Sources sources = {}, Destinations destinations = {},
                      Workspace scratch = {});

    const Problem& problem;
    const Workspace workspace;

    /// Operators that share arguments may call an operand by different names.
    Source source(std::string_view name, std::string_view or_name = {}) const;
    Result result(std::string_view name, std::string_view or_name = {}) const;
    Source first_source() const { return source_at(0); }
    Result first_result() const { return result_at(0); }
    /// The memory of a source that is repeated, which is the first.
    Sources repeated() const;
    /// That there are not as many as the signature says.
    std::optional<std::string> mistake() const;

    template <class T = std::byte>
    T* scratch() const {
        return reinterpret_cast<T*>(workspace.data());
    }

  private:
    Source source_at(std::size_t place) const;
    Result result_at(std::size_t place) const;

    Sources sources_;
    Destinations destinations_;
    PresentOperands present_sources_, present_results_;
};

}  // namespace dtnn::kernels
