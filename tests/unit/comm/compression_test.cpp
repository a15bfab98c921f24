/// Gradient compression on one rank's side: rounding and selecting.

#include "plan/rules/compression.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/comm/compression_rounding.hpp"
#include "runtime/comm/compression_selection.hpp"

namespace compression_test {

using namespace dtnn;
using namespace dtnn::runtime;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// A pattern of binary16, by its definition.
double meaning_of_fp16(std::uint32_t pattern) {
    const int exponent = int(pattern >> 10 & 31);
    const double fraction = double(pattern & 1023) / 1024;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    return (pattern & 0x8000) != 0 ? -size : size;
}

double meaning_of_bf16(std::uint32_t pattern) {
    const int exponent = int(pattern >> 7 & 255);
    const double fraction = double(pattern & 127) / 128;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -126) : std::ldexp(1 + fraction, exponent - 127);
    return (pattern & 0x8000) != 0 ? -size : size;
}

/// Checks two neighbouring patterns below infinity: their middle goes to the even one, what is
/// beside it to the nearer.
template <typename Round>
void check_between(std::uint32_t pattern, double low, double high, Round round) {
    const auto middle = float((low + high) / 2);
    REQUIRE(double(middle) == (low + high) / 2);
    CHECK(round(middle) == (pattern % 2 == 0 ? pattern : pattern + 1));
    CHECK(round(std::nextafter(middle, 0.0F)) == pattern);
    CHECK(round(std::nextafter(middle, kInfinity)) == pattern + 1);
    CHECK(round(-middle) == ((pattern % 2 == 0 ? pattern : pattern + 1) | 0x8000));
}

std::vector<float> through(Rounding rounding, const std::vector<float>& numbers) {
    const auto count = std::int64_t(numbers.size());
    std::vector<std::byte> packed(
        std::size_t(plan::packed_bytes(rounding == Rounding::fp16, count)));
    pack(rounding, numbers.data(), 0, count, packed.data());
    std::vector<float> result(numbers.size());
    unpack(rounding, packed.data(), 0, count, result.data());
    return result;
}

}  // namespace

TEST_CASE("every pattern of 16 bits means what it is defined to, and comes back") {
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        const auto word = std::uint16_t(pattern);
        const bool half_number = (pattern & 0x7c00) != 0x7c00;
        const bool half_infinity = (pattern & 0x7fff) == 0x7c00;
        if (half_number) {
            REQUIRE(double(from_fp16(word)) == meaning_of_fp16(pattern));
        } else {
            REQUIRE(std::isinf(from_fp16(word)) == half_infinity);
            REQUIRE(std::isnan(from_fp16(word)) != half_infinity);
        }
        if (half_number || half_infinity) {
            REQUIRE(fp16_of(from_fp16(word)) == pattern);
        } else {
            REQUIRE((fp16_of(from_fp16(word)) & 0x7c00) == 0x7c00);
            REQUIRE((fp16_of(from_fp16(word)) & 0x3ff) != 0);
        }

        const bool number = (pattern & 0x7f80) != 0x7f80;
        const bool infinity = (pattern & 0x7fff) == 0x7f80;
        if (number) {
            REQUIRE(double(from_bf16(word)) == meaning_of_bf16(pattern));
        } else {
            REQUIRE(std::isinf(from_bf16(word)) == infinity);
            REQUIRE(std::isnan(from_bf16(word)) != infinity);
        }
        if (number || infinity) {
            REQUIRE(bf16_of(from_bf16(word)) == pattern);
        } else {
            REQUIRE(std::isnan(from_bf16(bf16_of(from_bf16(word)))));
        }
    }
}

TEST_CASE("numbers between two patterns go to the nearer one, in the middle to the even one") {
    for (std::uint32_t pattern = 0; pattern < 0x7bff; ++pattern)
        check_between(pattern, meaning_of_fp16(pattern), meaning_of_fp16(pattern + 1), fp16_of);
    for (std::uint32_t pattern = 0; pattern < 0x7f7f; ++pattern)
        check_between(pattern, meaning_of_bf16(pattern), meaning_of_bf16(pattern + 1), bf16_of);
}

