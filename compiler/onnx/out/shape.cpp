#include <cmath>

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler::onnx {

void write_flatten(NodeWriter& out) {
    out.done("Flatten", {out.input()}, {attribute("axis", std::int64_t{1})});
}

void write_reshape(NodeWriter& out) {
    out.done(out.reshape(out.input(), out.result().dims));
}

void write_concat(NodeWriter& out) {
    out.done("Concat", out.inputs(),
             {attribute("axis", std::int64_t(written_axis(out.attributes())))});
}

void write_mean(NodeWriter& out) {
    const std::vector<std::int64_t> axes{std::int64_t(written_axis(out.attributes()))};
    const AttributeProto gone = attribute("keepdims", std::int64_t{0});
    if (out.model().opset() < 18)
        out.done("ReduceMean", {out.input()}, {attribute("axes", axes), gone});
    else
        out.done("ReduceMean", {out.input(), out.model().integers(axes)}, {gone});
}

void write_slice(NodeWriter& out) {
    const auto name = axis_name_of(out.attributes());
    const std::int64_t axis =
        name ? named_axis(out.type().axes, *name) : std::int64_t(written_axis(out.attributes()));
    ModelWriter& model = out.model();
    out.done("Slice", {out.input(), model.integers({out.integer("begin")}),
                       model.integers({out.integer("end")}), model.integers({axis})});
}

void write_zero_pad2d(NodeWriter& out) {
    const Window w = window_of(out.attributes(), {1, 1});
    out.done("Pad", {out.input(), out.model().integers({0, 0, w.padding[0], w.padding[2], 0, 0,
                                                        w.padding[1], w.padding[3]})});
}

/// Nearest cells are taken by their indices, in whole numbers as here, where the factor is not
/// whole: a runtime that divides by a rounded factor may come out one cell before.
void write_upsample2d(NodeWriter& out) {
    const Dims &src = out.type().dims, &dst = out.result().dims;
    ModelWriter& model = out.model();
    const bool bilinear = says(out.attributes(), "mode", Resampling::bilinear);
    if (!bilinear && (dst[2] % src[2] != 0 || dst[3] % src[3] != 0)) {
        std::string value = out.input();
        for (const std::size_t axis : {std::size_t(2), std::size_t(3)}) {
            std::vector<std::int64_t> cells;
            for (std::int64_t i = 0; i < dst[axis]; ++i)
                cells.push_back(i * src[axis] / dst[axis]);
            value = out.add("Gather", {value, model.integers(cells)},
                            {attribute("axis", std::int64_t(axis))});
        }
        return out.done(value);
    }
    // Extents are rounded down of their products, so a scale is no less than the quotient.
    std::vector<double> scales{1, 1};
    for (const std::size_t axis : {std::size_t(2), std::size_t(3)}) {
        const double scale = double(dst[axis]) / double(src[axis]);
        const auto rounded = float(scale);
        scales.push_back(rounded < scale ? std::nextafter(rounded, 2 * rounded) : rounded);
    }
    if (!bilinear)
        return out.done("Resize", {out.input(), "", model.numbers(DType::f32, {4}, scales)},
                        {attribute("mode", "nearest"), attribute("nearest_mode", "floor"),
                         attribute("coordinate_transformation_mode", "asymmetric")});
    // The batch is not known, so the extents are said of the others, which operator set 18 allows.
    const char* corners = flag(out.attributes(), "align_corners") ? "align_corners" : "half_pixel";
    const std::vector<AttributeProto> how{attribute("mode", "linear"),
                                          attribute("coordinate_transformation_mode", corners)};
    if (model.opset() < 18)
        return out.done("Resize", {out.input(), "", model.numbers(DType::f32, {4}, scales)}, how);
    std::vector<AttributeProto> of_images = how;
    of_images.push_back(attribute("axes", {2, 3}));
    out.done("Resize", {out.input(), "", "", model.integers({dst[2], dst[3]})}, of_images);
}

void write_one_hot(NodeWriter& out) {
    ModelWriter& model = out.model();
    const std::string indices =
        out.add("Cast", {out.input()}, {attribute("to", std::int64_t(kInt64))});
    const std::string rows = out.add("OneHot",
                                     {indices, model.integers({out.integer("classes")}),
                                      model.numbers(out.dtype(), {2}, {0, 1})},
                                     {attribute("axis", std::int64_t{-1})});
    out.done(out.reshape(rows, out.result().dims));
}

}  // namespace dtnn::compiler::onnx
