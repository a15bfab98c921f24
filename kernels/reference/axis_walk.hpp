#pragma once
/// Walks over the lines of tensors along an axis.

#include <cstdint>

#include "kernels/layout.hpp"

namespace dtnn::kernels::reference {

/// Calls visit(o, i) for all lines.
template <class Visit>
void for_lines(const AxisView& view, Visit visit) {
    for (std::int64_t o = 0; o < view.outer; ++o) {
        for (std::int64_t i = 0; i < view.inner; ++i)
            visit(o, i);
    }
}

}  // namespace dtnn::kernels::reference
