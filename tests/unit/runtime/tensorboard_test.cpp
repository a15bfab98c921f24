#include "runtime/report/tensorboard.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "base/protobuf_message.hpp"
#include "runtime/base/files.hpp"
#include "runtime/report/event_file.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::tensorboard_test {
namespace {

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | std::uint8_t(bytes[i]);
    return value;
}

/// The records of an event file; fails where a frame is not sound.
std::vector<std::string> records_of(const std::string& path) {
    const auto masked = [](std::string_view bytes) {
        const std::uint32_t crc = crc32c(bytes);
        return std::uint32_t((crc >> 15 | crc << 17) + 0xA282EAD8);
    };
    const std::string text = file_text(path);
    std::vector<std::string> records;
    std::string_view rest = text;
    while (!rest.empty()) {
        REQUIRE(rest.size() >= 16);
        const std::string_view length = rest.substr(0, 8);
        REQUIRE(little_endian(rest.substr(8, 4)) == masked(length));
        const std::size_t size = little_endian(length);
        REQUIRE(rest.size() >= size + 16);
        records.emplace_back(rest.substr(12, size));
        REQUIRE(little_endian(rest.substr(12 + size, 4)) == masked(records.back()));
        rest.remove_prefix(size + 16);
    }
    return records;
}

/// The fields of a message: number -> contents, which are eight bytes for a number.
std::multimap<int, std::string> fields_of(std::string_view message) {
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            REQUIRE(!message.empty());
            const auto byte = std::uint8_t(message.front());
            message.remove_prefix(1);
            value |= std::uint64_t(byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
    };
    std::multimap<int, std::string> fields;
    while (!message.empty()) {
        const std::uint64_t key = varint();
        std::string content;
        std::size_t size = 0;
        switch (key & 7) {
            case 0: {
                std::uint64_t value = varint();
                for (int i = 0; i < 8; ++i, value >>= 8)
                    content += char(value & 0xFF);
                break;
            }
            case 1:
                size = 8;
                break;
            case 2:
                size = varint();
                break;
            case 5:
                size = 4;
                break;
            default:
                FAIL("wire type");
        }
        REQUIRE(message.size() >= size);
        content += message.substr(0, size);
        message.remove_prefix(size);
        fields.emplace(int(key >> 3), content);
    }
    return fields;
}

const std::string& one(const std::multimap<int, std::string>& fields, int number) {
    REQUIRE(fields.count(number) == 1);
    return fields.find(number)->second;
}

double real(const std::string& bytes) {
    return std::bit_cast<double>(little_endian(bytes));
}

std::vector<double> reals(const std::string& bytes) {
    std::vector<double> values;
    for (std::size_t i = 0; i < bytes.size(); i += 8)
        values.push_back(real(bytes.substr(i, 8)));
    return values;
}

}  // namespace

TEST_CASE("crc32c is Castagnoli's") {
    // RFC 3720, appendix B.4, and the check value of the polynomial's catalogues.
    CHECK(crc32c("123456789") == 0xE3069283);
    CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);
    CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
}

TEST_CASE("protobuf messages have the bytes of the specification") {
    // The examples of protobuf.dev/programming-guides/encoding.
    CHECK(ProtobufMessage().integer(1, 150).bytes() == "\x08\x96\x01");
    CHECK(ProtobufMessage().text(2, "testing").bytes() == "\x12\x07testing");
    const ProtobufMessage inner = ProtobufMessage().integer(1, 150);
    CHECK(ProtobufMessage().message(3, inner).bytes() == "\x1a\x03\x08\x96\x01");
    CHECK(ProtobufMessage().integer(1, -1).bytes().size() == 11);
}

TEST_CASE("scalars come back with step and tag") {
    const TemporaryFolder folder;
    TensorBoard board(folder / "tb");
    board.scalars(7, {{"train/loss", 0.25}, {"learning_rate", 1e-3}});
    const std::vector<std::string> records = records_of(board.path());
    REQUIRE(records.size() == 2);
    CHECK(one(fields_of(records[0]), 3) == "brain.Event:2");
    const auto event = fields_of(records[1]);
    CHECK(little_endian(one(event, 2)) == 7);
    CHECK(real(one(event, 1)) > 1.7e9);
    const auto summary = fields_of(one(event, 5));
    REQUIRE(summary.count(1) == 2);
    const auto loss = fields_of(summary.begin()->second);
    CHECK(one(loss, 1) == "train/loss");
    CHECK(std::bit_cast<float>(std::uint32_t(little_endian(one(loss, 2)))) == 0.25F);
}

TEST_CASE("a histogram counts every number once") {
    const TemporaryFolder folder;
    TensorBoard board(folder / "tb");
    std::vector<double> values;
    for (int i = 0; i <= 640; ++i)
        values.push_back(0.1 * i);
    values.push_back(std::numeric_limits<double>::quiet_NaN());
    board.histogram(3, "weights", values);
    board.histogram(4, "constant", std::vector<double>{2, 2, 2});
    board.histogram(5, "nothing", std::vector<double>{std::numeric_limits<double>::infinity()});
    const std::vector<std::string> records = records_of(board.path());
    REQUIRE(records.size() == 3);
    const auto histogram = [&](std::size_t i) {
        const auto event = fields_of(records[i]);
        return fields_of(one(fields_of(one(fields_of(one(event, 5)), 1)), 5));
    };
    const auto wide = histogram(1);
    CHECK(real(one(wide, 1)) == 0);
    CHECK(real(one(wide, 2)) == doctest::Approx(64));
    CHECK(real(one(wide, 3)) == 641);
    CHECK(real(one(wide, 4)) == doctest::Approx(0.1 * 641 * 320));
    const std::vector<double> limits = reals(one(wide, 6)), counts = reals(one(wide, 7));
    REQUIRE(limits.size() == 64);
    REQUIRE(counts.size() == 64);
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        sum += counts[i];
        if (i > 0) CHECK(limits[i] > limits[i - 1]);
        CHECK(std::abs(counts[i] - 10) <= 2);
    }
    CHECK(sum == 641);
    const auto narrow = histogram(2);
    CHECK(reals(one(narrow, 7)) == std::vector<double>{3});
}

TEST_CASE("the graph has a node for every layer, with its sources and shape") {
    const TemporaryFolder folder;
    TensorBoard board(folder / "tb", 12);
    plan::Plan plan = hand_made_plan();
    plan::Layer layer;
    layer.name = "stage_1/conv2d_1";
    layer.type = "conv2d";
    layer.from = {"input"};
    layer.output_shape = {4, 5, 6};
    layer.attributes = {{"kernel", std::vector<std::int64_t>{3, 3}}, {"bias", false}};
    plan.layers = {layer};
    board.graph(plan);
    const std::vector<std::string> records = records_of(board.path());
    REQUIRE(records.size() == 3);
    // The steps that a resumed run repeats no longer count: SessionLog.START at the first step.
    CHECK(little_endian(one(fields_of(records[1]), 2)) == 12);
    CHECK(little_endian(one(fields_of(one(fields_of(records[1]), 7)), 1)) == 1);
    const auto graph = fields_of(one(fields_of(records[2]), 4));
    REQUIRE(graph.count(1) == 2);
    const auto node = fields_of(std::next(graph.find(1))->second);
    CHECK(one(node, 1) == "stage_1/conv2d_1");
    CHECK(one(node, 2) == "conv2d");
    CHECK(one(node, 3) == "input");
    CHECK(node.count(5) == 3);
}

}  // namespace dtnn::runtime::tensorboard_test
