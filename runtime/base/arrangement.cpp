#include "runtime/base/arrangement.hpp"

namespace dtnn::runtime {

Arrangement::Arrangement(const plan::Dims& dims, const plan::Order& order)
    : dims_(dims), strides_(dims.size(), 1), elements_(plan::element_count(dims)) {
    std::int64_t stride = 1;
    std::int64_t row_major = 1;
    plan::Dims expected(dims.size(), 1);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        const std::size_t stored = order.empty() ? axis : std::size_t(order[axis]);
        strides_[stored] = stride;
        stride *= dims[stored];
        expected[axis] = row_major;
        row_major *= dims[axis];
    }
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        identity_ = identity_ && (dims[axis] == 1 || strides_[axis] == expected[axis]);
}

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
