#include "compiler/ops/sequence/sequence.hpp"

#include <fmt/format.h>

#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {

bool is_sequence(const Type& type) {
    static const Axes axes = usual_axes(2);
    return type.axes == axes;
}

bool expect_sequence(ShapeContext& c, std::size_t i) {
    if (is_sequence(c.input(i))) return true;
    c.fail(fmt::format("{} works on sequences, [steps, features], and its input is {}", c.op().name,
                       sample_text(c.input(i))),
           is_image(c.input(i)) ? "`pixels_to_steps` makes one of an image"
                                : "`reshape: {shape: [steps, features]}` makes one of it");
    return false;
}

bool expect_lengths(ShapeContext& c) {
    const auto place = c.place_of("lengths");
    if (!place) return true;
    const Type& lengths = c.input(*place);
    if (lengths.dtype == DType::i32 && lengths.elements() == c.input(0).dims[0]) return true;
    c.fail(fmt::format("{}: lengths must be an integer for each of {} samples", c.op().name,
                       c.input(0).dims[0]));
    return false;
}

void next_of_placed(StepContext& c) {
    const Node& node = c.node();
    ValueList inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        inputs.push_back(c.input(i));
    inputs.push_back(c.step());
    Attributes attributes = node.attributes;
    attributes[kPlaced] = true;
    c.set(c.emit(node.op, std::move(inputs), std::move(attributes), "dst")[0]);
}

Field base_field() {
    Field field = real_field("base", 10000,
                             "of the angles: the slowest turns once in 2 pi times as "
                             "many steps");
    field.minimum = 1;
    field.maximum = kLargestReal;
    return field;
}

}  // namespace dtnn::compiler
