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

/// The beginning of a kernel's definition, whose body follows in braces: `function` for each type
/// of numbers T that `instances` lists. `a` are its arguments, `with` what it computes with.
#define DTNN_DEFINE_KERNEL(function, Arguments, With, with, instances) \
    template <class T>                                                 \
    static void function##_of(const Arguments<T>& a, With& with);      \
    instances(function, Arguments, With) template <class T>            \
    static void function##_of([[maybe_unused]] const Arguments<T>& a, [[maybe_unused]] With& with)
#define DTNN_INSTANCE(function, Arguments, With, T)    \
    void function(const Arguments<T>& a, With& with) { \
        function##_of<T>(a, with);                     \
    }
#define DTNN_OF_FLOAT(function, Arguments, With) DTNN_INSTANCE(function, Arguments, With, float)
#define DTNN_OF_FLOATS(function, Arguments, With)   \
    DTNN_INSTANCE(function, Arguments, With, float) \
    DTNN_INSTANCE(function, Arguments, With, double)
#define DTNN_OF_VALUES(function, Arguments, With)      \
    DTNN_OF_FLOATS(function, Arguments, With)          \
    DTNN_INSTANCE(function, Arguments, With, BFloat16) \
    DTNN_INSTANCE(function, Arguments, With, Float16)
/// Their declaration, for both types of the host.
#define DTNN_DECLARE_KERNEL(function, Arguments, With)    \
    void function(const Arguments<float>& a, With& with); \
    void function(const Arguments<double>& a, With& with);

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
