/// What moves numbers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/saturating.hpp"
#include "base/utf8.hpp"
#include "compiler/keras/call.hpp"

namespace dtnn::compiler::keras {
namespace {

/// The sample under these extents; numbers in Keras' order.
Value reshape(Call& call, const Value& value, Dims dims) {
    const Value src = call.laid(value, false);
    Integers shape = dims;
    shape.front() = 0;  // the batch stays
    return call.node("Reshape", {src.name, call.integers(shape)}, {}, std::move(dims), false);
}

}  // namespace

Value read_flatten(Call& call) {
    Value src = call.laid(call.input(), false);
    // Channels come last in a row, wherever they were.
    if (!call.has_last_channels() && src.rank() > 2)
        src = call.transposed(src, src.is_image() ? Integers{0, 2, 3, 1} : Integers{0, 2, 1});
    return reshape(call, src, {1, element_count(src.dims)});
}

Value read_reshape(Call& call) {
    const Value& src = call.input();
    Dims dims = call.integers("target_shape", {});
    std::int64_t known = 1, *open = nullptr;
    for (std::int64_t& extent : dims) {
        if (extent == -1 && !open)
            open = &extent;
        else if (extent < 1)
            throw Refused(fmt::format("it makes an extent of {}", extent), "");
        else
            known = saturating_product({known, extent});
    }
    const std::int64_t numbers = element_count(src.dims);
    if (open) *open = numbers / known;
    if (element_count(dims) != numbers || dims.size() > 3 || dims.empty())
        throw Refused(
            fmt::format("it makes [batch, {}] of {}", fmt::join(dims, ", "), src.shape_text()),
            "one to three axes behind the batch, of as many numbers, can be");
    dims.insert(dims.begin(), 1);
    return reshape(call, src, std::move(dims));
}

Value read_permute(Call& call) {
    const Value src = call.laid(call.input(), false);
    Integers order = call.integers("dims", {});
    Integers sorted = order, axes(src.rank() - 1);
    std::iota(axes.begin(), axes.end(), 1);
    std::sort(sorted.begin(), sorted.end());
    if (sorted != axes)
        throw Refused(fmt::format("it puts the axes of {} into the order [{}]", src.shape_text(),
                                  fmt::join(order, ", ")),
                      "name each axis behind the batch once, from 1");
    order.insert(order.begin(), 0);
    return call.transposed(src, order);
}

Value read_zero_padding2d(Call& call) {
    const Value src = call.image();
    const Integers cells = call.cells("padding");
    return call.node(
        "Pad", {src.name, call.integers({0, 0, cells[0], cells[2], 0, 0, cells[1], cells[3]})}, {},
        {1, src.dims[1], src.dims[2] + cells[0] + cells[1], src.dims[3] + cells[2] + cells[3]},
        src.turned);
}

Value read_cropping2d(Call& call) {
    const Value src = call.image();
    const Integers cells = call.cells("cropping");
    const Integers ends{src.dims[2] - cells[1], src.dims[3] - cells[3]};
    return call.node(
        "Slice",
        {src.name, call.integers({cells[0], cells[2]}), call.integers(ends), call.integers({2, 3})},
        {}, {1, src.dims[1], ends[0] - cells[0], ends[1] - cells[2]}, src.turned);
}

Value read_up_sampling2d(Call& call) {
    const Value src = call.image();
    const Integers size = call.extents("size", {2}, 2);
    const std::string how = call.text("interpolation", "nearest");
    if (how != "nearest" && how != "bilinear")
        throw Refused(fmt::format("it interpolates by `{}`", printable(how)),
                      "nearest and bilinear can be");
    const bool nearest = how == "nearest";
    return call.node(
        "Resize", {src.name, "", call.numbers({4}, {1, 1, double(size[0]), double(size[1])})},
        {attribute("mode", nearest ? "nearest" : "linear"),
         attribute("coordinate_transformation_mode", nearest ? "asymmetric" : "half_pixel"),
         attribute("nearest_mode", "floor")},
        {1, src.dims[1], saturating_product({src.dims[2], size[0]}),
         saturating_product({src.dims[3], size[1]})},
        src.turned);
}

}  // namespace dtnn::compiler::keras
