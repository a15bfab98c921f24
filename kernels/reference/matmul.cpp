#include "kernels/arguments/matmul.hpp"

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(matmul, MatmulArguments) {
    for (std::int64_t n = 0; n < a.batch; ++n) {
        for (std::int64_t i = 0; i < a.rows; ++i) {
            for (std::int64_t j = 0; j < a.columns; ++j) {
                double sum = 0;
                for (std::int64_t k = 0; k < a.summed; ++k)
                    sum += double(a.first[a.first_layout.at(n, i, k)]) *
                           double(a.second[a.second_layout.at(n, k, j)]);
                a.dst[(n * a.rows + i) * a.columns + j] = T(a.scale * sum);
            }
        }
    }
}

}  // namespace dtnn::kernels::reference
