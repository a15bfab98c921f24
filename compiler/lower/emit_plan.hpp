#pragma once
/// The last stage of lowering: programs that agree about parameters become one plan with one arena.

#include <string>
#include <vector>

#include "compiler/lower/compile.hpp"
#include "compiler/lower/in_place.hpp"
#include "compiler/lower/select_kernels.hpp"

namespace dtnn::compiler {

/// A program after kernel selection and the assignment of storage.
struct LoweredProgram {
    std::string name;
    std::int64_t batch = 0;
    Graph graph;
    std::vector<LoweredStep> steps;
    StorageMap storage;
};

/// Writes layers, parameters, buffers and programs into `plan`, and the memory totals.
///
/// The arena: parameters, then optimizer state, then one buffer for each input (as large as the
/// largest program wants, and the same for all of them), then the transient region, where every
/// program begins anew: programs never run at the same time. Parameters are merged by name;
/// programs that disagree about one are our bug.
void emit_plan(const std::vector<LoweredProgram>& programs, plan::Plan& plan);

}  // namespace dtnn::compiler
