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

    explicit CastNarrowArguments(const Operands& o)
        : count(o.source("src").elements()), src(o.source("src")), dst(o.result("dst")) {}
};

template <class T>
struct CastWideArguments {
    std::int64_t count = 0;
    const T* src = nullptr;
    Wide<T>* dst = nullptr;

    explicit CastWideArguments(const Operands& o)
        : count(o.source("src").elements()), src(o.source("src")), dst(o.result("dst")) {}
};

}  // namespace dtnn::kernels
