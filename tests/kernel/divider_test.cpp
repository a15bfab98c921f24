#include "kernels/cuda/divider.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

namespace divider_test {

using dtnn::kernels::cuda::Divider;

TEST_CASE("dividers of devices divide as the language does") {
    constexpr std::int64_t kTwo31 = std::int64_t(1) << 31;
    for (const std::int64_t by :
         {std::int64_t(1), std::int64_t(2), std::int64_t(3), std::int64_t(5), std::int64_t(7),
          std::int64_t(64), std::int64_t(1000), std::int64_t(65537), kTwo31 - 1, kTwo31, kTwo31 + 1,
          5 * kTwo31}) {
        const Divider divider(by);
        for (const std::int64_t factor : {std::int64_t(0), std::int64_t(1), std::int64_t(2),
                                          std::int64_t(1023), kTwo31 / by, kTwo31 / by + 1}) {
            for (std::int64_t number = factor * by - 2; number <= factor * by + 2; ++number) {
                if (number < 0) continue;
                CHECK(divider.quotient(number) == number / by);
                CHECK(divider.remainder(number) == number % by);
            }
        }
        for (const std::int64_t number : {kTwo31 - 1, kTwo31, kTwo31 + 1, 1000 * kTwo31 + 17})
            CHECK(divider.quotient(number) == number / by);
    }
}

}  // namespace divider_test
