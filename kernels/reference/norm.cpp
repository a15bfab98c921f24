#include "kernels/arguments/norm.hpp"

#include <cmath>
#include <type_traits>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// A set of numbers that are normalised together: a box of the image.
struct Box {
    std::int64_t n, channel, channels, row, rows, column, columns;

    std::int64_t count() const { return channels * rows * columns; }
    template <class Visit>
    void each(Visit visit) const {
        for (std::int64_t c = channel; c < channel + channels; ++c) {
            for (std::int64_t h = row; h < row + rows; ++h) {
                for (std::int64_t w = column; w < column + columns; ++w)
                    visit(c, h, w);
            }
        }
    }
};

/// Calls visit(box, i) for layer_norm's sets; i counts them as mean and inverse deviation do.
template <class Visit>
void for_layers(const ImageLayout& image, bool along_channels, Visit visit) {
    std::int64_t i = 0;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        if (!along_channels) {
            visit(Box{n, 0, image.channels, 0, image.height, 0, image.width}, i++);
            continue;
        }
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w)
                visit(Box{n, 0, image.channels, h, 1, w, 1}, i++);
        }
    }
}

template <class Visit>
void for_groups(const ImageLayout& image, std::int64_t groups, Visit visit) {
    const std::int64_t channels = image.channels / groups;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t g = 0; g < groups; ++g) {
            visit(Box{n, g * channels, channels, 0, image.height, 0, image.width}, n * groups + g);
        }
    }
}

/// `place(c, h, w)` is where gamma and beta lie.
template <class Arguments, class Place>
void normalise(const Arguments& a, const Box& box, std::int64_t i, Place place) {
    using T = std::remove_pointer_t<decltype(a.dst)>;
    const auto x = [&](auto c, auto h, auto w) {
        return double(a.src[a.src_layout.at(box.n, c, h, w)]);
    };
    const auto count = double(box.count());
    double sum = 0, squares = 0;
    box.each([&](auto c, auto h, auto w) { sum += x(c, h, w); });
    const double mean = sum / count;
    box.each([&](auto c, auto h, auto w) { squares += (x(c, h, w) - mean) * (x(c, h, w) - mean); });
    const double inverse = 1 / std::sqrt(squares / count + a.epsilon);
    box.each([&](auto c, auto h, auto w) {
        const double gamma = a.gamma != nullptr ? double(a.gamma[place(c, h, w)]) : 1.0;
        const double beta = a.beta != nullptr ? double(a.beta[place(c, h, w)]) : 0.0;
        a.dst[a.dst_layout.at(box.n, c, h, w)] = T((x(c, h, w) - mean) * inverse * gamma + beta);
    });
    if (a.mean == nullptr) return;
    a.mean[i] = T(mean);
    a.inverse_deviation[i] = T(inverse);
}

/// (src - mean) * inverse_deviation at one place; `i` is that place's set.
template <class Arguments>
double normalised(const Arguments& a, std::int64_t i, std::int64_t n, std::int64_t c,
                  std::int64_t h, std::int64_t w) {
    return (double(a.src[a.src_layout.at(n, c, h, w)]) - double(a.mean[i])) *
           double(a.inverse_deviation[i]);
}

/// The gradients of the gamma and beta at `place`, which the boxes' elements share. `set` gives an
/// element's set.
template <class Arguments, class Set>
void gamma_gradient(const Arguments& a, const Box& sharing, std::int64_t place, Set set) {
    using T = std::remove_pointer_t<decltype(a.diff_src)>;
    double diff_gamma = 0, diff_beta = 0;
    for (std::int64_t n = 0; n < a.src_layout.batch; ++n) {
        sharing.each([&](auto c, auto h, auto w) {
            const auto diff = double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
            diff_gamma += diff * normalised(a, set(n, c, h, w), n, c, h, w);
            diff_beta += diff;
        });
    }
    a.diff_gamma[place] = T(diff_gamma);
    a.diff_beta[place] = T(diff_beta);
}

