#pragma once
/// Messages in the wire format of Protocol Buffers, field by field
/// (https://protobuf.dev/programming-guides/encoding/). Proto3 leaves out fields that have their
/// default, and so do callers.

#include <cstdint>
#include <span>
#include <stdexcept>
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
    void varint(std::uint64_t value);  ///< without a key, for packed lists

    const std::string& bytes() const { return bytes_; }

  private:
    void key(int field, int wire_type);

    std::string bytes_;
};

/// Bytes that are no message, or not the one that is read: `what()` is the fact.
class ProtobufError : public std::runtime_error {
  public:
    ProtobufError(std::size_t offset, const std::string& fact)
        : std::runtime_error(fact), offset_(offset) {}
    std::size_t offset() const { return offset_; }  ///< of the byte, from the start of the file

  private:
    std::size_t offset_;
};

/// The fields of a message, one after the other, whoever wrote it. Views into its bytes; no memory
/// is taken, whatever they say.
class ProtobufReader {
  public:
    enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

    /// `offset` is where the bytes begin in their file, for errors.
    explicit ProtobufReader(std::string_view bytes, std::size_t offset = 0)
        : bytes_(bytes), start_(offset) {}

    /// Goes to the next field; false at the end. Throws ProtobufError, for groups too, which nobody
    /// writes any more.
    bool next();

    std::uint32_t number() const { return number_; }
    Wire wire() const { return wire_; }
    std::uint64_t bits() const { return bits_; }           ///< of all wires but bytes
    std::string_view content() const { return content_; }  ///< of bytes
    std::size_t offset() const { return field_; }          ///< of the field's key
    std::size_t content_offset() const { return start_ + at_ - content_.size(); }

    /// Takes a varint, as packed lists have them, where the bytes are no message.
    std::uint64_t take_varint();
    bool at_end() const { return at_ == bytes_.size(); }

  private:
    std::uint64_t take_fixed(int bytes);
    [[noreturn]] void fail(const std::string& fact) const;

    std::string_view bytes_, content_;
    std::size_t start_ = 0, at_ = 0, field_ = 0;
    std::uint32_t number_ = 0;
    Wire wire_ = Wire::varint;
    std::uint64_t bits_ = 0;
};

/// The lowest `bytes` bytes of `bits`, lowest first.
void append_little_endian(std::string& out, std::uint64_t bits, int bytes);

}  // namespace dtnn
