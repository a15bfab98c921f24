#pragma once
/// The places of a tensor's elements in memory.

#include <cstdint>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// Maps a logical element (row-major index over `dims`) to its place in memory when the axes are
/// stored in `order`, outermost first (empty: row-major).
class Arrangement {
  public:
    Arrangement(const Dims& dims, const Order& order);

    std::int64_t elements() const { return elements_; }
    bool identity() const { return identity_; }
    std::int64_t physical(std::int64_t logical) const;

    /// Calls visit(logical, physical) for logical indices begin <= i < end, in order.
    template <class Visit>
    void for_each(std::int64_t begin, std::int64_t end, Visit&& visit) const {
        if (identity_) {
            for (std::int64_t i = begin; i < end; ++i)
                visit(i, i);
            return;
        }
        const std::int64_t row = dims_.back(), stride = strides_.back();
        for (std::int64_t i = begin; i < end;) {
            std::int64_t column = i % row;
            std::int64_t place = physical(i);
            for (; column < row && i < end; ++column, ++i, place += stride)
                visit(i, place);
        }
    }

  private:
    Dims dims_;
    Dims strides_;  ///< elements between neighbours along each logical axis
    std::int64_t elements_ = 1;
    bool identity_ = true;
};

}  // namespace dtnn::runtime
