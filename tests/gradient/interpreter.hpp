#pragma once
/// Runs a graph node by node on the CPU kernels, every value in a buffer of its own. Values are set
/// and read in logical row-major order; physical orders are the interpreter's business. Only for
/// tests: the product runs plans.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::tests {

using compiler::Graph;
using compiler::Type;
using compiler::ValueId;

/// Which kernels run: the naive reference, or the first that the catalogue offers for the problem.
enum class Kernels { reference, first };

class Interpreter {
  public:
    /// Binds a kernel to every node but the optimizer's. Throws std::runtime_error when an operator
    /// has no kernel.
    Interpreter(const Graph& graph, Kernels kernels);
    ~Interpreter();

    void set(ValueId value, const std::vector<double>& numbers);
    std::vector<double> get(ValueId value) const;
    void run();

  private:
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    using Buffer = std::unique_ptr<std::byte, Free>;
    static Buffer allocate(std::int64_t bytes);
    void bind(const compiler::Node& node, Kernels kernels);

    const Graph& graph_;
    std::vector<Buffer> buffers_;  // by value
    std::vector<Buffer> workspaces_;
    struct Bound;
    std::vector<Bound> steps_;
    kernels::ThreadTeam team_{1};
};

/// For every logical element, in row-major order, its place in the buffer.
std::vector<std::int64_t> physical_places(const Type& type);

}  // namespace dtnn::tests
