#pragma once
/// The last stage of lowering: programs that agree about parameters become one plan with one arena.

#include <memory>
#include <string>
#include <vector>

#include "compiler/lower/compile.hpp"
#include "compiler/lower/in_place.hpp"
#include "compiler/lower/select_kernels.hpp"

namespace dtnn::compiler {

/// A program after kernel selection and the assignment of storage.
struct LoweredProgram {
    std::string name;
    plan::ProgramKind kind = plan::ProgramKind::train;
    std::int64_t batch = 0;
    Graph graph;
    std::vector<LoweredStep> steps;
    StorageMap storage;
};

/// Makes parameters, buffers and programs of a plan, and its memory totals. A program that has been
/// added is not needed any more, so that only one of them is in memory at a time.
///
/// The arena: parameters, then optimizer state, then one buffer for each input (as large as the
/// largest program wants, and the same for all of them), then the transient region, where every
/// program begins anew: programs never run at the same time. Parameters are merged by name;
/// programs that disagree about one are our bug.
class PlanEmitter {
  public:
    explicit PlanEmitter(plan::Plan& plan);
    PlanEmitter(const PlanEmitter&) = delete;
    PlanEmitter& operator=(const PlanEmitter&) = delete;
    ~PlanEmitter();

    void add(LoweredProgram program);
    /// After the last program: where everything lies.
    void finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// All of it for programs that are there already.
void emit_plan(const std::vector<LoweredProgram>& programs, plan::Plan& plan);

}  // namespace dtnn::compiler
