#include "kernels/arguments/norm.hpp"

#include <cmath>
#include <type_traits>

#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// The place of a number of a set, in tensors of one kind.
struct PlaceInLine {
    std::int64_t o, e, i;
};
struct PlaceInImage {
    std::int64_t n, c, h, w;
};
std::int64_t at(const AxisView& view, const PlaceInLine& p) {
    return view.at(p.o, p.e, p.i);
}
std::int64_t at(const ImageLayout& image, const PlaceInImage& p) {
    return image.at(p.n, p.c, p.h, p.w);
}
/// The place of its gamma and beta.
std::int64_t of_gamma(const PlaceInLine& p) {
    return p.e;
}
std::int64_t of_gamma(const PlaceInImage& p) {
    return p.c;
}

/// A set of numbers that are normalised together: a line, ...
struct Line {
    std::int64_t o, i, extent;

    std::int64_t count() const { return extent; }
    template <class Visit>
    void each(Visit visit) const {
        for (std::int64_t e = 0; e < extent; ++e)
            visit(PlaceInLine{o, e, i});
    }
};
/// ... or the channels of a group.
struct Group {
    std::int64_t n, channel, channels, height, width;

    std::int64_t count() const { return channels * height * width; }
    template <class Visit>
    void each(Visit visit) const {
        for (std::int64_t c = channel; c < channel + channels; ++c) {
            for (std::int64_t h = 0; h < height; ++h) {
                for (std::int64_t w = 0; w < width; ++w)
                    visit(PlaceInImage{n, c, h, w});
            }
        }
    }
};

/// Calls visit(set, i) for all sets; i counts them as mean and inverse deviation do.
template <class Visit>
void for_layers(const AxisView& view, Visit visit) {
    for (std::int64_t o = 0; o < view.outer; ++o) {
        for (std::int64_t i = 0; i < view.inner; ++i)
            visit(Line{o, i, view.extent}, o * view.inner + i);
    }
}
template <class Visit>
void for_groups(const ImageLayout& image, std::int64_t groups, Visit visit) {
    const std::int64_t channels = image.channels / groups;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t g = 0; g < groups; ++g)
            visit(Group{n, g * channels, channels, image.height, image.width}, n * groups + g);
    }
}

template <class Arguments, class Set>
void normalise(const Arguments& a, const Set& set, std::int64_t i) {
    using T = std::remove_pointer_t<decltype(a.dst)>;
    const auto x = [&](const auto& p) { return double(a.src[at(a.src_layout, p)]); };
    const auto count = double(set.count());
    double sum = 0, squares = 0;
    set.each([&](const auto& p) { sum += x(p); });
    const double mean = a.centred ? sum / count : 0;
    set.each([&](const auto& p) { squares += (x(p) - mean) * (x(p) - mean); });
    const double inverse = 1 / std::sqrt(squares / count + a.epsilon);
    set.each([&](const auto& p) {
        const double gamma = a.gamma != nullptr ? double(a.gamma[of_gamma(p)]) : 1.0;
        const double beta = a.beta != nullptr ? double(a.beta[of_gamma(p)]) : 0.0;
        a.dst[at(a.dst_layout, p)] = T((x(p) - mean) * inverse * gamma + beta);
    });
    if (a.mean == nullptr) return;
    a.mean[i] = T(mean);
    a.inverse_deviation[i] = T(inverse);
}

/// (src - mean) * inverse_deviation at one place of set `i`.
template <class Arguments, class Place>
double normalised(const Arguments& a, std::int64_t i, const Place& p) {
    return (double(a.src[at(a.src_layout, p)]) - double(a.mean[i])) *
           double(a.inverse_deviation[i]);
}

/// The gradients of the gamma and beta at `place`; each(visit) calls visit(p, set) for what shares
/// them.
template <class Arguments, class Each>
void gamma_gradient(const Arguments& a, std::int64_t place, Each each) {
    using T = std::remove_pointer_t<decltype(a.diff_src)>;
    double diff_gamma = 0, diff_beta = 0;
    each([&](const auto& p, std::int64_t set) {
        const auto diff = double(a.diff_dst[at(a.diff_dst_layout, p)]);
        diff_gamma += diff * normalised(a, set, p);
        diff_beta += diff;
    });
    a.diff_gamma[place] = T(diff_gamma);
    if (a.diff_beta != nullptr) a.diff_beta[place] = T(diff_beta);
}

template <class Arguments, class Set>
void source_gradient(const Arguments& a, const Set& set, std::int64_t i) {
    using T = std::remove_pointer_t<decltype(a.diff_src)>;
    const auto gradient = [&](const auto& p) {
        const double gamma = a.gamma != nullptr ? double(a.gamma[of_gamma(p)]) : 1.0;
        return gamma * double(a.diff_dst[at(a.diff_dst_layout, p)]);
    };
    const auto count = double(set.count());
    double sum = 0, products = 0;
    set.each([&](const auto& p) {
        if (a.centred) sum += gradient(p);
        products += gradient(p) * normalised(a, i, p);
    });
    set.each([&](const auto& p) {
        const double value = gradient(p) - sum / count - normalised(a, i, p) * products / count;
        a.diff_src[at(a.diff_src_layout, p)] = T(double(a.inverse_deviation[i]) * value);
    });
}

}  // namespace

DTNN_REFERENCE(layer_norm, LayerNormArguments) {
    for_layers(a.src_layout, [&](const Line& line, std::int64_t i) { normalise(a, line, i); });
}

// gamma's gradient reads all of diff_dst before diff_src is written, which may lie on it.
DTNN_REFERENCE(layer_norm_backward, LayerNormBackwardArguments) {
    for (std::int64_t e = 0; e < a.src_layout.extent && a.gamma != nullptr; ++e) {
        gamma_gradient(a, e, [&](auto visit) {
            for_layers(a.src_layout, [&](const Line& line, std::int64_t i) {
                visit(PlaceInLine{line.o, e, line.i}, i);
            });
        });
    }
    for_layers(a.src_layout,
               [&](const Line& line, std::int64_t i) { source_gradient(a, line, i); });
}

DTNN_REFERENCE(group_norm, GroupNormArguments) {
    for_groups(a.src_layout, a.groups,
               [&](const Group& group, std::int64_t i) { normalise(a, group, i); });
}

DTNN_REFERENCE(group_norm_backward, GroupNormBackwardArguments) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t c = 0; c < image.channels && a.gamma != nullptr; ++c) {
        const std::int64_t group = c / (image.channels / a.groups);
        gamma_gradient(a, c, [&](auto visit) {
            for_pixels(image, [&](auto n, auto h, auto w) {
                visit(PlaceInImage{n, c, h, w}, n * a.groups + group);
            });
        });
    }
    for_groups(image, a.groups,
               [&](const Group& group, std::int64_t i) { source_gradient(a, group, i); });
}

}  // namespace dtnn::kernels::reference
