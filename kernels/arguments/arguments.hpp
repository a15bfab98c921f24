#pragma once
/// The form that every kernel's arguments have. `Arguments<T>` is a plain struct of sizes, pointers
/// and constants with
///
///     explicit Arguments(const Operands&);
///
/// which reads operands by their names, strides and attributes once; what is more than that is
/// defined in the family's .cpp. It is there for float and double, and for BFloat16 and Float16
/// where devices store values in them; the kernels, compiled once per instruction set, see only the
/// struct.

#include <cstddef>
#include <cstdint>

#include "kernels/operands.hpp"
#include "kernels/reduced.hpp"

/// In the family's .cpp, at its end.
#define DTNN_ARGUMENTS_OF_VALUES(Arguments) \
    template struct Arguments<float>;       \
    template struct Arguments<double>;      \
    template struct Arguments<BFloat16>;    \
    template struct Arguments<Float16>;

namespace dtnn::kernels {

class ThreadTeam;

}  // namespace dtnn::kernels
