#include <fmt/format.h>

#include "compiler/ir/axes.hpp"
#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// dst[n, i * classes + c] = 1 where c is integer i of sample n, else 0; `dtype` ("f32" unless
/// given) is the result's.
OpDef define_one_hot() {
    return OpBuilder("one_hot")
        .family(Family::shape)
        .kernel_class(KernelClass::memory)
        .doc(
            "A row with a single 1 for each integer, one behind the other: rows of a table, by a "
            "dense layer behind it.")
        .layer("- one_hot: {classes: 1000}")
        .takes_integers("classes")
        .field({.name = "classes",
                .type = FieldType::integer,
                .doc = "how many values an integer may have, from 0",
                .change = kOfLayer,
                .minimum = 1,
                .maximum = 1'000'000})
        .shape([](ShapeContext& c) {
            const Type& labels = c.input(0);
            const bool row = is_rows(labels);
            if (labels.dtype != DType::i32 || labels.dims.empty() ||
                (!row && labels.elements() != labels.dims[0])) {
                c.fail(fmt::format("one_hot takes integers, one or a row of them for a sample, got "
                                   "{}",
                                   sample_text(labels)),
                       "`axes: [feature]` of an input makes a row; an `embedding` takes steps");
                return;
            }
            fallback(c, "dtype", std::string("f32"));
            const std::int64_t each = row ? labels.dims[1] : 1;
            Type dst{DType::f32,
                     {labels.dims[0], saturating_product({each, c.integer("classes")})},
                     {},
                     usual_axes(1)};
            if (!plan::parse_name(c.text("dtype"), dst.dtype)) {
                c.fail("one_hot: `" + c.text("dtype") + "` is no dtype", "", "dtype");
                return;
            }
            c.result(dst);
        })
        .no_gradient("labels are integers")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