TEST_CASE("what is too large, or no number, stays that") {
    CHECK(fp16_of(65519.0F) == 0x7bff);
    CHECK(fp16_of(65520.0F) == 0x7c00);
    CHECK(fp16_of(-1e30F) == 0xfc00);
    CHECK(fp16_of(-kInfinity) == 0xfc00);
    CHECK(std::isnan(from_fp16(fp16_of(kNone))));
    CHECK(bf16_of(std::numeric_limits<float>::max()) == 0x7f80);
    CHECK(bf16_of(-kInfinity) == 0xff80);
    // One whose bits are all in the lower half, and one that rounding would carry over the sign.
    for (const std::uint32_t none : {0x7f800001U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
        CHECK(std::isnan(from_bf16(bf16_of(std::bit_cast<float>(none)))));
        CHECK(std::isnan(from_fp16(fp16_of(std::bit_cast<float>(none)))));
    }
}

TEST_CASE("blocks of fp16 hold numbers of every size") {
    for (int exponent = -149; exponent <= 127; ++exponent) {
        const float most = std::ldexp(1.0F, exponent);
        // 11 bits of every number, down to 2^-28 of the block's largest, as far as floats have
        // them.
        std::vector<float> numbers = {most, -most, most / 3, most / 1000, most * 0x1p-27F, 0.0F};
        const std::vector<float> come = through(Rounding::fp16, numbers);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            CAPTURE(exponent);
            CAPTURE(numbers[i]);
            CHECK(std::abs(double(come[i]) - double(numbers[i])) <=
                  std::max(std::abs(double(numbers[i])) * 0x1p-11, 0x1p-150));
        }
    }
    // Plain binary16 would lose the one and overflow the other.
    CHECK(through(Rounding::fp16, {1e-9F}).front() == doctest::Approx(1e-9).epsilon(1e-3));
    CHECK(through(Rounding::fp16, {1e9F}).front() == doctest::Approx(1e9).epsilon(1e-3));
    CHECK(through(Rounding::fp16, {0.0F, -0.0F})[1] == 0);
}

TEST_CASE("what is no number leaves the others of its block alone") {
    for (const Rounding rounding : {Rounding::bf16, Rounding::fp16}) {
        const std::vector<float> come = through(rounding, {1e-6F, kNone, kInfinity, -kInfinity});
        CHECK(come[0] == doctest::Approx(1e-6).epsilon(0.01));
        CHECK(std::isnan(come[1]));
        CHECK(come[2] == kInfinity);
        CHECK(come[3] == -kInfinity);
    }
}

TEST_CASE("parts are whole blocks, next to each other") {
    for (const std::int64_t elements : {0, 1, 256, 257, 1000, 100'000}) {
        for (int ranks = 1; ranks <= 9; ++ranks) {
            CHECK(first_of_part(elements, 0, ranks) == 0);
            CHECK(first_of_part(elements, ranks, ranks) == elements);
            const Deal deal{elements, ranks};
            std::int64_t dealt = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const std::int64_t first = first_of_part(elements, rank, ranks);
                const std::int64_t next = first_of_part(elements, rank + 1, ranks);
                CHECK(first <= next);
                CHECK((first % plan::kCompressionBlock == 0 || first == elements));
                dealt += deal.owned(rank);
                // The bytes that come for a part fit behind the packed numbers, from two ranks at
                // once.
                for (const char* wire : {"bf16", "fp16"}) {
                    const bool fp16 = wire[0] == 'f';
                    const std::int64_t part =
                        plan::packed_bytes(fp16, next) - plan::packed_bytes(fp16, first);
                    if (ranks > 1)
                        CHECK(plan::packed_bytes(fp16, elements) + 2 * part <=
                              plan::compression_scratch_bytes(
                                  fp16 ? plan::Compression::fp16 : plan::Compression::bf16,
                                  elements, 0));
                }
            }
            CHECK(dealt == elements);
        }
    }
}

