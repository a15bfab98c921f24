#include "kernels/arguments/rounding.hpp"

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(cast_narrow, CastNarrowArguments) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = T(a.src[i]);
}

DTNN_REFERENCE(cast_wide, CastWideArguments) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = Wide<T>(a.src[i]);
}

}  // namespace dtnn::kernels::reference
