#include <doctest/doctest.h>

#include <cstring>

#include "runtime/base/files.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/initialize.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::checkpoint_test {
namespace {

std::string file_of(const std::string& header, const std::string& data = "") {
    const std::uint64_t length = header.size();
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    return text + header + data;
}

void expect_unsound(const std::string& header, const std::string& data, const char* word) {
    expect_error(Exit::mismatch, {"w.safetensors", word},
                 [&] { parse_safetensors(file_of(header, data), "w.safetensors"); });
}

}  // namespace

TEST_CASE("safetensors come back as they were written") {
    const TemporaryFolder folder;
    const float weights[] = {1.5f, -2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
    const double bias[] = {0.25};
    const std::vector<StoredTensor> tensors = {
        {"b \"quoted\" \xc3\xa4", DType::f32, {2, 3}, std::as_bytes(std::span(weights))},
        {"a", DType::f64, {}, std::as_bytes(std::span(bias))},
        {"empty", DType::u8, {0, 7}, {}}};
    write_safetensors(folder / "w", tensors, {{"plan", "xyz"}});
    const Safetensors file = read_safetensors(folder / "w");
    REQUIRE(file.tensors.size() == 3);
    CHECK(file.metadata.at("plan") == "xyz");
    for (const StoredTensor& tensor : tensors) {
        const StoredTensor* found = file.find(tensor.name);
        REQUIRE(found != nullptr);
        CHECK(found->dtype == tensor.dtype);
        CHECK(found->dims == tensor.dims);
        REQUIRE(found->bytes.size() == tensor.bytes.size());
        CHECK(std::equal(found->bytes.begin(), found->bytes.end(), tensor.bytes.begin()));
    }
    // The data begins at a multiple of eight bytes.
    CHECK((file.content.size() - 24 - 8) % 8 == 0);
}

TEST_CASE("hostile safetensors are refused, each with its reason") {
    const std::string path = "w.safetensors";
    expect_error(Exit::mismatch, {"3 bytes"}, [&] { parse_safetensors("abc", path); });
    expect_error(Exit::mismatch, {"header"},
                 [&] { parse_safetensors(std::string(64, '\xff'), path); });
    std::string longer = file_of("{}");
    longer[0] = 3;
    expect_error(Exit::mismatch, {"header"}, [&] { parse_safetensors(longer, path); });
    expect_unsound("{", "", "JSON");
    expect_unsound("[1]", "", "JSON");
    expect_unsound(std::string(100000, '['), "", "JSON");
    expect_unsound("{\"a\xff\": 1}", "", "JSON");
    expect_unsound(R"({"a": 1})", "", "not an object");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [1]}})", "abcd", "lacks");
    expect_unsound(R"({"a": {"dtype": "F31", "shape": [1], "data_offsets": [0, 4]}})", "abcd",
                   "dtype");
    expect_unsound(R"({"a": {"dtype": 32, "shape": [1], "data_offsets": [0, 4]}})", "abcd",
                   "dtype");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", "abcd",
                   "whole number");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}})", "abcd",
                   "whole number");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": 1, "data_offsets": [0, 4]}})", "abcd",
                   "list");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", "abcd",
                   "larger");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 8]}})", "abcd",
                   "lies at");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}})", "abcd",
                   "lies at");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}})", "abcd",
                   "two numbers");
    expect_unsound(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], "x": 1}})",
                   "abcd", "unknown field");
    expect_unsound(R"({"__metadata__": {"a": 1}})", "", "metadata");
    expect_unsound(R"({"__metadata__": []})", "", "metadata");
    // Products that overflow: 2^32 * 2^32 floats are "4 bytes" modulo 2^64.
    expect_unsound(
        R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})", "",
        "larger");
    expect_unsound(
        R"({"a": {"dtype": "U8", "shape": [18446744073709551615], "data_offsets": [0, 4]}})",
        "abcd", "too large");
    const std::string a = R"("a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]})";
    expect_unsound("{" + a + "}", "abcde", "follow the last");
    expect_unsound("{" + a + R"(, "b": {"dtype": "U8", "shape": [2], "data_offsets": [3, 5]}})",
                   "abcde", "overlaps");
    expect_unsound("{" + a + R"(, "b": {"dtype": "U8", "shape": [2], "data_offsets": [5, 7]}})",
                   "abcdefg", "gap");
}

TEST_CASE("no single changed byte of a header can do worse than an error") {
    const TemporaryFolder folder;
    const float values[] = {1, 2, 3, 4};
    write_safetensors(
        folder / "w",
        std::vector<StoredTensor>{{"x", DType::f32, {2, 1}, std::as_bytes(std::span(values, 2))},
                                  {"y", DType::f32, {2}, std::as_bytes(std::span(values + 2, 2))}},
        {});
    const std::string good = file_text(folder / "w");
    for (std::size_t at = 0; at < good.size() - 16; ++at) {
        for (const char other : {'\0', '"', '9', '{', '\xff'}) {
            std::string bad = good;
            bad[at] = other;
            try {
                parse_safetensors(bad, "w");
            } catch (const RunError& error) {
                CHECK(error.exit() == Exit::mismatch);
            }
        }
    }
}

TEST_CASE("weights do not depend on how they are stored") {
    const TemporaryFolder folder;
    HandMade wish;
    const plan::Plan channels_last = hand_made_plan(wish);
    wish.order = {};
    const plan::Plan row_major = hand_made_plan(wish);
    Executor a(channels_last, 2), b(row_major, 1);
    initialize(a);
    initialize(b);
    CHECK(std::memcmp(a.parameter(0), b.parameter(0), 32 * 3 * 4) != 0);
    save_weights(a, folder / "a", "xxh3:0");
    save_weights(b, folder / "b", "xxh3:0");
    CHECK(file_text(folder / "a") == file_text(folder / "b"));

    Executor c(channels_last, 1);
    load_weights(c, folder / "b");
    CHECK(std::memcmp(a.parameter(0), c.parameter(0), 32 * 3 * 4) == 0);
}

TEST_CASE("weights of another model are refused with the difference, and nothing is changed") {
    const TemporaryFolder folder;
    const plan::Plan plan = hand_made_plan();
    Executor executor(plan, 1);
    initialize(executor);
    const std::vector<float> zeros(400, 0.0f);
    const auto bytes = std::as_bytes(std::span(zeros));
    std::vector<StoredTensor> tensors = {
        {"dense_1.weights", DType::f32, {32, 3}, bytes.subspan(0, 384)},
        {"dense_1.bias", DType::f32, {4}, bytes.subspan(0, 16)},
        {"dense_2.bias", DType::f32, {3}, bytes.subspan(0, 12)}};
    write_safetensors(folder / "w", tensors, {});
    const std::string before(reinterpret_cast<const char*>(executor.parameter(0)), 384);
    expect_error(Exit::mismatch,
                 {"dense_1.bias is f32 [4] in the file and f32 [3] in the plan",
                  "dense_2.bias f32 [3] is not in the plan"},
                 [&] { load_weights(executor, folder / "w"); });
    CHECK(std::memcmp(before.data(), executor.parameter(0), 384) == 0);
    tensors.resize(1);
    write_safetensors(folder / "w", tensors, {});
    expect_error(Exit::mismatch, {"dense_1.bias f32 [3] is missing"},
                 [&] { load_weights(executor, folder / "w"); });
    expect_error(Exit::mismatch, {"absent"}, [&] { load_weights(executor, folder / "absent"); });
}

}  // namespace dtnn::runtime::checkpoint_test
