#include "kernels/arguments/elementwise.hpp"

#include <algorithm>
#include <cassert>

#include "kernels/codegen/loop.hpp"
#include "kernels/workspace/elementwise.hpp"

namespace dtnn::kernels {

template <class T>
void ElementwiseArguments<T>::read(const Operands& o) {
    for (const void* source : o.repeated())
        sources.push_back(static_cast<const T*>(source));
    read_terms(o.problem);
    assert(expression.inputs <= int(sources.size()));
    periods = numbers_by_channel(expression, o.problem);
    if (std::any_of(periods.begin(), periods.end(), [](std::int64_t n) { return n > 0; }))
        channel_stride = strides_of(*o.first_source().type())[axis_of(o.problem).first];
    else
        periods.clear();
}

template <class T>
void ElementwiseArguments<T>::read_terms(const Problem& problem) {
    [[maybe_unused]] const auto mistake = parse_postfix(problem.text("expression"), expression);
    assert(!mistake);
    if (problem.loop != nullptr) functions = vector_functions(problem.isa, problem.dtype);
    if (functions != nullptr)
        loop = problem.loop;
    else
        steps = steps_of(expression, kExpressionSlots);
}

DTNN_ARGUMENTS_OF_VALUES(ElementwiseArguments)

}  // namespace dtnn::kernels
