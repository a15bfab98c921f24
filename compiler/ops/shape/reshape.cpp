#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {
namespace {

/// "64x7x7" with "-1" where it stands.
std::string wanted_text(const Dims& shape) {
    std::string text;
    for (const std::int64_t extent : shape)
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

/// The given shape with its -1 replaced; empty after a failure.
Dims resolve(ShapeContext& c, Dims shape, std::int64_t numbers) {
    std::int64_t known = 1;
    std::int64_t* open = nullptr;
    for (std::int64_t& extent : shape) {
        if (extent == -1 && !open) {
            open = &extent;
            continue;
        }
        if (extent < 1) {
            c.fail(fmt::format("reshape to {}: {}", wanted_text(shape),
                               extent == -1 ? "only one extent can be -1, what is left"
                                            : fmt::format("{} is no extent", extent)),
                   "", "shape");
            return {};
        }
        known = saturating_product({known, extent});
    }
    const std::string source = sample_text(c.input(0));
    if (open ? numbers % known != 0 : numbers != known) {
        c.fail(
            open ? fmt::format(
                       "reshape from {} to {}: {} numbers cannot be shared by {}: {} mod {} = {}",
                       source, wanted_text(shape), numbers, known, numbers, known, numbers % known)
                 : fmt::format("reshape from {} to {}: {} numbers are not {}", source,
                               wanted_text(shape), numbers, known),
            "", "shape");
        return {};
    }
    if (open) *open = numbers / known;
    return shape;
}

void reshape_shape(ShapeContext& c) {
    const Dims wanted = c.integers("shape");
    const Type& src = c.input(0);
    if (src.dims.empty()) {
        c.fail("reshape takes one tensor per sample, got a scalar");
        return;
    }
    const Axes axes = usual_axes(wanted.size());
    if (axes.empty()) {
        c.fail(fmt::format("reshape takes [numbers], [steps, features] or [channels, height, "
                           "width], got {} extents",
                           wanted.size()),
               "the batch is not counted", "shape");
        return;
    }
    const Dims resolved = resolve(c, wanted, src.elements() / src.dims[0]);
    if (resolved.empty()) return;
    c.attributes()["shape"] = resolved;
    Dims dims{src.dims[0]};
    dims.insert(dims.end(), resolved.begin(), resolved.end());
    c.result(Type{src.dtype, dims, {}, axes});
}

}  // namespace

/// The same numbers in the order of the axes, under another shape.
OpDef define_reshape() {
    Field field = integer_field("shape", {},
                                "[numbers], [steps, features] or [channels, height, width] of the "
                                "result; one of them can be -1, what is left",
                                -1, kLargestExtent);
    field.type = FieldType::integer_list;
    return OpBuilder("reshape")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .general_form([](const Graph& graph, const Node& node) {
            const Type& dst = graph.type(node.outputs[0]);
            std::vector<Node> nodes;
            if (!is_rows(graph.type(node.inputs[0]))) nodes = becomes(node, "flatten", {});
            if (!is_rows(dst))
                nodes.push_back(becomes(node, "unflatten", shape_attributes(dst))[0]);
            return nodes;
        })
        .does_nothing(keeps_extents)
        .doc(
            "The same numbers, in the order channels, height, width (or steps, features), in "
            "another shape.")
        .layer("- reshape: {shape: [64, 7, -1]}")
        .keeps_numbers()
        .with_lengths(steps_as_zeros)
        .field(field)
        .shape(reshape_shape)
        .no_gradient("abstract: canonicalize makes it flatten and unflatten before differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
