#pragma once
/// The form that every kernel's arguments have. `Arguments<T>` is a plain struct of sizes, pointers
/// and constants, made of a problem's operands. A member says where it is declared which operand,
/// stride or attribute it is, `const T* src = o.source("src");`; what is more than that stands in
/// the constructor, or in the family's .cpp. It is there for float and double, and for BFloat16 and
/// Float16 where devices store values in them; the kernels, compiled once per instruction set, see
/// only the struct.

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

/// What members are read from. It is there while the arguments are made, and not to be used later.
struct FromOperands {
    const Operands& o;

    explicit FromOperands(const Operands& operands) : o(operands) {}
};

}  // namespace dtnn::kernels
