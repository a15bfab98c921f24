#include "kernels/arguments/loss.hpp"

#include "kernels/layout.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {
namespace {

template <class T, class Arguments>
void bind_class_loss(Arguments& a, const Problem& problem, Destinations destinations) {
    a.smoothing = problem.real("smoothing", 0);
    a.class_weights = problem.reals("class_weights");
    a.dst = static_cast<T*>(destinations[0]);
}

}  // namespace

template <class T>
void LabelledRows<T>::bind_rows(const Problem& problem, Sources sources, Workspace scratch) {
    const TensorDesc& first = problem.sources[0];
    if (first.dtype != DType::i32) {
        const ClassRows rows = class_rows(problem, first);
        samples = rows.rows, classes = rows.classes;
        src = static_cast<const T*>(sources[0]);
    }
    if (problem.sources.back().dtype == DType::i32) {
        labels = static_cast<const std::int32_t*>(sources.back());
    } else if (sources.size() > 1) {
        targets = static_cast<const T*>(sources[1]);
    }
    workspace = scratch.data();
}

template <class T>
ClassLossArguments<T> ClassLossArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace workspace) {
    ClassLossArguments a;
    a.bind_rows(problem, sources, workspace);
    bind_class_loss<T>(a, problem, destinations);
    return a;
}

template <class T>
CategoricalCrossEntropyArguments<T> CategoricalCrossEntropyArguments<T>::bind(
    const Problem& problem, Sources sources, Destinations destinations, Workspace workspace) {
    CategoricalCrossEntropyArguments a;
    a.bind_rows(problem, sources, workspace);
    bind_class_loss<T>(a, problem, destinations);
    a.epsilon = problem.real("epsilon");
    return a;
}

template <class T>
SoftmaxCrossEntropyArguments<T> SoftmaxCrossEntropyArguments<T>::bind(const Problem& problem,
                                                                      Sources sources,
                                                                      Destinations destinations,
                                                                      Workspace workspace) {
    SoftmaxCrossEntropyArguments a;
    a.bind_rows(problem, sources, workspace);
    bind_class_loss<T>(a, problem, destinations);
    a.probabilities = static_cast<T*>(destinations[1]);
    return a;
}

template <class T>
HingeArguments<T> HingeArguments<T>::bind(const Problem& problem, Sources sources,
                                          Destinations destinations, Workspace workspace) {
    HingeArguments a;
    a.bind_rows(problem, sources, workspace);
    a.margin = problem.real("margin");
    a.over_all = problem.text("form") == "all";
    if (problem.flag("sum")) {
        a.sum = static_cast<double*>(destinations[0]);
    } else {
        a.dst = static_cast<T*>(destinations[0]);
    }
    return a;
}

template <class T>
DiceArguments<T> DiceArguments<T>::bind(const Problem& problem, Sources sources,
                                        Destinations destinations, Workspace workspace) {
    DiceArguments a;
    a.bind_rows(problem, sources, workspace);
    a.smooth = problem.real("smooth");
    a.pixels = problem.integer("pixels");
    a.dst = static_cast<T*>(destinations[0]);
    return a;
}

template <class T>
AccuracyArguments<T> AccuracyArguments<T>::bind(const Problem& problem, Sources sources,
                                                Destinations destinations, Workspace workspace) {
    AccuracyArguments a;
    a.bind_rows(problem, sources, workspace);
    a.sum = static_cast<double*>(destinations[0]);
    return a;
}

template <class T>
TopKAccuracyArguments<T> TopKAccuracyArguments<T>::bind(const Problem& problem, Sources sources,
                                                        Destinations destinations,
                                                        Workspace workspace) {
    TopKAccuracyArguments a;
    a.bind_rows(problem, sources, workspace);
    a.k = problem.integer("k");
    a.sum = static_cast<double*>(destinations[0]);
    return a;
}

template <class T>
ClassPairsArguments<T> ClassPairsArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    ClassPairsArguments a;
    a.bind_rows(problem, sources, workspace);
    a.pairs = static_cast<std::int32_t*>(destinations[0]);
    return a;
}

template <class T>
LabelCountsArguments<T> LabelCountsArguments<T>::bind(const Problem& problem, Sources sources,
                                                      Destinations destinations,
                                                      Workspace workspace) {
    LabelCountsArguments a;
    a.bind_rows(problem, sources, workspace);
    a.threshold = problem.real("threshold");
    a.counts = static_cast<std::int64_t*>(destinations[0]);
    return a;
}

template <class T>
LabelWeightsArguments<T> LabelWeightsArguments<T>::bind(const Problem& problem, Sources sources,
                                                        Destinations destinations,
                                                        Workspace workspace) {
    LabelWeightsArguments a;
    a.bind_rows(problem, sources, workspace);
    a.class_weights = problem.reals("class_weights");
    a.samples = problem.sources[0].elements();
    a.classes = std::int64_t(a.class_weights.size());
    a.sum = static_cast<double*>(destinations[0]);
    return a;
}

template <class T>
LabelShareArguments<T> LabelShareArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    LabelShareArguments a;
    a.workspace = workspace.data();
    a.labels = static_cast<const std::int32_t*>(sources[0]);
    a.class_weights = problem.reals("class_weights");
    a.samples = problem.sources[0].elements();
    a.classes = std::int64_t(a.class_weights.size());
    a.batch_weight = static_cast<const T*>(sources[1]);
    a.share = static_cast<T*>(destinations[0]);
    return a;
}

template <class T>
OneHotArguments<T> OneHotArguments<T>::bind(const Problem& problem, Sources sources,
                                            Destinations destinations, Workspace workspace) {
    OneHotArguments a;
    a.bind_rows(problem, sources, workspace);
    // The rows of a sample with several labels lie one behind the other.
    a.samples = problem.sources[0].elements();
    a.classes = a.samples == 0 ? 0 : problem.destinations[0].elements() / a.samples;
    a.dst = static_cast<T*>(destinations[0]);
    return a;
}

template <class T>
ScaleClassesArguments<T> ScaleClassesArguments<T>::bind(const Problem& problem, Sources sources,
                                                        Destinations destinations,
                                                        Workspace workspace) {
    ScaleClassesArguments a;
    a.bind_rows(problem, sources, workspace);
    a.class_weights = problem.reals("class_weights");
    a.dst = static_cast<T*>(destinations[0]);
    return a;
}

DTNN_ARGUMENTS(LabelledRows)
DTNN_ARGUMENTS(ClassLossArguments)
DTNN_ARGUMENTS(CategoricalCrossEntropyArguments)
DTNN_ARGUMENTS(SoftmaxCrossEntropyArguments)
DTNN_ARGUMENTS(HingeArguments)
DTNN_ARGUMENTS(DiceArguments)
DTNN_ARGUMENTS(AccuracyArguments)
DTNN_ARGUMENTS(TopKAccuracyArguments)
DTNN_ARGUMENTS(ClassPairsArguments)
DTNN_ARGUMENTS(LabelCountsArguments)
DTNN_ARGUMENTS(LabelWeightsArguments)
DTNN_ARGUMENTS(LabelShareArguments)
DTNN_ARGUMENTS(OneHotArguments)
DTNN_ARGUMENTS(ScaleClassesArguments)

}  // namespace dtnn::kernels