TEST_CASE("the k largest are selected, among equal ones the first") {
    const auto select = [](const std::vector<float>& numbers, std::int64_t count) {
        const Deal deal{std::int64_t(numbers.size()), 1};
        std::vector<float> residual(numbers.size());
        std::vector<Entry> entries(static_cast<std::size_t>(count));
        std::vector<std::int32_t> bins(plan::kSelectionBins);
        std::int64_t end = 0;
        select_own(deal, numbers.data(), residual.data(), count, entries.data(), &end, bins.data());
        CHECK(end == count);
        CHECK(residual == numbers);
        std::vector<std::uint32_t> places;
        for (const Entry& entry : entries) {
            CHECK(entry.value == numbers[entry.index]);
            places.push_back(entry.index);
        }
        return places;
    };
    using Places = std::vector<std::uint32_t>;
    CHECK(select({1, -5, 3, 4}, 2) == Places{1, 3});
    CHECK(select({2, -2, 2, 2, 1}, 3) == Places{0, 1, 2});
    CHECK(select({0, 0, -0.0F, 7}, 3) == Places{0, 1, 3});
    CHECK(select({1e-40F, 1e-45F, 0, 3e-40F}, 2) == Places{0, 3});
    CHECK(select({1, kInfinity, 2, -kInfinity}, 2) == Places{1, 3});
    // One more bit decides.
    CHECK(select({1, std::nextafter(1.0F, 2.0F), 1, 1}, 1) == Places{1});
    std::vector<float> many(5000);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i] = float((i * 7919) % 1000) / 10 - 50;
    std::vector<std::uint32_t> order(many.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::abs(many[a]) > std::abs(many[b]);
    });
    for (const std::int64_t count : {1, 10, 77, 2500, 4999, 5000}) {
        Places wanted(order.begin(), order.begin() + count);
        std::sort(wanted.begin(), wanted.end());
        CHECK(select(many, count) == wanted);
    }
}

TEST_CASE("how many travel") {
    CHECK(plan::selected_of(1000, 0.01) == 10);
    CHECK(plan::selected_of(1000, 0.0101) == 11);
    CHECK(plan::selected_of(1000, 0.0001) == plan::kLeastSelected);
    CHECK(plan::selected_of(4, 0.01) == 4);
    CHECK(plan::selected_of(1000, 1) == 1000);
}

TEST_CASE("bytes on the wire") {
    plan::Collective collective;
    collective.bytes = 4'000'000;
    const auto sent = [&](plan::Compression compression) {
        collective.compression = compression;
        collective.density = 0.01;
        return plan::wire_bytes_of(collective, 4);
    };
    CHECK(sent(plan::Compression::full) == 6e6);
    CHECK(sent(plan::Compression::bf16) == 3e6);
    CHECK(sent(plan::Compression::fp16) == doctest::Approx(3e6).epsilon(0.005));
    // A hundredth of the numbers, twice as large, and four times the counts.
    CHECK(sent(plan::Compression::top_k) ==
          doctest::Approx(1.5 * (80'000 + 4 * 1024)).epsilon(1e-6));
    const plan::Link link{1e-5, 1e9};
    for (const plan::Compression wire :
         {plan::Compression::full, plan::Compression::bf16, plan::Compression::top_k}) {
        collective.compression = wire;
        CHECK(plan::wire_seconds_of(link, collective, 1) == 0);
        CHECK(plan::wire_seconds_of(link, collective, 4) > sent(wire) / 1e9);
    }
    collective.compression = plan::Compression::bf16;
    CHECK(plan::wire_seconds_of(link, collective, 4) == doctest::Approx(3e-3 + 6e-5));
    // Messages from each to each: they grow with the ranks, not with their logarithm.
    collective.bytes = 64;
    CHECK(plan::wire_seconds_of(link, collective, 512) > 2 * 511 * 1e-5);
}

}  // namespace compression_test
