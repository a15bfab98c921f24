#include "kernels/arguments/elementwise.hpp"

#include <algorithm>
#include <cassert>

#include "kernels/codegen/loop.hpp"
#include "kernels/layout.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
void ElementwiseArguments<T>::read(const Problem& problem, Sources from) {
    for (const void* source : from)
        sources.push_back(static_cast<const T*>(source));
    read_terms(problem);
    assert(expression.inputs <= int(sources.size()));
    periods = numbers_by_channel(expression, problem);
    if (std::any_of(periods.begin(), periods.end(), [](std::int64_t n) { return n > 0; }))
        channel_stride = strides_of(problem.sources[0])[axis_of(problem).first];
    else
        periods.clear();
}

template <class T>
void ElementwiseArguments<T>::read_terms(const Problem& problem) {
    [[maybe_unused]] const auto mistake = parse_postfix(problem.text("expression"), expression);
    assert(!mistake);
    if (problem.loop == nullptr) return;
    functions = vector_functions(problem.isa, problem.dtype);
    if (functions != nullptr) loop = problem.loop;
}

template <class T>
ElementwiseArguments<T> ElementwiseArguments<T>::bind(const Problem& problem, Sources sources,
                                                      Destinations destinations,
                                                      Workspace workspace) {
    ElementwiseArguments arguments;
    arguments.count = problem.destinations[0].elements();
    arguments.read(problem, sources);
    arguments.dst = static_cast<T*>(destinations[0]);
    arguments.tiles = reinterpret_cast<T*>(workspace.data());
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(ElementwiseArguments)

}  // namespace dtnn::kernels
