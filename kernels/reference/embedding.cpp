#include "kernels/arguments/embedding.hpp"

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(embedding, EmbeddingArguments) {
    for (std::int64_t r = 0; r < a.rows; ++r) {
        const std::int64_t entry = a.indices[r];
        const bool known = entry >= 0 && entry < a.entries;
        for (std::int64_t u = 0; u < a.units; ++u)
            a.dst[r * a.units + u] = known ? a.weights[entry * a.units + u] : T(0);
    }
}

DTNN_REFERENCE(embedding_backward, EmbeddingBackwardArguments) {
    for (std::int64_t entry = 0; entry < a.entries; ++entry) {
        for (std::int64_t u = 0; u < a.units; ++u) {
            double sum = 0;
            for (std::int64_t r = 0; r < a.rows; ++r)
                if (a.indices[r] == entry) sum += double(a.diff_dst[r * a.units + u]);
            a.diff_weights[entry * a.units + u] = T(sum);
        }
    }
}

}  // namespace dtnn::kernels::reference
