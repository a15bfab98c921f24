#pragma once
/// The form that every kernel's arguments have. `Arguments<T>` is a plain struct of sizes, pointers
/// and constants with
///
///     static Arguments bind(const Problem&, Sources, Destinations, Workspace);
///
/// which reads shapes, strides and attributes once. It is defined in the family's .cpp and
/// instantiated for float and double, and for BFloat16 and Float16 where devices store values in
/// them; the kernels, compiled once per instruction set, see only the struct.

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/reduced.hpp"

/// In the family's .cpp, at its end.
#define DTNN_ARGUMENTS(Arguments)     \
    template struct Arguments<float>; \
    template struct Arguments<double>;
#define DTNN_ARGUMENTS_OF_VALUES(Arguments) \
    DTNN_ARGUMENTS(Arguments)               \
    template struct Arguments<BFloat16>;    \
    template struct Arguments<Float16>;

namespace dtnn::kernels {

struct Problem;
class ThreadTeam;

using Sources = std::span<const void* const>;
using Destinations = std::span<void* const>;
using Workspace = std::span<std::byte>;

}  // namespace dtnn::kernels
