#pragma once
/// Weights of convolutions and dense layers as kernels like to read them: the filters (or units) in
/// blocks of a few, all products of a block one behind the other. An operand whose problem has the
/// attribute `packed`, [filters, filters of a block], is stored so.

#include <cstdint>

#include "kernels/problem.hpp"

namespace dtnn::kernels {

inline constexpr std::int64_t kWidestBlock = 1024;  ///< filters; more than any kernel has

/// The physical order, written out.
std::vector<int> stored_order(const TensorType& tensor);

/// The form of weights whose axis `axis` is cut in blocks: dims [blocks, the other axes, block],
/// the other axes stored as they were.
struct PackedForm {
    bool possible = false;  ///< the axis is stored last
    Dims dims;
    std::vector<int> order;
};
PackedForm packed_form(const TensorType& weights, std::int64_t axis, std::int64_t block);

/// The filters of a block of the problem's weights; 0: they are not packed.
std::int64_t packed_block(const Problem& problem);

}  // namespace dtnn::kernels
