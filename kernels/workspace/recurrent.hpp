#pragma once
/// The workspace of recurrent cells; shared by the catalogue, which books it, and the kernels,
/// which use it. It does not grow with the steps.

#include <cstdint>

#include "base/tensor/recurrent_parts.hpp"

namespace dtnn::kernels {

/// Samples that a thread takes through all steps together, at most.
inline constexpr std::int64_t kRecurrentRows = 12;

/// Numbers filled up to two of the widest vectors.
constexpr std::int64_t padded_columns(std::int64_t count) {
    constexpr std::int64_t kTwoVectors = 32;
    return (count + kTwoVectors - 1) / kTwoVectors * kTwoVectors;
}

/// Elements: the weights [rows, columns] in panels, which threads share.
constexpr std::int64_t recurrent_panels(std::int64_t rows, std::int64_t columns) {
    return rows * padded_columns(columns);
}
/// Of a thread, forward: what its samples add up, and their cells.
constexpr std::int64_t recurrent_rows(std::int64_t parts, std::int64_t units) {
    return kRecurrentRows * (padded_columns(parts * units) + padded_columns(units));
}
/// And backward: the gradients of state and cells.
constexpr std::int64_t recurrent_backward_rows(std::int64_t units) {
    return kRecurrentRows * 2 * padded_columns(units);
}

}  // namespace dtnn::kernels
