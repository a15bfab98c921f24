#pragma once
/// A message in the wire format of Protocol Buffers, built field by field
/// (https://protobuf.dev/programming-guides/encoding/). Only
/// writing: proto3 leaves out fields that have their default, and so do callers.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dtnn {

class ProtobufMessage {
  public:
    ProtobufMessage& integer(int field, std::int64_t value);   ///< int32, int64, enum, bool
    ProtobufMessage& real(int field, double value);            ///< double
    ProtobufMessage& single(int field, float value);           ///< float
    ProtobufMessage& text(int field, std::string_view value);  ///< string, bytes
    ProtobufMessage& message(int field, const ProtobufMessage& value);
    ProtobufMessage& reals(int field, std::span<const double> values);  ///< packed repeated double

    const std::string& bytes() const { return bytes_; }

  private:
    void key(int field, int wire_type);
    void varint(std::uint64_t value);

    std::string bytes_;
};

/// The lowest `bytes` bytes of `bits`, lowest first.
void append_little_endian(std::string& out, std::uint64_t bits, int bytes);

}  // namespace dtnn
