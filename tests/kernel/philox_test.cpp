#include "kernels/philox.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <vector>

#include "kernels/random_words.hpp"

namespace dtnn::kernels::philox::philox_test {
namespace {

TEST_CASE("philox4x32-10 gives the known answers of its authors") {
    // From the kat_vectors of Random123, the paper's library.
    CHECK(generate({0, 0, 0, 0}, 0, 0) ==
          Block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
    CHECK(generate({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, 0xffffffffu,
                   0xffffffffu) == Block{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
    CHECK(generate({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u,
                   0x299f31d0u) == Block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("keys of different purposes and streams differ") {
    CHECK(key_of(7, Purpose::split) != key_of(7, Purpose::shuffle));
    CHECK(key_of(7, Purpose::dropout, 1) != key_of(7, Purpose::dropout, 2));
    CHECK(key_of(7, Purpose::dropout, 1) != key_of(8, Purpose::dropout, 1));
}

TEST_CASE("uniform numbers stay below one") {
    CHECK(uniform_float(0) == 0.0f);
    CHECK(uniform_float(0xffffffffu) == 1.0f - 0x1p-24f);
    CHECK(uniform_double(0, 0) == 0.0);
    CHECK(uniform_double(0xffffffffu, 0xffffffffu) == 1.0 - 0x1p-53);
    double sum = 0;
    for (std::uint64_t i = 0; i < 40000; ++i)
        sum += double(uniform_float(word(1, 2, i)));
    // The mean of 40,000 uniform numbers has a standard deviation of 0.0014.
    CHECK(std::abs(sum / 40000 - 0.5) < 0.006);
}

TEST_CASE("the threshold of dropout is the comparison with the rate") {
    CHECK(keep_threshold(0) == 0);
    CHECK(keep_threshold(1) == std::uint64_t(1) << 32);
    CHECK(keep_threshold(0.5) == 0x80000000u);
    for (const double rate : {0.1, 0.25, 0.3, 0.5, 0.9}) {
        const std::uint64_t threshold = keep_threshold(rate);
        CHECK(double(threshold) * 0x1p-32 >= rate);
        CHECK(double(threshold - 1) * 0x1p-32 < rate);
    }
}

TEST_CASE("many words at a time are the words of the sequence") {
    const std::uint64_t key = key_of(7, Purpose::data), step = 0x123456789abcdefu;
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{8}, (std::uint64_t{1} << 34) - 8}) {
        for (const std::size_t count : {0u, 1u, 3u, 63u, 64u, 65u, 128u, 1001u}) {
            std::vector<std::uint32_t> words(count + 1, 5);
            draw_words(key, step, first, std::span(words).first(count));
            for (std::size_t j = 0; j < count; ++j)
                REQUIRE(words[j] == word(key, step, first + j));
            CHECK(words[count] == 5);
        }
    }
}

TEST_CASE("whole numbers below a bound") {
    CHECK(below(0, 0, 10) == 0);
    CHECK(below(0xffffffffu, 0xffffffffu, 10) == 9);
    CHECK(below(0x80000000u, 0, 10) == 5);
    CHECK(below(0xffffffffu, 0xffffffffu, 60000) == 59999);
    CHECK(below(0x80000000u, 0, std::uint64_t(1) << 63) == std::uint64_t(1) << 62);
}

}  // namespace
}  // namespace dtnn::kernels::philox::philox_test
