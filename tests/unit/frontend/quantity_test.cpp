// Numbers with units: what is read, what is refused and with which help, and that texts come back.

#include "compiler/frontend/read/quantity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace quantity_test {

using namespace dtnn::compiler;

namespace {

constexpr const char* kUnits[] = {"bytes", "bytes/s", "flop/s", "seconds", "samples/s"};

}  // namespace

TEST_CASE("quantities are read in their field's unit") {
    CHECK_EQ(parse_quantity("64GiB", "bytes").value, 68719476736.0);
    CHECK_EQ(parse_quantity("64 GB", "bytes").value, 64e9);
    CHECK_EQ(parse_quantity("4096", "bytes").value, 4096.0);
    CHECK_EQ(parse_quantity("100Gbit/s", "bytes/s").value, 12.5e9);
    CHECK_EQ(parse_quantity("12.5GB/s", "bytes/s").value, 12.5e9);
    CHECK_EQ(parse_quantity("9.4Gbit/s", "bytes/s").value, 1.175e9);
    // Decimals are rounded once.
    CHECK_EQ(parse_quantity("1.5us", "seconds").value, 1.5e-6);
    CHECK_EQ(parse_quantity("0.3ms", "seconds").value, 0.3e-3);
    CHECK_EQ(parse_quantity("7ns", "seconds").value, 7e-9);
    CHECK_EQ(parse_quantity("2s", "seconds").value, 2.0);
    CHECK_EQ(parse_quantity("85.5 Gflop/s", "flop/s").value, 85.5e9);
    CHECK_EQ(parse_quantity("1.5e3Gflop/s", "flop/s").value, 1.5e12);
    CHECK_EQ(parse_quantity("20000samples/s", "samples/s").value, 20000.0);
    CHECK_EQ(parse_quantity("-1us", "seconds").value, -1e-6);
}

TEST_CASE("what is no quantity is refused with what to write") {
    const auto help = [](const char* text, const char* unit) {
        const ParsedQuantity parsed = parse_quantity(text, unit);
        CHECK_FALSE(parsed.value);
        return parsed.help;
    };
    CHECK_EQ(help("100", "flop/s"), "write its unit, such as 85Gflop/s");
    CHECK_EQ(help("10Gb/s", "bytes/s"), "write 10Gbit/s for bits, 10GB/s for bytes");
    CHECK_EQ(help("10gbps", "bytes/s"), "write 10Gbit/s for bits, 10GB/s for bytes");
    CHECK_EQ(help("64gb", "bytes"), "write 64GB");
    CHECK_EQ(help("64Gi", "bytes"), "write 64GiB");
    CHECK_EQ(help("3US", "seconds"), "write 3us");
    CHECK_EQ(help("3 \xc2\xb5s", "seconds"), "write 3us");
    CHECK_EQ(help("90gflops", "flop/s"), "write 90Gflop/s");
    CHECK_EQ(help("4 lightyears", "seconds"), "the units are ns, us, ms, s");
    CHECK_EQ(help("", "bytes"), "");
    CHECK_EQ(help("GiB", "bytes"), "");
    CHECK_EQ(help("1.2.3GiB", "bytes"), "");
    CHECK_EQ(help("nan s", "seconds"), "");
    CHECK_EQ(help("0x10B", "bytes"), "the units are B, KB, KiB, MB, MiB, GB, GiB, TB, TiB");
    CHECK(parse_quantity("1e400s", "seconds").overflow);
    CHECK(parse_quantity("1e308TB/s", "bytes/s").overflow);
}

TEST_CASE("a quantity's text reads as the same number") {
    CHECK_EQ(quantity_text(68719476736.0, "bytes"), "64GiB");
    CHECK_EQ(quantity_text(2e9, "bytes"), "2GB");
    CHECK_EQ(quantity_text(4294967297.0, "bytes"), "4294967297B");
    CHECK_EQ(quantity_text(1, "bytes"), "1B");
    CHECK_EQ(quantity_text(1.5e-6, "seconds"), "1.5us");
    CHECK_EQ(quantity_text(12.5e9, "bytes/s"), "12.5GB/s");
    CHECK_EQ(quantity_text(85e9, "flop/s"), "85Gflop/s");
    CHECK_EQ(quantity_text(20000, "samples/s"), "20000samples/s");
    std::mt19937_64 random(7);
    for (int i = 0; i < 3000; ++i) {
        for (const char* unit : kUnits) {
            // All magnitudes that machines have, with few digits and with all of them.
            const double exponent = double(random() % 3000) / 100 - 12;
            double value = std::pow(10.0, exponent) * (1 + double(random() % 1000) / 1000);
            if (random() % 2 == 0) value = double(float(value));
            if (std::string_view(unit) == "bytes") value = std::floor(value) + 1;
            const std::string text = quantity_text(value, unit);
            const ParsedQuantity read = parse_quantity(text, unit);
            CAPTURE(text);
            REQUIRE(read.value);
            CHECK_EQ(*read.value, value);
        }
    }
}

TEST_CASE("no text breaks the reader, and every unit that it names it reads") {
    std::mt19937_64 random(11);
    const std::string letters = "0123456789.eE+- kKMGTibBsfloputa/\xc2\xb5";
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        for (std::size_t n = random() % 12; n > 0; --n)
            text += letters[random() % letters.size()];
        for (const char* unit : kUnits) {
            const ParsedQuantity parsed = parse_quantity(text, unit);
            CHECK_FALSE((parsed.value && !std::isfinite(*parsed.value)));
            CHECK_FALSE((parsed.value && !parsed.help.empty()));
        }
    }
    for (const char* unit : kUnits)
        for (const std::string& name : units_of(unit)) {
            CAPTURE(name);
            CHECK(parse_quantity("3" + name, unit).value);
            CHECK(parse_quantity("3 " + name, unit).value);
        }
}

}  // namespace quantity_test
