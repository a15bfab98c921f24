#pragma once
/// What every kernel's arguments have in common. `Arguments<T>` is a plain struct of sizes,
/// pointers and constants with
///
///     static Arguments bind(const Problem&, Sources, Destinations, Workspace);
///
/// which reads shapes, strides and attributes once. It is defined in the family's .cpp and
/// instantiated for float and double; the kernels, compiled once per instruction set, see only the
/// struct.

#include <cstddef>
#include <cstdint>
#include <span>

namespace dtnn::kernels {

struct Problem;
struct TensorDesc;
class ThreadTeam;

using Sources = std::span<const void* const>;
using Destinations = std::span<void* const>;
using Workspace = std::span<std::byte>;

}  // namespace dtnn::kernels
