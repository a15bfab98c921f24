#include "compiler/ops/recurrent/next_cell.hpp"

#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

NextCell::NextCell(StepContext& c, std::int64_t parts)
    : c_(c),
      parts_(parts),
      units_(c.whole(0).dims[2] / parts),
      refused_(flag(c.node().attributes, "reversed") || c.steps() > 1) {
    if (c.steps() > 1) c.refuse("its cells take step by step", "");
    if (flag(c.node().attributes, "reversed"))
        c.refuse("its cells go from the last step to the first",
                 "without `reversed` they go the way in which text is read");
}

ValueId NextCell::kept(const std::string& name) {
    const Type& whole = c_.whole(0);
    return c_.kept(name, {whole.dtype, {whole.dims[0], 1, units_}, {}, whole.axes});
}

ValueId NextCell::product(ValueId state) {
    return c_.emit("dense", {state, c_.input(1)}, {{"bias", false}}, "product")[0];
}

ValueId NextCell::part(ValueId value, std::int64_t i) {
    Attributes range{{"begin", i * units_}, {"end", (i + 1) * units_}};
    write_axis(range, 2);
    return parts_ == 1 ? value : c_.emit("slice", {value}, std::move(range), "part")[0];
}

ValueId NextCell::formula(const char* postfix, ValueList values, const std::string& name) {
    return c_.emit("elementwise", std::move(values), {{"expression", std::string(postfix)}},
                   name)[0];
}

}  // namespace dtnn::compiler
