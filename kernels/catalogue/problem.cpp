#include "kernels/problem.hpp"

#include <utility>

#include "kernels/layout.hpp"

namespace dtnn::kernels {
namespace {

template <class Value>
const Value* find(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : std::get_if<Value>(&found->second);
}

}  // namespace

void Problem::set_dtype(DType floating) {
    dtype = floating;
    for (const auto* operands : {&sources, &destinations})
        for (const TensorDesc& operand : *operands)
            if (is_reduced(operand.dtype)) dtype = operand.dtype;
}

Problem problem_of(std::string op, Attributes attributes, std::vector<TensorDesc> sources,
                   std::vector<TensorDesc> destinations, const ProblemTarget& target) {
    Problem problem;
    problem.op = std::move(op);
    problem.sources = std::move(sources);
    problem.destinations = std::move(destinations);
    problem.attributes = std::move(attributes);
    problem.threads = target.threads;
    problem.isa = target.isa;
    problem.strict = target.strict;
    problem.set_dtype(target.dtype);
    return problem;
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
