#pragma once
/// Arithmetic on counts that anybody may have written: what passes 64 bits is the greatest number,
/// which no limit admits, instead of one that wrapped round.

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace dtnn {

/// The product of factors that are not negative.
inline std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) {
    std::int64_t product = 1;
    for (const std::int64_t factor : factors)
        if (factor == 0) return 0;
    for (const std::int64_t factor : factors)
        if (__builtin_mul_overflow(product, factor, &product))
            return std::numeric_limits<std::int64_t>::max();
    return product;
}

/// The sum of terms that are not negative.
inline std::int64_t saturating_sum(std::initializer_list<std::int64_t> terms) {
    std::int64_t sum = 0;
    for (const std::int64_t term : terms)
        if (__builtin_add_overflow(sum, term, &sum))
            return std::numeric_limits<std::int64_t>::max();
    return sum;
}

}  // namespace dtnn