template <class Arguments, class Place>
void source_gradient(const Arguments& a, const Box& box, std::int64_t i, Place place) {
    using T = std::remove_pointer_t<decltype(a.diff_src)>;
    const auto gradient = [&](auto c, auto h, auto w) {
        const double gamma = a.gamma != nullptr ? double(a.gamma[place(c, h, w)]) : 1.0;
        return gamma * double(a.diff_dst[a.diff_dst_layout.at(box.n, c, h, w)]);
    };
    const auto count = double(box.count());
    double sum = 0, products = 0;
    box.each([&](auto c, auto h, auto w) {
        sum += gradient(c, h, w);
        products += gradient(c, h, w) * normalised(a, i, box.n, c, h, w);
    });
    box.each([&](auto c, auto h, auto w) {
        const double value =
            gradient(c, h, w) - sum / count - normalised(a, i, box.n, c, h, w) * products / count;
        a.diff_src[a.diff_src_layout.at(box.n, c, h, w)] =
            T(double(a.inverse_deviation[i]) * value);
    });
}

}  // namespace

template <class T>
void layer_norm_reference(const LayerNormArguments<T>& a, ThreadTeam&) {
    const auto place = [&](auto c, auto h, auto w) { return a.gamma_layout.at(0, c, h, w); };
    for_layers(a.src_layout, a.along_channels,
               [&](const Box& box, std::int64_t i) { normalise(a, box, i, place); });
}

// gamma's gradient reads all of diff_dst before diff_src is written, which may lie on it.
template <class T>
void layer_norm_backward_reference(const LayerNormBackwardArguments<T>& a, ThreadTeam&) {
    const ImageLayout &image = a.src_layout, &gamma = a.gamma_layout;
    const auto place = [&](auto c, auto h, auto w) { return gamma.at(0, c, h, w); };
    if (a.gamma != nullptr) {
        const auto set = [&](auto n, auto, auto h, auto w) {
            return a.along_channels ? (n * image.height + h) * image.width + w : n;
        };
        for (std::int64_t c = 0; c < image.channels; ++c) {
            if (a.along_channels) {
                gamma_gradient(a, {0, c, 1, 0, image.height, 0, image.width}, place(c, 0, 0), set);
                continue;
            }
            for (std::int64_t h = 0; h < image.height; ++h) {
                for (std::int64_t w = 0; w < image.width; ++w)
                    gamma_gradient(a, {0, c, 1, h, 1, w, 1}, place(c, h, w), set);
            }
        }
    }
    for_layers(image, a.along_channels,
               [&](const Box& box, std::int64_t i) { source_gradient(a, box, i, place); });
}

template <class T>
void group_norm_reference(const GroupNormArguments<T>& a, ThreadTeam&) {
    const auto place = [](auto c, auto, auto) { return c; };
    for_groups(a.src_layout, a.groups,
               [&](const Box& box, std::int64_t i) { normalise(a, box, i, place); });
}

template <class T>
void group_norm_backward_reference(const GroupNormBackwardArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.src_layout;
    if (a.gamma != nullptr) {
        for (std::int64_t c = 0; c < image.channels; ++c) {
            const std::int64_t group = c / (image.channels / a.groups);
            gamma_gradient(a, {0, c, 1, 0, image.height, 0, image.width}, c,
                           [&](auto n, auto, auto, auto) { return n * a.groups + group; });
        }
    }
    for_groups(image, a.groups, [&](const Box& box, std::int64_t i) {
        source_gradient(a, box, i, [](auto c, auto, auto) { return c; });
    });
}

DTNN_REFERENCE(layer_norm, LayerNormArguments)
DTNN_REFERENCE(layer_norm_backward, LayerNormBackwardArguments)
DTNN_REFERENCE(group_norm, GroupNormArguments)
DTNN_REFERENCE(group_norm_backward, GroupNormBackwardArguments)

}  // namespace dtnn::kernels::reference
