#include "kernels/arguments/elementwise.hpp"

#include <cassert>

#include "kernels/codegen/loop.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
void ElementwiseArguments<T>::read(const Problem& problem, Sources from) {
    for (const void* source : from)
        sources.push_back(static_cast<const T*>(source));
    std::string mistake;
    [[maybe_unused]] const bool sound =
        parse_expression(problem.text("expression"), expression, mistake);
    assert(sound && expression.sources <= int(sources.size()));
    if (problem.loop == nullptr) return;
    functions = vector_functions(problem.isa, problem.dtype);
    if (functions != nullptr) loop = problem.loop;
}

template <class T>
ElementwiseArguments<T> ElementwiseArguments<T>::bind(const Problem& problem, Sources sources,
                                                      Destinations destinations, Workspace) {
    ElementwiseArguments arguments;
    arguments.count = problem.destinations[0].elements();
    arguments.read(problem, sources);
    arguments.dst = static_cast<T*>(destinations[0]);
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(ElementwiseArguments)

}  // namespace dtnn::kernels
