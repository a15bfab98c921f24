#include "runtime/base/arrangement.hpp"

namespace dtnn::runtime {

Arrangement::Arrangement(const Dims& dims, const Order& order)
    : dims_(dims),
      strides_(strides_of(dims, order)),
      elements_(element_count(dims)),
      identity_(is_row_major({.dims = dims, .order = order})) {}

std::int64_t Arrangement::physical(std::int64_t logical) const {
    if (identity_) return logical;
    std::int64_t place = 0;
    for (std::size_t axis = dims_.size(); axis-- > 0;) {
        place += logical % dims_[axis] * strides_[axis];
        logical /= dims_[axis];
    }
    return place;
}

}  // namespace dtnn::runtime
