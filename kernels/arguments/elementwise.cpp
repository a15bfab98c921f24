#include "kernels/arguments/elementwise.hpp"

#include <cassert>

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
ElementwiseArguments<T> ElementwiseArguments<T>::bind(const Problem& problem, Sources sources,
                                                      Destinations destinations, Workspace) {
    ElementwiseArguments arguments;
    arguments.count = problem.destinations[0].elements();
    for (const void* source : sources)
        arguments.sources.push_back(static_cast<const T*>(source));
    arguments.dst = static_cast<T*>(destinations[0]);
    std::string mistake;
    [[maybe_unused]] const bool read =
        parse_expression(problem.text("expression"), arguments.expression, mistake);
    assert(read && arguments.expression.sources <= int(sources.size()));
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(ElementwiseArguments)

}  // namespace dtnn::kernels
