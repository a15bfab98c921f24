#pragma once
/// The arguments of operators that make one tensor of one, or a gradient of two, and the one place
/// that binds them. What else an operator has, `Constants` reads from its problem:
///
///     struct Window {
///         std::int64_t size;
///         explicit Window(const Problem& problem) : size(problem.integer("size")) {}
///     };
///     template <class T>
///     using SmoothArguments = UnaryArguments<T, Window>;

#include <tuple>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

struct NoConstants {
    explicit NoConstants(const Problem&) {}
};

/// dst of src, each with its own layout.
template <class T, class Constants = NoConstants>
struct UnaryArguments : FromOperands, Constants {
    ImageLayout src_layout = o.first_source().image(), dst_layout = o.first_result().image();
    const T* src = o.first_source();
    T* dst = o.first_result();
    std::byte* workspace = o.scratch();

    explicit UnaryArguments(const Operands& operands)
        : FromOperands(operands), Constants(operands.problem) {}
};

/// diff_src of diff_dst and of what forward kept, its source or its result.
template <class T, class Constants = NoConstants>
struct GradientArguments : FromOperands, Constants {
    ImageLayout kept_layout = o.first_source().image(),
                diff_dst_layout = o.source("diff_dst").image(),
                diff_src_layout = o.result("diff_src").image();
    const T* kept = o.first_source();
    const T* diff_dst = o.source("diff_dst");
    T* diff_src = o.result("diff_src");
    std::byte* workspace = o.scratch();

    explicit GradientArguments(const Operands& operands)
        : FromOperands(operands), Constants(operands.problem) {}
};

/// The same for operators that work along one axis of a tensor of any rank (axis_of).
template <class T>
struct LineArguments : FromOperands {
    AxisView src_view, dst_view;
    const T* src = o.first_source();
    T* dst = o.first_result();

    explicit LineArguments(const Operands& operands) : FromOperands(operands) {
        std::tie(src_view, dst_view) = std::tuple_cat(
            views_of(axis_of(o.problem), *o.first_source().type(), *o.first_result().type()));
    }
};

template <class T>
struct LineGradientArguments : FromOperands {
    AxisView kept_view, diff_dst_view, diff_src_view;
    const T* kept = o.first_source();
    const T* diff_dst = o.source("diff_dst");
    T* diff_src = o.result("diff_src");

    explicit LineGradientArguments(const Operands& operands) : FromOperands(operands) {
        std::tie(kept_view, diff_dst_view, diff_src_view) =
            std::tuple_cat(views_of(axis_of(o.problem), *o.first_source().type(),
                                    *o.source("diff_dst").type(), *o.result("diff_src").type()));
    }
};

}  // namespace dtnn::kernels
