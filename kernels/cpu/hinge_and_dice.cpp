#include "kernels/cpu/class_rows.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The first largest number of a row that is not the label's; -1 when there is no other.
template <class T>
DTNN_INLINE std::int64_t largest_other(const T* row, std::int64_t classes, std::int64_t label) {
    std::int64_t best = -1;
    for (std::int64_t c = 0; c < classes; ++c)
        if (c != label && (best < 0 || row[c] > row[best])) best = c;
    return best;
}

/// A maximum with 0 that keeps what is not a number.
DTNN_INLINE double above_zero(double value) {
    return value <= 0 ? 0 : value;
}

/// The groups of dice: numbers of one class over the pixels of a sample. A row by itself is a
/// sample of one class with the row's numbers as pixels.
template <class T>
struct DiceGroups {
    const DiceArguments<T>& a;
    bool by_class;
    std::int64_t samples, pixels, classes;

    DTNN_INLINE explicit DiceGroups(const DiceArguments<T>& arguments)
        : a(arguments),
          by_class(a.pixels > 0),
          samples(by_class ? a.samples / a.pixels : a.samples),
          pixels(by_class ? a.pixels : a.classes),
          classes(by_class ? a.classes : 1) {}

    DTNN_INLINE std::int64_t place(std::int64_t n, std::int64_t pixel, std::int64_t c) const {
        return (n * pixels + pixel) * classes + c;
    }
    DTNN_INLINE double wanted(std::int64_t n, std::int64_t pixel, std::int64_t c) const {
        if (a.targets) return double(a.targets[place(n, pixel, c)]);
        const std::int64_t label = by_class ? a.labels[n * pixels + pixel] : a.labels[n];
        return label == (by_class ? c : pixel) ? 1.0 : 0.0;
    }
};

/// The sums of dice for some classes of a sample. So many at a time that rows are read in order.
constexpr std::int64_t kClassesAtOnce = 32;
struct DiceSums {
    double both[kClassesAtOnce], all[kClassesAtOnce];
};

template <class T>
DTNN_INLINE void dice_sums(const DiceGroups<T>& groups, std::int64_t n, std::int64_t first,
                           std::int64_t count, DiceSums& sums) {
    for (std::int64_t c = 0; c < count; ++c)
        sums.both[c] = sums.all[c] = 0;
    for (std::int64_t pixel = 0; pixel < groups.pixels; ++pixel)
        for (std::int64_t c = 0; c < count; ++c) {
            const double p = double(groups.a.src[groups.place(n, pixel, first + c)]);
            const double t = groups.wanted(n, pixel, first + c);
            sums.both[c] += p * t;
            sums.all[c] += p + t;
        }
}

/// visit(first, count) for stretches of the classes.
template <class Visit>
DTNN_INLINE void for_stretches(std::int64_t classes, Visit visit) {
    for (std::int64_t first = 0; first < classes; first += kClassesAtOnce)
        visit(first, classes - first < kClassesAtOnce ? classes - first : kClassesAtOnce);
}

}  // namespace

DTNN_KERNEL(hinge_rows, HingeArguments) {
    const double sum = sum_of_rows(a, team, a.samples, a.classes, [&](std::int64_t n) {
        const std::int64_t label = label_of(a, n);
        if (label < 0) return 0.0;
        const T* const row = a.src + n * a.classes;
        const double short_of = a.margin - double(row[label]);
        if (!a.over_all) {
            const std::int64_t other = largest_other(row, a.classes, label);
            return other < 0 ? 0.0 : above_zero(short_of + double(row[other]));
        }
        double all = 0;
        for (std::int64_t c = 0; c < a.classes; ++c)
            if (c != label) all += above_zero(short_of + double(row[c]));
        return all / double(a.classes);
    });
    if (a.sum) {
        *a.sum = sum;
    } else {
        *a.dst = T(sum / double(a.samples));
    }
}

DTNN_KERNEL(hinge_backward_rows, HingeArguments) {
    const double slope = 1 / double(a.samples) / (a.over_all ? double(a.classes) : 1.0);
    team.for_pieces(a.samples, rows_grain(a.classes), [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n) {
            const T* const row = a.src + n * a.classes;
            T* const diff = a.dst + n * a.classes;
            const std::int64_t label = label_of(a, n);
            const double short_of = label < 0 ? 0.0 : a.margin - double(row[label]);
            std::int64_t counted = 0;
            if (a.over_all && label >= 0) {
                // The gradient may lie on the numbers: each is read before it is written.
                for (std::int64_t c = 0; c < a.classes; ++c) {
                    const bool counts = c != label && short_of + double(row[c]) > 0;
                    diff[c] = counts ? T(slope) : T(0);
                    counted += counts ? 1 : 0;
                }
            } else {
                const std::int64_t other = label < 0 ? -1 : largest_other(row, a.classes, label);
                const bool counts = other >= 0 && short_of + double(row[other]) > 0;
                for (std::int64_t c = 0; c < a.classes; ++c)
                    diff[c] = 0;
                if (counts) diff[other] = T(slope);
                counted = counts ? 1 : 0;
            }
            if (label >= 0) diff[label] = T(-slope * double(counted));
        }
    });
}

DTNN_KERNEL(dice_samples, DiceArguments) {
    const DiceGroups<T> groups(a);
    const double sum =
        sum_of_rows(a, team, groups.samples, groups.pixels * groups.classes, [&](std::int64_t n) {
            double loss = 0;
            for_stretches(groups.classes, [&](std::int64_t first, std::int64_t count) {
                DiceSums sums;
                dice_sums(groups, n, first, count, sums);
                for (std::int64_t c = 0; c < count; ++c) {
                    const double below = sums.all[c] + a.smooth;
                    if (below != 0) loss += 1 - (2 * sums.both[c] + a.smooth) / below;
                }
            });
            return loss;
        });
    *a.dst = T(sum / double(groups.samples * groups.classes));
}

DTNN_KERNEL(dice_backward_samples, DiceArguments) {
    const DiceGroups<T> groups(a);
    const double scale = 1 / double(groups.samples * groups.classes);
    const std::int64_t grain = rows_grain(groups.pixels * groups.classes);
    team.for_pieces(groups.samples, grain, [&](auto begin, auto end, int) {
        for (std::int64_t n = begin; n < end; ++n)
            for_stretches(groups.classes, [&](std::int64_t first, std::int64_t count) {
                DiceSums sums;
                dice_sums(groups, n, first, count, sums);
                // diff = scale * (-2 t / below + (2 both + smooth) / below^2)
                for (std::int64_t c = 0; c < count; ++c) {
                    const double below = sums.all[c] + a.smooth;
                    const double one = below != 0 ? scale / below : 0;
                    sums.all[c] = -2 * one;
                    sums.both[c] = below != 0 ? (2 * sums.both[c] + a.smooth) / below * one : 0;
                }
                for (std::int64_t pixel = 0; pixel < groups.pixels; ++pixel)
                    for (std::int64_t c = 0; c < count; ++c)
                        a.dst[groups.place(n, pixel, first + c)] =
                            T(sums.all[c] * groups.wanted(n, pixel, first + c) + sums.both[c]);
            });
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
