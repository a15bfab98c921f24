#include "kernels/arguments/resample.hpp"

#include <algorithm>
#include <cstddef>

namespace dtnn::kernels {
namespace {

/// Collects taps, result by result.
template <class T>
class TapList {
  public:
    void add(std::int64_t source, double weight) {
        taps_.source.push_back(source);
        taps_.weight.push_back(static_cast<Wide<T>>(weight));
    }
    void next() { taps_.first.push_back(std::int64_t(taps_.source.size())); }
    AxisTaps<T> take() { return std::move(taps_); }

  private:
    AxisTaps<T> taps_;
};

/// Result r is source r + shift, or nothing.
template <class T>
AxisTaps<T> shifted(std::int64_t sources, std::int64_t results, std::int64_t shift) {
    TapList<T> list;
    for (std::int64_t r = 0; r < results; ++r) {
        if (r + shift >= 0 && r + shift < sources) list.add(r + shift, 1);
        list.next();
    }
    return list.take();
}

/// The mean of sources floor(r*S/R) to ceil((r+1)*S/R) - 1, as torch.nn.AdaptiveAvgPool2d.
template <class T>
AxisTaps<T> windows(std::int64_t sources, std::int64_t results) {
    TapList<T> list;
    for (std::int64_t r = 0; r < results; ++r) {
        const std::int64_t begin = r * sources / results;
        const std::int64_t end = ((r + 1) * sources + results - 1) / results;
        for (std::int64_t s = begin; s < end; ++s)
            list.add(s, 1.0 / double(end - begin));
        list.next();
    }
    return list.take();
}

template <class T>
AxisTaps<T> nearest(std::int64_t sources, std::int64_t results) {
    TapList<T> list;
    for (std::int64_t r = 0; r < results; ++r) {
        list.add(r * sources / results, 1);
        list.next();
    }
    return list.take();
}

/// As torch.nn.functional.interpolate: the place of result r among the sources, and the two
/// neighbours of it by their distance.
template <class T>
AxisTaps<T> linear(std::int64_t sources, std::int64_t results, bool align_corners) {
    const auto extent = double(sources), size = double(results);
    const double scale =
        align_corners ? (results > 1 ? (extent - 1) / (size - 1) : 0) : extent / size;
    TapList<T> list;
    for (std::int64_t r = 0; r < results; ++r) {
        const auto at = double(r);
        const double place = align_corners ? at * scale : std::max((at + 0.5) * scale - 0.5, 0.0);
        const std::int64_t lower = std::min(std::int64_t(place), sources - 1);
        const double part = lower + 1 < sources ? place - double(lower) : 0;
        list.add(lower, 1 - part);
        if (part > 0) list.add(lower + 1, part);
        list.next();
    }
    return list.take();
}

/// The taps by which gradients of results flow back to sources.
template <class T>
AxisTaps<T> transposed(const AxisTaps<T>& taps, std::int64_t sources) {
    const auto count = std::size_t(sources);
    AxisTaps<T> back;
    back.first.assign(count + 1, 0);
    for (const std::int64_t source : taps.source)
        ++back.first[std::size_t(source) + 1];
    for (std::size_t s = 0; s < count; ++s)
        back.first[s + 1] += back.first[s];
    back.source.resize(taps.source.size());
    back.weight.resize(taps.source.size());
    std::vector<std::int64_t> next(back.first.begin(), back.first.end() - 1);
    for (std::int64_t r = 0; r < taps.results(); ++r) {
        const auto end = std::size_t(taps.first[std::size_t(r) + 1]);
        for (auto i = std::size_t(taps.first[std::size_t(r)]); i < end; ++i) {
            const auto at = std::size_t(next[std::size_t(taps.source[i])]++);
            back.source[at] = r;
            back.weight[at] = taps.weight[i];
        }
    }
    return back;
}

/// The taps of the forward operator along axis 0 (height) or 1 (width), `sources` being its
/// source's extent and `results` its result's.
template <class T>
AxisTaps<T> forward_taps(const Problem& problem, std::size_t axis, std::int64_t sources,
                         std::int64_t results) {
    const auto is = [&](const char* op) { return problem.op.starts_with(op); };
    if (is("adaptive")) return windows<T>(sources, results);
    if (is("upsample2d")) {
        return problem.chosen<Resampling>("mode") == Resampling::bilinear
                   ? linear<T>(sources, results, problem.flag("align_corners"))
                   : nearest<T>(sources, results);
    }
    return shifted<T>(sources, results, -problem.integers("padding")[2 * axis]);
}

}  // namespace

template <class T>
BothTaps<T>::BothTaps(const Operands& operands) : FromOperands(operands) {
    const bool backward = bool(o.result("diff_src"));
    const ImageLayout from = o.first_source().image(), to = o.first_result().image();
    const ImageLayout &source = backward ? to : from, &result = backward ? from : to;
    y = forward_taps<T>(o.problem, 0, source.height, result.height);
    x = forward_taps<T>(o.problem, 1, source.width, result.width);
    if (!backward) return;
    y = transposed(y, source.height);
    x = transposed(x, source.width);
}

DTNN_ARGUMENTS_OF_VALUES(BothTaps)

}  // namespace dtnn::kernels
