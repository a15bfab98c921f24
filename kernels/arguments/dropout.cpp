#include "kernels/arguments/dropout.hpp"

#include "kernels/philox.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
DropoutApplyArguments<T> DropoutApplyArguments<T>::bind(const Problem& problem, Sources sources,
                                                        Destinations destinations,
                                                        Workspace workspace) {
    DropoutApplyArguments a;
    const double rate = problem.real("rate");
    a.count = problem.sources[0].elements();
    a.sample_numbers = a.count / problem.sources[0].dims[0];
    a.layout = merged_layout(problem.sources[0]).value();
    a.row_major = is_row_major(problem.sources[0]);
    a.key = philox::key_of(std::uint64_t(problem.integer("seed")), philox::Purpose::dropout,
                           std::uint64_t(problem.integer("stream")));
    a.threshold = philox::keep_threshold(rate);
    a.scale = rate < 1 ? Wide<T>(1 / (1 - rate)) : Wide<T>(0);
    a.src = static_cast<const T*>(sources[0]);
    a.position = static_cast<const std::int64_t*>(sources[1]);
    a.dst = static_cast<T*>(destinations[0]);
    a.workspace = workspace.data();
    return a;
}

DTNN_ARGUMENTS_OF_VALUES(DropoutApplyArguments)

}  // namespace dtnn::kernels
