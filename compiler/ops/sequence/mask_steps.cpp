#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kMaskForm = "form";

}  // namespace

ValueId masked(LengthsContext& c, ValueId value, StepMask form) {
    return c.emit("mask_steps", {value, c.lengths()},
                  {{kMaskForm, std::string(plan::name_of(form))}},
                  std::string(plan::name_of(form)))[0];
}

void each_step(LengthsContext& c) {
    ValueList inputs;
    for (std::size_t i = 0; i < c.node().inputs.size(); ++i)
        inputs.push_back(c.input(i));
    c.set(c.emit(c.node().op, std::move(inputs), c.node().attributes, "dst")[0], true);
}

void steps_as_zeros(LengthsContext& c) {
    ValueList inputs;
    for (std::size_t i = 0; i < c.node().inputs.size(); ++i)
        inputs.push_back(c.padded(i) ? masked(c, c.input(i), StepMask::zeros) : c.input(i));
    c.set(c.emit(c.node().op, std::move(inputs), c.node().attributes, "dst")[0], false);
}

/// kernels/arguments/mask_steps.hpp
OpDef define_mask_steps() {
    return OpBuilder("mask_steps")
        .family(Family::sequence)
        .kernel_class(KernelClass::memory)
        .attribute(kMaskForm, std::string(plan::name_of(StepMask::zeros)))
        .doc(
            "Zeros, or less than any number, for the steps that a sample does not have; those that "
            "it has as they are, scaled for a mean over all steps, or the last of them first.")
        .shape([](ShapeContext& c) {
            fallback(c, kMaskForm);
            const Type& src = c.input(0);
            if (!choice<StepMask>(c.attributes(), kMaskForm)) {
                c.fail("mask_steps: `" + c.text(kMaskForm) + "` is no form", "", kMaskForm);
                return;
            }
            if (src.axes.size() < 2 || src.axes[1] != AxisKind::step) {
                c.fail("mask_steps works on values with steps, and its input is " +
                       sample_text(src));
                return;
            }
            if (expect_lengths(c)) result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            Attributes fields = pick(g.node().attributes, {kMaskForm});
            if (choice<StepMask>(fields, kMaskForm) == StepMask::lowest)
                fields[kMaskForm] = std::string(plan::name_of(StepMask::zeros));
            g.set(0, g.emit("mask_steps", {g.diff(0), g.input(1)}, fields, "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
