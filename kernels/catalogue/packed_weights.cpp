#include "kernels/packed_weights.hpp"

#include <numeric>

namespace dtnn::kernels {

std::vector<int> stored_order(const TensorType& tensor) {
    if (!tensor.order.empty()) return tensor.order;
    std::vector<int> order(tensor.dims.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

PackedForm packed_form(const TensorType& weights, std::int64_t axis, std::int64_t block) {
    PackedForm form;
    const std::vector<int> stored = stored_order(weights);
    form.possible = stored.back() == int(axis);
    if (!form.possible) return form;
    const std::int64_t filters = weights.dims[std::size_t(axis)];
    form.dims.push_back((filters + block - 1) / block);
    form.order.push_back(0);
    for (std::size_t i = 0; i < weights.dims.size(); ++i)
        if (i != std::size_t(axis)) form.dims.push_back(weights.dims[i]);
    form.dims.push_back(block);
    for (std::size_t i = 0; i + 1 < stored.size(); ++i)
        form.order.push_back(stored[i] < int(axis) ? stored[i] + 1 : stored[i]);
    form.order.push_back(int(weights.dims.size()));
    return form;
}

std::int64_t packed_block(const Problem& problem) {
    const std::vector<std::int64_t> packed = problem.integers("packed");
    return packed.size() == 2 ? packed[1] : 0;
}

}  // namespace dtnn::kernels
