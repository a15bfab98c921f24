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

void ProtobufReader::fail(const std::string& fact) const {
    throw ProtobufError(start_ + at_, fact);
}

std::uint64_t ProtobufReader::take_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (at_ == bytes_.size()) fail("the file ends, or its part does, within a number");
        const auto byte = std::uint8_t(bytes_[at_++]);
        value |= std::uint64_t(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    fail("a number has more than 10 bytes");
}

std::uint64_t ProtobufReader::take_fixed(int bytes) {
    if (bytes_.size() - at_ < std::size_t(bytes))
        fail("the file ends, or its part does, within a number");
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
        value |= std::uint64_t(std::uint8_t(bytes_[at_++])) << (8 * i);
    return value;
}

bool ProtobufReader::next() {
    if (at_end()) return false;
    field_ = start_ + at_;
    const std::uint64_t key = take_varint();
    if (key >> 32 || key >> 3 == 0) fail("the key of a field is none");
    number_ = std::uint32_t(key >> 3);
    content_ = {};
    switch (key & 7) {
        case kVarint:
            bits_ = take_varint();
            break;
        case kFixed64:
            bits_ = take_fixed(8);
            break;
        case kFixed32:
            bits_ = take_fixed(4);
            break;
        case kLengthDelimited: {
            const std::uint64_t length = take_varint();
            if (length > bytes_.size() - at_)
                fail("field " + std::to_string(number_) + " says that it has " +
                     std::to_string(length) + " bytes, but " + std::to_string(bytes_.size() - at_) +
                     " are left");
            content_ = bytes_.substr(at_, length);
            at_ += length;
            break;
        }
        default:
            fail("a field is of wire type " + std::to_string(key & 7) + ", which is not used");
    }
    wire_ = Wire(key & 7);
    return true;
}

}  // namespace dtnn
