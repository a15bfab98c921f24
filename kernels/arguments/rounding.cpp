#include "kernels/arguments/rounding.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
CastNarrowArguments<T> CastNarrowArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations, Workspace) {
    return {problem.sources[0].elements(), static_cast<const Wide<T>*>(sources[0]),
            static_cast<T*>(destinations[0])};
}

template <class T>
CastWideArguments<T> CastWideArguments<T>::bind(const Problem& problem, Sources sources,
                                                Destinations destinations, Workspace) {
    return {problem.sources[0].elements(), static_cast<const T*>(sources[0]),
            static_cast<Wide<T>*>(destinations[0])};
}

DTNN_ARGUMENTS_OF_VALUES(CastNarrowArguments)
DTNN_ARGUMENTS_OF_VALUES(CastWideArguments)

}  // namespace dtnn::kernels
