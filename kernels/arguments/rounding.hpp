#pragma once
/// cast_narrow and cast_wide: the same numbers in the type of values (T) and in Wide<T>.
/// Operands lie alike.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct CastNarrowArguments {
    std::int64_t count = 0;
    const Wide<T>* src = nullptr;
    T* dst = nullptr;

    static CastNarrowArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct CastWideArguments {
    std::int64_t count = 0;
    const T* src = nullptr;
    Wide<T>* dst = nullptr;

    static CastWideArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
