#include "base/protobuf_message.hpp"

#include <bit>

namespace dtnn {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

}  // namespace

void append_little_endian(std::string& out, std::uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; ++i)
        out += char(bits >> (8 * i) & 0xFF);
}

void ProtobufMessage::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        bytes_ += char(value | 0x80);
    bytes_ += char(value);
}

void ProtobufMessage::key(int field, int wire_type) {
    varint(std::uint64_t(field) << 3 | std::uint64_t(wire_type));
}

ProtobufMessage& ProtobufMessage::integer(int field, std::int64_t value) {
    key(field, kVarint);
    varint(std::uint64_t(value));
    return *this;
}

ProtobufMessage& ProtobufMessage::real(int field, double value) {
    key(field, kFixed64);
    append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value), 8);
    return *this;
}

ProtobufMessage& ProtobufMessage::single(int field, float value) {
    key(field, kFixed32);
    append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value), 4);
    return *this;
}

ProtobufMessage& ProtobufMessage::text(int field, std::string_view value) {
    key(field, kLengthDelimited);
    varint(value.size());
    bytes_ += value;
    return *this;
}

ProtobufMessage& ProtobufMessage::message(int field, const ProtobufMessage& value) {
    return text(field, value.bytes());
}

ProtobufMessage& ProtobufMessage::reals(int field, std::span<const double> values) {
    key(field, kLengthDelimited);
    varint(8 * values.size());
    for (const double value : values)
        append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value), 8);
    return *this;
}

}  // namespace dtnn
