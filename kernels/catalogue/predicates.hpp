#pragma once
/// The functions named in catalogue.def: why a kernel refuses a problem, why another is expected to
/// be faster, and how much workspace it needs. Each family defines its own in
/// kernels/catalogue/FAMILY.cpp; the declarations come from the catalogue. Those of a device are
/// its own (kernels/cuda/catalogue.cpp).

#include <optional>
#include <string>

#include "kernels/problem.hpp"

namespace dtnn::kernels::predicates {

using Refused = std::optional<std::string>;

Refused nothing(const Problem& problem);    ///< refuses nothing
Refused never(const Problem& problem);      ///< is not expected to be slower
std::int64_t none(const Problem& problem);  ///< needs no workspace
/// Bytes of one number of the problem's floating type.
std::int64_t element_bytes(const Problem& problem);
/// Bytes of a vector of its instruction set.
std::int64_t vector_bytes(const Problem& problem);
/// Refuses expressions that cannot be read, or that need a deeper stack than `depth`.
Refused unless_stack_suffices(const Problem& problem, int depth);

/// Refuses axes that are normalised and not dense in memory.
Refused unless_lines_are_dense(const Problem& problem);
/// Refuses such an epilogue.
Refused unless_epilogue_is_shallow(const Problem& problem);

#define KERNEL(op, name, Arguments, dtypes, needs, refuses, slower, workspace) \
    Refused refuses(const Problem& problem);                                   \
    Refused slower(const Problem& problem);                                    \
    std::int64_t workspace(const Problem& problem);
#define REFERENCE(op, Arguments, operands)
#include "kernels/catalogue.def"
#undef KERNEL
#undef REFERENCE

}  // namespace dtnn::kernels::predicates
