#include "kernels/problem.hpp"

#include "kernels/layout.hpp"

namespace dtnn::kernels {
namespace {

template <class Value>
const Value* find(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : std::get_if<Value>(&found->second);
}

}  // namespace

std::int64_t TensorDesc::elements() const {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims)
        count *= dim;
    return count;
}

std::int64_t TensorDesc::bytes() const {
    switch (dtype) {
        case DType::f32:
        case DType::i32:
            return elements() * 4;
        case DType::f64:
        case DType::i64:
            return elements() * 8;
        case DType::bf16:
        case DType::fp16:
            return elements() * 2;
        case DType::u8:
            break;
    }
    return elements();
}

void Problem::set_dtype(DType floating) {
    dtype = floating;
    for (const auto* operands : {&sources, &destinations})
        for (const TensorDesc& operand : *operands)
            if (is_reduced(operand.dtype)) dtype = operand.dtype;
}

bool has_written_epilogue(const Problem& problem) {
    return problem.text("epilogue", "none") == "expression";
}

bool Problem::flag(const char* name) const {
    const bool* value = find<bool>(attributes, name);
    return value != nullptr && *value;
}

std::int64_t Problem::integer(const char* name) const {
    if (!attributes.contains(name)) throw MissingAttribute(op, name);
    return integer(name, 0);
}

double Problem::real(const char* name) const {
    if (!attributes.contains(name)) throw MissingAttribute(op, name);
    return real(name, 0);
}

std::string Problem::text(const char* name) const {
    if (!attributes.contains(name)) throw MissingAttribute(op, name);
    return text(name, "");
}

std::int64_t Problem::integer(const char* name, std::int64_t absent) const {
    const auto* value = find<std::int64_t>(attributes, name);
    return value != nullptr ? *value : absent;
}

double Problem::real(const char* name, double absent) const {
    if (const auto* value = find<double>(attributes, name)) return *value;
    // A real that happens to be whole may come back from a plan's text as an integer.
    if (const auto* value = find<std::int64_t>(attributes, name)) return double(*value);
    return absent;
}

std::string Problem::text(const char* name, const char* absent) const {
    const auto* value = find<std::string>(attributes, name);
    return value != nullptr ? *value : absent;
}

std::vector<std::int64_t> Problem::integers(const char* name) const {
    const auto* value = find<std::vector<std::int64_t>>(attributes, name);
    return value != nullptr ? *value : std::vector<std::int64_t>{};
}

std::vector<double> Problem::reals(const char* name) const {
    const auto* value = find<std::vector<double>>(attributes, name);
    return value != nullptr ? *value : std::vector<double>{};
}

Dims strides_of(const TensorDesc& tensor) {
    const int rank = int(tensor.dims.size());
    Dims strides(tensor.dims.size(), 1);
    std::int64_t stride = 1;
    for (int place = rank - 1; place >= 0; --place) {
        const int axis = tensor.order.empty() ? place : tensor.order[std::size_t(place)];
        strides[std::size_t(axis)] = stride;
        stride *= tensor.dims[std::size_t(axis)];
    }
    return strides;
}

bool same_layout(const TensorDesc& a, const TensorDesc& b) {
    if (a.dims != b.dims) return false;
    const Dims of_a = strides_of(a), of_b = strides_of(b);
    for (std::size_t axis = 0; axis < a.dims.size(); ++axis) {
        if (a.dims[axis] > 1 && of_a[axis] != of_b[axis]) return false;
    }
    return true;
}

bool is_row_major(const TensorDesc& tensor) {
    TensorDesc plain = tensor;
    plain.order.clear();
    return same_layout(tensor, plain);
}

bool is_channels_last(const TensorDesc& tensor) {
    if (tensor.dims.size() == 2) return is_row_major(tensor);
    if (tensor.dims.size() != 4) return false;
    TensorDesc last = tensor;
    last.order = {0, 2, 3, 1};
    return same_layout(tensor, last);
}

ImageLayout image_layout(const TensorDesc& tensor) {
    const Dims strides = strides_of(tensor);
    const std::size_t rank = tensor.dims.size();
    ImageLayout image;
    if (rank > 0) image.batch = tensor.dims[0], image.batch_stride = strides[0];
    if (rank > 1) image.channels = tensor.dims[1], image.channel_stride = strides[1];
    if (rank > 2) image.height = tensor.dims[2], image.row_stride = strides[2];
    if (rank > 3) image.width = tensor.dims[3], image.column_stride = strides[3];
    return image;
}

}  // namespace dtnn::kernels
