#include "runtime/data/formats/npy.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/unit/runtime/archive_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::npy_test {
namespace {

template <class Number>
std::vector<Number> elements(const NpyArray& array) {
    std::vector<Number> values(std::size_t(array.header.elements()));
    array.copy(std::span<Number>(values));
    return values;
}

}  // namespace

TEST_CASE("arrays are read whatever their type and order") {
    const std::vector<double> rows = {1, 2, 3, 4, 5, 6};
    CHECK(elements<double>(
              parse_npy(npy("<f8", "(2, 3)", bytes_of<double>({1, 2, 3, 4, 5, 6})), "a")) == rows);
    CHECK(elements<double>(parse_npy(
              npy("<f4", "(2, 3)", bytes_of<float>({1, 4, 2, 5, 3, 6}), true), "a")) == rows);
    CHECK(elements<double>(parse_npy(npy("<i8", "(6,)", bytes_of<std::int64_t>({1, 2, 3, 4, 5, 6})),
                                     "a")) == rows);
    CHECK(elements<double>(parse_npy(
              npy("<i4", "(6, 1)", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6})), "a")) == rows);
    CHECK(elements<double>(parse_npy(npy("|u1", "(3, 2)", "\1\2\3\4\5\6"), "a")) == rows);
    // Three axes, Fortran: element (i, j, k) lies at i + 2 j + 4 k.
    const NpyArray cube = parse_npy(npy("|u1", "(2, 2, 2)", {"\0\1\2\3\4\5\6\7", 8}, true), "cube");
    CHECK(elements<float>(cube) == std::vector<float>{0, 4, 2, 6, 1, 5, 3, 7});
    CHECK(elements<std::int64_t>(parse_npy(npy("<f4", "()", bytes_of<float>({7})), "a")) ==
          std::vector<std::int64_t>{7});
    CHECK(parse_npy(npy("<f4", "(0, 5)", ""), "a").header.elements() == 0);
    const NpyHeader header = parse_npy(npy("<u2", "(1,)", "ab"), "a").header;
    CHECK(header.type() == "uint16");
}

TEST_CASE("what is no array of numbers is refused with its name") {
    const auto read = [](const std::string& bytes) {
        return [bytes] { parse_npy(bytes, "w.npz:a.npy"); };
    };
    const std::string good = npy("<f4", "(2,)", bytes_of<float>({1, 2}));
    expect_error(Exit::failed, {"w.npz:a.npy", "pickle"}, read(npy("|O", "(1,)", "x")));
    expect_error(Exit::failed, {"`>f4`", "astype"}, read(npy(">f4", "(1,)", "abcd")));
    expect_error(Exit::failed, {"`<U3`"}, read(npy("<U3", "(1,)", "abcd")));
    expect_error(Exit::failed, {"takes 8 bytes; it has 7", "again"},
                 read(good.substr(0, good.size() - 1)));
    expect_error(Exit::failed, {"takes 8 bytes; it has 9"}, read(good + "x"));
    expect_error(Exit::failed, {"too large"}, read(npy("<f4", "(4294967296, 4294967296)", "")));
    expect_error(Exit::failed, {"an extent is too large"},
                 read(npy("<f4", "(99999999999999999999,)", "")));
    expect_error(Exit::failed, {"no number"}, read(npy("<f4", "(-1,)", "")));
    expect_error(Exit::failed, {"`{` is missing"},
                 read("\x93NUMPY" + std::string("\1\0\4\0", 4) + "exec"));
    expect_error(Exit::failed, {"cut off in its header"}, read(good.substr(0, 40)));
    expect_error(Exit::failed, {"version 9.0"}, read("\x93NUMPY\x09" + std::string(20, '\0')));
    expect_error(Exit::failed, {"no NumPy array"}, read("PK"));
    expect_error(Exit::failed, {"1.5", "whole numbers"}, [] {
        elements<std::int64_t>(parse_npy(npy("<f4", "(1,)", bytes_of<float>({1.5f})), "a"));
    });
}

TEST_CASE("npz files are read, stored or deflated") {
    const TemporaryFolder folder;
    const Members members = {{"x.npy", npy("<f4", "(2,)", bytes_of<float>({1, 2}))},
                             {"layer/y.npy", npy("|u1", "(2, 2)", "\1\2\3\4")}};
    for (const bool deflated : {false, true}) {
        write_text(folder / "a.npz", zip(members, deflated));
        const auto arrays = read_npz(folder / "a.npz", 10000);
        REQUIRE(arrays.size() == 2);
        CHECK(elements<double>(arrays.at("x")) == std::vector<double>{1, 2});
        CHECK(elements<double>(arrays.at("layer/y")) == std::vector<double>{1, 2, 3, 4});
    }
    const std::string good = zip(members);
    expect_error(Exit::failed, {"a.npz:layer/y.npy", "at most 200"},
                 [&] { read_npz(folder / "a.npz", 200); });
    std::string bad = good;
    bad[bad.find("NUMPY") + 130] = 'x';  // an element: the checksum is wrong now
    write_text(folder / "a.npz", bad);
    expect_error(Exit::failed, {"a.npz", "x.npy", "corrupt"},
                 [&] { read_npz(folder / "a.npz", 10000); });
    write_text(folder / "a.npz", good.substr(0, good.size() / 2));
    expect_error(Exit::failed, {"a.npz"}, [&] { read_npz(folder / "a.npz", 10000); });
    write_text(folder / "a.npz", zip({members[0], members[0]}));
    expect_error(Exit::failed, {"two arrays"}, [&] { read_npz(folder / "a.npz", 10000); });
    write_text(folder / "a.npz", zip({{"x.txt", "x"}}));
    expect_error(Exit::failed, {"a.npz:x.txt", "no array"},
                 [&] { read_npz(folder / "a.npz", 10000); });
    // Whatever the caller takes, no memory is had for what so few bytes cannot hold.
    write_text(folder / "a.npz", claiming(zip(members, true), "x.npy", 4'000'000'000));
    expect_error(Exit::failed, {"a.npz", "archive bomb"},
                 [&] { read_npz(folder / "a.npz", std::numeric_limits<std::int64_t>::max()); });
    write_text(folder / "a.npz", "not a zip");
    expect_error(Exit::failed, {"a.npz", "no .npz file"},
                 [&] { read_npz(folder / "a.npz", 10000); });
}

}  // namespace dtnn::runtime::npy_test
