#include "tests/gradient/interpreter.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "compiler/ops/emit.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/reduced.hpp"

namespace dtnn::tests {

using compiler::Node;

namespace {

TensorType describe(const Type& type) {
    TensorType desc;
    // The two enumerations are one list.
    desc.dtype = static_cast<DType>(type.dtype);
    desc.dims = type.dims;
    desc.order = type.order;
    return desc;
}

template <class T>
T load(const std::byte* buffer, std::int64_t place) {
    T value;
    std::memcpy(&value, buffer + place * std::int64_t(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void store(std::byte* buffer, std::int64_t place, double number) {
    const T value = static_cast<T>(number);
    std::memcpy(buffer + place * std::int64_t(sizeof(T)), &value, sizeof(T));
}

}  // namespace

struct Interpreter::Bound {
    std::unique_ptr<kernels::BoundKernel> kernel;
};

std::vector<std::int64_t> physical_places(const Type& type) {
    const std::size_t rank = type.dims.size();
    std::vector<std::int64_t> strides(rank, 1);
    std::int64_t stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
        const std::size_t axis = type.order.empty() ? i : std::size_t(type.order[i]);
        strides[axis] = stride;
        stride *= type.dims[axis];
    }
    std::vector<std::int64_t> places(static_cast<std::size_t>(type.elements()));
    std::vector<std::int64_t> index(rank);
    for (std::int64_t& place : places) {
        place = 0;
        for (std::size_t axis = 0; axis < rank; ++axis)
            place += index[axis] * strides[axis];
        for (std::size_t axis = rank; axis-- > 0;) {
            if (++index[axis] < type.dims[axis]) break;
            index[axis] = 0;
        }
    }
    return places;
}

Interpreter::Interpreter(const Graph& graph, Kernels kernels) : graph_(graph) {
    for (const compiler::Value& value : graph.values)
        buffers_.push_back(allocate(value.type->bytes()));
    for (const Node& node : graph.nodes)
        if (node.phase != compiler::Phase::update) bind(node, kernels);
}

Interpreter::~Interpreter() = default;

Interpreter::Buffer Interpreter::allocate(std::int64_t bytes) {
    const std::size_t size = (std::size_t(bytes) + 64) / 64 * 64;
    Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(64, size)));
    std::memset(buffer.get(), 0, size);
    return buffer;
}

void Interpreter::bind(const Node& node, Kernels kernels) {
    kernels::Problem problem;
    const std::string expression = compiler::expression_of(node);
    problem.op = expression.empty() ? node.op : "elementwise";
    problem.attributes = node.attributes;
    if (!expression.empty()) problem.attributes["expression"] = expression;
    problem.dtype = DType::f64;
    for (const auto* values : {&node.inputs, &node.outputs})
        for (const ValueId id : *values)
            if (graph_.type(id).dtype == DType::f32) problem.dtype = DType::f32;
    problem.isa = kernels == Kernels::reference ? kernels::Isa::baseline : kernels::host_isa();
    std::vector<const void*> sources;
    std::vector<void*> destinations;
    for (const ValueId id : node.inputs) {
        problem.sources.push_back(describe(graph_.type(id)));
        sources.push_back(buffers_[id.index()].get());
    }
    for (const ValueId id : node.outputs) {
        problem.destinations.push_back(describe(graph_.type(id)));
        destinations.push_back(buffers_[id.index()].get());
    }
    std::string refusals;
    for (const kernels::KernelInfo& kernel : kernels::kernels_of(problem.op)) {
        if (kernels == Kernels::reference && kernel.name != "reference") continue;
        if (const auto why = kernels::refusal(kernel, problem)) {
            refusals += fmt::format("; {}: {}", kernel.name, *why);
            continue;
        }
        if (kernels::expected_slower(kernel, problem)) continue;
        const std::int64_t bytes = kernels::workspace_bytes(kernel, problem);
        workspaces_.push_back(allocate(bytes));
        auto bound = kernels::bind(kernel, problem, sources, destinations,
                                   {workspaces_.back().get(), std::size_t(bytes)});
        if (!bound) throw std::runtime_error(fmt::format("`{}` cannot be bound", problem.op));
        steps_.push_back({std::move(bound)});
        return;
    }
    throw std::runtime_error(fmt::format("`{}` has no kernel{}", problem.op, refusals));
}

void Interpreter::set(ValueId value, const std::vector<double>& numbers) {
    const Type& type = graph_.type(value);
    const auto places = physical_places(type);
    if (places.size() != numbers.size())
        throw std::runtime_error(fmt::format("{} numbers for {} elements of `{}`", numbers.size(),
                                             places.size(), graph_.value(value).name));
    std::byte* buffer = buffers_[value.index()].get();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        switch (type.dtype) {
            case DType::f32:
                store<float>(buffer, places[i], numbers[i]);
                break;
            case DType::f64:
                store<double>(buffer, places[i], numbers[i]);
                break;
            case DType::i32:
                store<std::int32_t>(buffer, places[i], numbers[i]);
                break;
            case DType::i64:
                store<std::int64_t>(buffer, places[i], numbers[i]);
                break;
            case DType::u8:
                store<std::uint8_t>(buffer, places[i], numbers[i]);
                break;
            case DType::bf16:
                store<kernels::BFloat16>(buffer, places[i], numbers[i]);
                break;
            case DType::fp16:
                store<kernels::Float16>(buffer, places[i], numbers[i]);
                break;
        }
    }
}

std::vector<double> Interpreter::get(ValueId value) const {
    const Type& type = graph_.type(value);
    const std::byte* buffer = buffers_[value.index()].get();
    std::vector<double> numbers;
    for (const std::int64_t place : physical_places(type)) {
        switch (type.dtype) {
            case DType::f32:
                numbers.push_back(load<float>(buffer, place));
                break;
            case DType::f64:
                numbers.push_back(load<double>(buffer, place));
                break;
            case DType::i32:
                numbers.push_back(load<std::int32_t>(buffer, place));
                break;
            case DType::i64:
                numbers.push_back(double(load<std::int64_t>(buffer, place)));
                break;
            case DType::u8:
                numbers.push_back(load<std::uint8_t>(buffer, place));
                break;
            case DType::bf16:
                numbers.push_back(load<kernels::BFloat16>(buffer, place));
                break;
            case DType::fp16:
                numbers.push_back(load<kernels::Float16>(buffer, place));
                break;
        }
    }
    return numbers;
}

void Interpreter::run() {
    for (Bound& step : steps_)
        step.kernel->run(team_);
}

}  // namespace dtnn::tests
