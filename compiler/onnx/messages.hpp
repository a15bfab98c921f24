#pragma once
/// ONNX's messages as structs, which schema.def lists, and their wire format. Strings of files may
/// hold anything; numbers and names mean nothing yet.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/protobuf_message.hpp"
#include "base/tensor/dtype.hpp"

namespace dtnn::compiler::onnx {

#define ONNX_MESSAGE(name) struct name {
#define ONNX_FIELD(number, type, member) type member{};
#define ONNX_END \
    }            \
    ;
#include "compiler/onnx/schema.def"
#undef ONNX_MESSAGE
#undef ONNX_FIELD
#undef ONNX_END

/// TensorProto.DataType, as far as it is used.
enum ElementType : std::int64_t {
    kFloat = 1,
    kUint8 = 2,
    kInt8 = 3,
    kInt32 = 6,
    kInt64 = 7,
    kBool = 9,
    kFloat16 = 10,
    kDouble = 11,
    kBfloat16 = 16,
};
ElementType element_type(DType dtype);

/// AttributeProto.AttributeType, of those that are written.
enum AttributeType : std::int64_t {
    kFloatAttribute = 1,
    kIntAttribute = 2,
    kTextAttribute = 3,
    kTensorAttribute = 4,
    kFloatsAttribute = 6,
    kIntsAttribute = 7,
};

/// TensorProto.DataLocation.
inline constexpr std::int64_t kExternal = 1;

/// Protocol Buffers have no longer message.
inline constexpr std::int64_t kMostMessageBytes = (std::int64_t{1} << 31) - 1;

std::string write_model(const ModelProto& model);

/// Reads a file; views of the result point into `bytes`. Throws ProtobufError. What it takes of
/// memory is bounded: 64 times the bytes and 16 MiB, never more than 4 GiB. The schema bounds the
/// depth.
ModelProto read_model(std::string_view bytes);

}  // namespace dtnn::compiler::onnx
