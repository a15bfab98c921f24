#pragma once
/// The conformance harness: every kernel of the catalogue against its operator's reference.
///
/// An operator's grid is a list of cases, registered in any .cpp of this folder:
///
///     GRID(relu) {
///         std::vector<Case> cases;
///         for (std::int64_t n : {1, 17}) {
///             cases.push_back(Case{.problem = problem("relu", {tensor({n, 3})}, {tensor({n,
///             3})})});
///         }
///         return cases;
///     }
///
/// A case runs in float and double, on every instruction set of this machine, with 1, 2 and 3
/// threads.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tests/kernel/buffer.hpp"

namespace dtnn::kernels::conformance {

struct Case {
    /// f32 stands for the type under test; other types stay as they are.
    Problem problem;
    /// |got - wanted| <= tolerance * max(1, |wanted|); zero: equal.
    double f32_tolerance = 0;
    double f64_tolerance = 0;
    /// (destination, source): the destination may lie on the source. The case runs again with each
    /// of them so.
    std::vector<std::pair<int, int>> in_place = {};
    /// Fills what must not be arbitrary. Before it, floating sources hold uniform numbers in [-1,
    /// 1), integers zero, bytes arbitrary bits.
    std::function<void(std::vector<Buffer>& sources)> prepare = {};
};

/// Images are stored channels last, as by default in plans; `order` says otherwise.
TensorType tensor(Dims dims, DType dtype = DType::f32);
TensorType row_major(Dims dims, DType dtype = DType::f32);
Problem problem(std::string op, std::vector<TensorType> sources,
                std::vector<TensorType> destinations, Attributes attributes = {});

/// Tensors of several ranks and orders, each with an axis to work along.
struct Along {
    TensorType tensor;
    std::int64_t axis;
};
std::vector<Along> tensors_along_axes();
/// The tensor that is left when the axis is gone.
TensorType without(const Along& along);

/// The problem over what 16 bits widen to: the reference takes none of them.
Problem widened(Problem problem);
/// Runs the operator's reference kernel.
void run_reference(const Problem& problem, std::vector<Buffer>& sources,
                   std::vector<Buffer>& destinations);

struct Registration {
    Registration(std::string op, std::vector<Case> (*grid)());
};
#define GRID(op)                                                                               \
    static std::vector<::dtnn::kernels::conformance::Case> op##_grid();                        \
    static const ::dtnn::kernels::conformance::Registration op##_registration(#op, op##_grid); \
    static std::vector<::dtnn::kernels::conformance::Case> op##_grid()

}  // namespace dtnn::kernels::conformance
