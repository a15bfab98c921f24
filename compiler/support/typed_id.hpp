#pragma once
/// An index that cannot be mistaken for another kind of index.

#include <cstdint>
#include <functional>

namespace dtnn::compiler {

template <class Tag>
class Id {
  public:
    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : index_(std::int32_t(index)) {}
    constexpr std::size_t index() const { return std::size_t(index_); }
    constexpr bool valid() const { return index_ >= 0; }
    // The comparison that is made of it has a zero that clang-tidy takes for a pointer.
    constexpr auto operator<=>(const Id&) const = default;  // NOLINT(modernize-use-nullptr)

  private:
    std::int32_t index_ = -1;
};

}  // namespace dtnn::compiler

template <class Tag>
struct std::hash<dtnn::compiler::Id<Tag>> {
    std::size_t operator()(dtnn::compiler::Id<Tag> id) const noexcept { return id.index(); }
};
