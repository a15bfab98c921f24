#include "kernels/arguments/loss.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
ClassificationArguments<T> ClassificationArguments<T>::bind(const Problem& problem, Sources sources,
                                                            Destinations destinations,
                                                            Workspace workspace) {
    ClassificationArguments a;
    const bool labels_only = problem.sources[0].dtype == DType::i32;
    const TensorDesc& matrix = labels_only ? problem.destinations[0] : problem.sources[0];
    a.class_weights = problem.reals("class_weights");
    const bool scalar = problem.op == "label_weights";
    a.samples = scalar ? problem.sources[0].elements() : matrix.dims[0];
    a.classes = scalar           ? std::int64_t(a.class_weights.size())
                : a.samples == 0 ? 0
                                 : matrix.elements() / a.samples;
    a.epsilon = problem.real("epsilon", 1e-8);
    a.smoothing = problem.real("smoothing");
    a.margin = problem.real("margin", 1);
    a.over_all = problem.text("form") == "all";
    a.smooth = problem.real("smooth", 1);
    a.pixels = problem.integer("pixels");
    a.k = problem.integer("k", 1);
    a.threshold = problem.real("threshold", 0.5);
    a.summed = problem.flag("sum");
    if (!labels_only) a.src = static_cast<const T*>(sources[0]);
    if (problem.sources.back().dtype == DType::i32) {
        a.labels = static_cast<const std::int32_t*>(sources.back());
    } else if (sources.size() > 1) {
        a.targets = static_cast<const T*>(sources[1]);
    }
    void* const result = destinations[0];
    switch (problem.destinations[0].dtype) {
        case DType::i32:
            a.pairs = static_cast<std::int32_t*>(result);
            break;
        case DType::i64:
            a.counts = static_cast<std::int64_t*>(result);
            break;
        default:
            break;
    }
    // A plan of doubles has both here; each kernel writes to the one that is its own.
    if (problem.destinations[0].dtype == DType::f64) a.sum = static_cast<double*>(result);
    if (problem.destinations[0].dtype == problem.dtype) a.dst = static_cast<T*>(result);
    if (destinations.size() > 1) a.probabilities = static_cast<T*>(destinations[1]);
    a.workspace = workspace.data();
    return a;
}

template struct ClassificationArguments<float>;
template struct ClassificationArguments<double>;

}  // namespace dtnn::kernels
