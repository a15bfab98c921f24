#include <cmath>

#include "kernels/cuda/class_rows.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// The fold of hinge over the numbers that are not the label's.
struct HingeOthers {
    double sum;
    Largest largest;

    static DTNN_DEVICE HingeOthers none() { return {0, Largest::none()}; }
    DTNN_DEVICE void merge(const HingeOthers& other) {
        sum += other.sum;
        largest.merge(other.largest);
    }
};

/// The fold of its gradient: the first largest of the others, and how many go into the loss.
struct HingeCounted {
    double mine;  ///< the label's number, from its own term
    double count;
    FirstLargest largest;

    static DTNN_DEVICE HingeCounted none() { return {0, 0, FirstLargest::none()}; }
    DTNN_DEVICE void merge(const HingeCounted& other) {
        mine += other.mine;
        count += other.count;
        largest.merge(other.largest);
    }
};

/// A maximum with 0 that keeps what is not a number.
DTNN_DEVICE inline double above_zero(double value) {
    return value <= 0 ? 0 : value;
}

/// The groups of dice: each column of each of `sets` matrices [rows, columns].
template <class T>
struct DiceGroups {
    const T *src, *targets;
    const std::int32_t* labels;
    std::int64_t sets, rows, columns;
    bool label_of_set;  ///< a label for each set, of its rows; else for each row, of its columns

    std::int64_t count() const { return sets * columns; }
    DTNN_DEVICE double target(std::int64_t set, std::int64_t row, std::int64_t column) const {
        if (targets != nullptr) return double(targets[(set * rows + row) * columns + column]);
        if (label_of_set) return labels[set] == row ? 1.0 : 0.0;
        return labels[set * rows + row] == column ? 1.0 : 0.0;
    }
};

template <class T>
DiceGroups<T> dice_groups(const DiceArguments<T>& a) {
    if (a.pixels == 0) return {a.src, a.targets, a.labels, a.samples, a.classes, 1, true};
    return {a.src, a.targets, a.labels, a.samples / a.pixels, a.pixels, a.classes, false};
}

/// finish(set, column, {sum of p t, sum of p + t}).
template <class T, class Finish>
void sum_dice_groups(const Launch& launch, const DiceGroups<T>& groups, Sums<2>* of_chunks,
                     const Finish& finish) {
    reduce_columns<2>(
        launch, groups.sets, groups.rows, groups.columns, of_chunks,
        [=] DTNN_DEVICE(std::int64_t set, std::int64_t row, std::int64_t column) {
            const auto p = double(groups.src[(set * groups.rows + row) * groups.columns + column]);
            const double t = groups.target(set, row, column);
            return Sums<2>{{p * t, p + t}};
        },
        finish);
}

}  // namespace

DTNN_CUDA_KERNEL(hinge_rows, HingeArguments) {
    const RowLabels<T> labels = row_labels(a);
    auto* const of_row = reinterpret_cast<Sums<1>*>(a.workspace);
    fold_rows<FirstLargest, HingeOthers>(
        launch, a.samples, a.classes,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) { return labels.term(row, c); },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const FirstLargest& folded) {
            const std::int64_t label = labels.of(row, folded);
            if (label < 0 || c == label) return HingeOthers::none();
            const auto mine = double(a.src[row * a.classes + label]);
            const auto other = double(a.src[row * a.classes + c]);
            const double loss =
                a.over_all ? above_zero(a.margin - mine + other) / double(a.classes) : 0;
            return HingeOthers{loss, {other}};
        },
        [=] DTNN_DEVICE(std::int64_t row, const FirstLargest& folded, const HingeOthers& others) {
            const std::int64_t label = labels.of(row, folded);
            of_row[row] = Sums<1>{{others.sum}};
            if (label < 0 || a.over_all) return;
            const auto mine = double(a.src[row * a.classes + label]);
            of_row[row] = Sums<1>{{above_zero(a.margin - mine + others.largest.value)}};
        },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t, const FirstLargest&, const HingeOthers&) {});
    add_rows<1>(launch, a.samples, of_row, [=] DTNN_DEVICE(const Sums<1>& total) {
        if (a.sum != nullptr) {
            *a.sum = total.of[0];
        } else {
            *a.dst = T(total.of[0] / double(a.samples));
        }
    });
}

