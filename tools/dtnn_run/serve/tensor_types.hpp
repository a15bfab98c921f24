#pragma once
/// The types of elements that tensors of the Open Inference Protocol have here.

#include <optional>
#include <string_view>

#include "base/tensor/dtype.hpp"
#include "runtime/data/formats/npy.hpp"

namespace dtnn::serve {

struct TensorType {
    const char* name;  ///< as the protocol has it
    runtime::NpyHeader::Kind kind;
    int bytes;
};

inline constexpr TensorType kTensorTypes[] = {{"FP32", runtime::NpyHeader::Kind::real, 4},
                                              {"FP64", runtime::NpyHeader::Kind::real, 8},
                                              {"UINT8", runtime::NpyHeader::Kind::natural, 1},
                                              {"INT8", runtime::NpyHeader::Kind::integer, 1},
                                              {"UINT16", runtime::NpyHeader::Kind::natural, 2},
                                              {"INT16", runtime::NpyHeader::Kind::integer, 2},
                                              {"UINT32", runtime::NpyHeader::Kind::natural, 4},
                                              {"INT32", runtime::NpyHeader::Kind::integer, 4},
                                              {"UINT64", runtime::NpyHeader::Kind::natural, 8},
                                              {"INT64", runtime::NpyHeader::Kind::integer, 8},
                                              {"BOOL", runtime::NpyHeader::Kind::boolean, 1}};

/// Null where there is none of that name.
constexpr const TensorType* find_tensor_type(std::string_view name) {
    for (const TensorType& type : kTensorTypes)
        if (name == type.name) return &type;
    return nullptr;
}

/// What the protocol calls a type of a plan.
constexpr const char* tensor_type_of(DType dtype) {
    return dtype == DType::f64 ? "FP64" : dtype == DType::i32 ? "INT32" : "FP32";
}

}  // namespace dtnn::serve
