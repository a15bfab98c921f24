#pragma once
/// The operations of expressions that are no instruction of a processor, as functions of a vector:
/// the interpreter and generated code call the same, and so give the same bits.

#include "kernels/arguments/elementwise.hpp"
#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
using NativeLanes = Lanes<T, Simd<T>::kLanes>;
template <class T>
using NativeVector = typename NativeLanes<T>::Vector;
template <class T>
using UnaryVectorFunction = NativeVector<T> (*)(NativeVector<T>);
template <class T>
using BinaryVectorFunction = NativeVector<T> (*)(NativeVector<T>, NativeVector<T>);

/// By Term: null, or a UnaryVectorFunction<T>; of `pow` a BinaryVectorFunction<T>.
template <class T>
const void* const* vector_functions();

}  // namespace dtnn::kernels::DTNN_ISA