DTNN_CUDA_KERNEL(hinge_backward_rows, HingeArguments) {
    const RowLabels<T> labels = row_labels(a);
    const double slope = 1 / double(a.samples) / (a.over_all ? double(a.classes) : 1.0);
    fold_rows<FirstLargest, HingeCounted>(
        launch, a.samples, a.classes,
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c) { return labels.term(row, c); },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const FirstLargest& folded) {
            const std::int64_t label = labels.of(row, folded);
            if (label < 0) return HingeCounted::none();
            const auto mine = double(a.src[row * a.classes + label]);
            const auto other = double(a.src[row * a.classes + c]);
            if (c == label) return HingeCounted{mine, 0, FirstLargest::none()};
            return HingeCounted{0, a.over_all && a.margin - mine + other > 0 ? 1.0 : 0.0,
                                FirstLargest::of(other, c, label == 0 ? 1 : 0)};
        },
        [=] DTNN_DEVICE(std::int64_t, const FirstLargest&, HingeCounted& counted) {
            if (a.over_all) return;
            const bool counts =
                counted.largest.place >= 0 && a.margin - counted.mine + counted.largest.value > 0;
            counted.count = counts ? 1 : 0;
        },
        [=] DTNN_DEVICE(std::int64_t row, std::int64_t c, const FirstLargest& folded,
                        const HingeCounted& counted) {
            const std::int64_t label = labels.of(row, folded), i = row * a.classes + c;
            double diff = 0;
            if (c == label) {
                diff = -counted.count * slope;
            } else if (a.over_all) {
                diff = label >= 0 && a.margin - counted.mine + double(a.src[i]) > 0 ? slope : 0.0;
            } else if (c == counted.largest.place) {
                diff = counted.count * slope;
            }
            a.dst[i] = T(diff);
        });
}

DTNN_CUDA_KERNEL(dice_columns, DiceArguments) {
    const DiceGroups<T> groups = dice_groups(a);
    const std::int64_t count = groups.count();
    auto* const of_group = reinterpret_cast<Sums<1>*>(a.workspace);
    sum_dice_groups(launch, groups, reinterpret_cast<Sums<2>*>(of_group + count),
                    [=] DTNN_DEVICE(std::int64_t set, std::int64_t column, const Sums<2>& sums) {
                        const double all = a.smooth + sums.of[1];
                        const double loss = all != 0 ? 1 - (2 * sums.of[0] + a.smooth) / all : 0;
                        of_group[set * groups.columns + column] = Sums<1>{{loss}};
                    });
    add_rows<1>(launch, count, of_group,
                [=] DTNN_DEVICE(const Sums<1>& total) { *a.dst = T(total.of[0] / double(count)); });
}

DTNN_CUDA_KERNEL(dice_backward_columns, DiceArguments) {
    const DiceGroups<T> groups = dice_groups(a);
    const std::int64_t count = groups.count(), rows = groups.rows, columns = groups.columns;
    auto* const of_group = reinterpret_cast<Sums<2>*>(a.workspace);
    sum_dice_groups(launch, groups, of_group + count,
                    [=] DTNN_DEVICE(std::int64_t set, std::int64_t column, const Sums<2>& sums) {
                        of_group[set * columns + column] = sums;
                    });
    launch.each(count * rows, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t column = i % columns, row = i / columns % rows, set = i / columns / rows;
        const Sums<2> sums = of_group[set * columns + column];
        const double all = a.smooth + sums.of[1];
        const double slope = all != 0 ? (2 * sums.of[0] + a.smooth) / all / all -
                                            2 * groups.target(set, row, column) / all
                                      : 0;
        a.dst[i] = T(slope / double(count));
    });
}

}  // namespace dtnn::kernels::cuda
