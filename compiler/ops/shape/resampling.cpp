#include "compiler/ops/shape/resampling.hpp"

#include "compiler/ops/emit.hpp"

namespace dtnn::compiler {

void emit_resampling_backward(GradientContext& g, const char* backward,
                              std::initializer_list<const char*> attributes) {
    if (!g.wants(0)) return;
    Attributes kept = pick(g.node().attributes, attributes);
    kept["source_shape"] = g.graph().type(g.input(0)).dims;
    g.set(0, g.emit(backward, {g.diff(0)}, std::move(kept), "diff_src")[0]);
}

OpBuilder resampling_backward(const char* name, const char* forward, const char* doc) {
    return OpBuilder(name)
        .doc(doc)
        .shape([name, forward](ShapeContext& c) {
            Type diff_src = c.input(0);
            diff_src.dims = c.integers("source_shape");
            Attributes attributes = c.attributes();
            attributes.erase("source_shape");
            std::vector<Type> results;
            if (const auto error = infer(op(forward), {diff_src}, attributes, results)) {
                c.fail(error->text);
                return;
            }
            if (expect_dims(c, "diff_dst", results[0].dims)) c.result(diff_src);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes&) {
            return 2 * std::max(in[0].elements(), out[0].elements());
        });
}

}  // namespace dtnn::compiler
