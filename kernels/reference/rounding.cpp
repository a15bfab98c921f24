#include "kernels/arguments/rounding.hpp"

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

template <class T>
void cast_narrow_reference(const CastNarrowArguments<T>& a, ThreadTeam&) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = T(a.src[i]);
}

template <class T>
void cast_wide_reference(const CastWideArguments<T>& a, ThreadTeam&) {
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = Wide<T>(a.src[i]);
}

DTNN_REFERENCE(cast_narrow, CastNarrowArguments)
DTNN_REFERENCE(cast_wide, CastWideArguments)

}  // namespace dtnn::kernels::reference
