#include "base/quantity_text.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace quantity_text_test {

using namespace dtnn;

TEST_CASE("sizes") {
    CHECK(bytes_text(12) == "12 bytes");
    CHECK(bytes_text(1023) == "1023 bytes");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(bytes_text(1536, BytesForm::fine) == "1.50 KiB");
    CHECK(bytes_text(12, BytesForm::fine) == "12 bytes");
    CHECK(bytes_text(12, BytesForm::in_tables) == "12.0 B");
    CHECK(bytes_text(1536, BytesForm::in_tables) == "1.50 KiB");
    CHECK(bytes_text(15 * 1024, BytesForm::in_tables) == "15.0 KiB");
    CHECK(bytes_text(512, BytesForm::enough) == "512 B");
    CHECK(bytes_text(1536, BytesForm::enough) == "1.5 KiB");
    CHECK(bytes_text(1537, BytesForm::enough) == "1.6 KiB");
    CHECK(bytes_text(3.0 * (1LL << 50)) == "3072.0 TiB");
}

TEST_CASE("two sizes") {
    using Pair = std::pair<std::string, std::string>;
    CHECK(unlike_bytes_text(501, 500) == Pair("501 bytes", "500 bytes"));
    CHECK(unlike_bytes_text(3072, 1536) == Pair("3.00 KiB", "1.50 KiB"));
    CHECK(unlike_bytes_text(2147483649, 2147483648) ==
          Pair("2,147,483,649 bytes", "2,147,483,648 bytes"));
}

TEST_CASE("work") {
    CHECK(flops_text(512) == "512 FLOP");
    CHECK(flops_text(2500000) == "2.5 MFLOP");
}

TEST_CASE("short times") {
    CHECK(seconds_text(0) == "0.0 s");
    CHECK(seconds_text(12.34) == "12.3 s");
    CHECK(seconds_text(0.0123) == "12.3 ms");
    CHECK(seconds_text(2.5e-7) == "0.2 us");
    CHECK(seconds_text(0.0013764, TimeForm::fine) == "1.376 ms");
    CHECK(seconds_text(4.25e-5, TimeForm::fine) == "42.500 us");
    CHECK(seconds_text(2, TimeForm::fine) == "2.000 s");
}

TEST_CASE("times that were set") {
    CHECK(limit_text(300) == "300 s");
    CHECK(limit_text(0.2) == "0.2 s");
}

TEST_CASE("times of any length") {
    CHECK(estimated_time_text(2.5e-6) == "2.5 us");
    CHECK(estimated_time_text(0.0123) == "12.30 ms");
    CHECK(estimated_time_text(12.34) == "12.34 s");
    CHECK(estimated_time_text(600) == "10.0 min");
    CHECK(estimated_time_text(9000) == "2.5 h");
    CHECK(estimated_time_text(2.5 * 86400) == "2.5 days");
}

TEST_CASE("times that have passed") {
    CHECK(elapsed_time_text(0.0123) == "12.3 ms");
    CHECK(elapsed_time_text(0.123) == "0.12 s");
    CHECK(elapsed_time_text(12.34) == "12.3 s");
    CHECK(elapsed_time_text(185) == "3 min 05 s");
    CHECK(elapsed_time_text(7530) == "2 h 05 min");
    CHECK(elapsed_time_text(8.9e109) == "277777777777 h 46 min");
    CHECK(elapsed_time_text(NAN) == "nan s");
}

TEST_CASE("times as clocks show them") {
    CHECK(clock_text(65) == "1:05");
    CHECK(clock_text(3723) == "1:02:03");
    CHECK(clock_text(59.6) == "1:00");
    CHECK(clock_text(-1) == "0:00");
    CHECK(clock_text(INFINITY) == "277777777777:46:40");
}

}  // namespace quantity_text_test
