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

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

struct NoConstants {
    explicit NoConstants(const Problem&) {}
};

/// dst of src, each with its own layout.
template <class T, class Constants = NoConstants>
struct UnaryArguments : Constants {
    ImageLayout src_layout, dst_layout;
    const T* src;
    T* dst;
    std::byte* workspace;

    static UnaryArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                               Workspace scratch) {
        return {Constants(problem),
                image_layout(problem.sources[0]),
                image_layout(problem.destinations[0]),
                static_cast<const T*>(sources[0]),
                static_cast<T*>(destinations[0]),
                scratch.data()};
    }
};

/// diff_src of diff_dst and of what forward kept, its source or its result.
template <class T, class Constants = NoConstants>
struct GradientArguments : Constants {
    ImageLayout kept_layout, diff_dst_layout, diff_src_layout;
    const T* kept;
    const T* diff_dst;
    T* diff_src;
    std::byte* workspace;

    static GradientArguments bind(const Problem& problem, Sources sources,
                                  Destinations destinations, Workspace scratch) {
        return {Constants(problem),
                image_layout(problem.sources[0]),
                image_layout(problem.sources[1]),
                image_layout(problem.destinations[0]),
                static_cast<const T*>(sources[0]),
                static_cast<const T*>(sources[1]),
                static_cast<T*>(destinations[0]),
                scratch.data()};
    }
};

/// The same for operators that work along one axis of a tensor of any rank (axis_of).
template <class T>
struct LineArguments {
    AxisView src_view, dst_view;
    const T* src;
    T* dst;

    static LineArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                              Workspace) {
        const auto [from, to] =
            views_of(axis_of(problem), problem.sources[0], problem.destinations[0]);
        return {from, to, static_cast<const T*>(sources[0]), static_cast<T*>(destinations[0])};
    }
};

template <class T>
struct LineGradientArguments {
    AxisView kept_view, diff_dst_view, diff_src_view;
    const T* kept;
    const T* diff_dst;
    T* diff_src;

    static LineGradientArguments bind(const Problem& problem, Sources sources,
                                      Destinations destinations, Workspace) {
        const auto [kept, diff_dst, diff_src] = views_of(
            axis_of(problem), problem.sources[0], problem.sources[1], problem.destinations[0]);
        return {kept,
                diff_dst,
                diff_src,
                static_cast<const T*>(sources[0]),
                static_cast<const T*>(sources[1]),
                static_cast<T*>(destinations[0])};
    }
};

}  // namespace dtnn::kernels
