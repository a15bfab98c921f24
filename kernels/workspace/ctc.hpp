#pragma once
/// The workspace of connectionist temporal classification; shared by the catalogue, which books it,
/// and the kernels, which use it. All of it is doubles, and a row of one has a number for each
/// state of a sample.

#include <cstdint>

namespace dtnn::kernels {

/// States that are never there, in front of a row and behind it: a path comes from the two before a
/// state, and goes to the two behind it.
inline constexpr std::int64_t kCtcMargin = 2;

/// Numbers of a row, for a sample of as many labels as there is room for: whole cache lines.
__attribute__((always_inline)) constexpr std::int64_t ctc_row(std::int64_t room) {
    constexpr std::int64_t kLine = 8;
    return (2 * room + 1 + 2 * kCtcMargin + kLine - 1) / kLine * kLine;
}

/// Of a thread, forward: two steps, the probabilities of one, and which states may be skipped to.
__attribute__((always_inline)) constexpr std::int64_t ctc_rows(std::int64_t room) {
    return 4 * ctc_row(room);
}
/// And backward: all steps, and a number for each class.
__attribute__((always_inline)) constexpr std::int64_t ctc_backward_rows(std::int64_t room,
                                                                        std::int64_t steps,
                                                                        std::int64_t classes) {
    return steps * ctc_row(room) + ctc_rows(room) + classes;
}

/// Of a sample on a device, forward and backward, and of its least numbers of changes.
__attribute__((always_inline)) constexpr std::int64_t ctc_device_rows(std::int64_t room) {
    return 2 * ctc_row(room);
}
__attribute__((always_inline)) constexpr std::int64_t ctc_device_backward_rows(std::int64_t room,
                                                                               std::int64_t steps) {
    return (steps + 2) * ctc_row(room);
}

/// Bytes of the integers that the least numbers of changes of a thread's sample, or of a sample on
/// a device, are worked out in: one for each label, and one more.
__attribute__((always_inline)) constexpr std::int64_t label_changes(std::int64_t room) {
    return (room + 1) * 4;
}

}  // namespace dtnn::kernels
