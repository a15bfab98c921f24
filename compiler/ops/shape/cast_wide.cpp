#include <fmt/format.h>

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

OpDef define_cast_wide() {
    return OpBuilder("cast_wide")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc("Numbers of 16 bits as floats, exactly.")
        .shape([](ShapeContext& c) {
            Type result = c.input(0);
            if (!is_reduced(result.dtype)) {
                c.fail(fmt::format("cast_wide: {} has not 16 bits", plan::name_of(result.dtype)));
                return;
            }
            result.dtype = wide_of(result.dtype);
            c.result(result);
        })
        .no_gradient("placed by reduce_precision, which runs after differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
