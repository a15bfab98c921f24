#pragma once
/// cast_narrow and cast_wide: the same numbers in the type of values (T) and in Wide<T>.
/// Operands lie alike.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct CastNarrowArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t count = o.source("src").elements();
    const Wide<T>* src = o.source("src");
    T* dst = o.result("dst");
};

template <class T>
struct CastWideArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t count = o.source("src").elements();
    const T* src = o.source("src");
    Wide<T>* dst = o.result("dst");
};

}  // namespace dtnn::kernels
