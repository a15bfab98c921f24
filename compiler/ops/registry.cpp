/// The registry calls one function per operator. Nothing depends on static initialisers, so
/// operators survive being linked from a static library.

#include <fmt/format.h>

#include <limits>
#include <unordered_map>

#include "base/expression/expression.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

#define DTNN_OP(name) OpDef define_##name();
#include "compiler/ops/ops.def"
#undef DTNN_OP

namespace {

struct Registry {
    std::vector<OpDef> ops;
    std::vector<const OpDef*> pointers;
    std::unordered_map<std::string_view, const OpDef*> by_name;

    Registry() {
        ops = {
#define DTNN_OP(name) define_##name(),
#include "compiler/ops/ops.def"
#undef DTNN_OP
        };
        for (const OpDef& def : ops) {
            pointers.push_back(&def);
            by_name.emplace(def.name, &def);
        }
    }
};

const Registry& registry() {
    static const Registry instance;
    return instance;
}

}  // namespace

const OpDef* find_op(std::string_view name) {
    const auto& by_name = registry().by_name;
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : found->second;
}

const OpDef& op(std::string_view name) {
    const OpDef* found = find_op(name);
    DTNN_CHECK(found != nullptr, "no operator is named `{}`", name);
    return *found;
}

const std::vector<const OpDef*>& all_ops() {
    return registry().pointers;
}

std::vector<std::string> layer_names() {
    std::vector<std::string> names;
    for (const OpDef* def : all_ops())
        if (def->layer) names.push_back(def->name);
    return names;
}

std::string range_text(const Range& range) {
    if (range.least && range.most)
        return fmt::format("between {} and {}", *range.least, *range.most);
    if (range.least) return fmt::format("at least {}", *range.least);
    return fmt::format("at most {}", range.most.value_or(0));
}

Cost traffic(const std::vector<Type>& inputs, const std::vector<Type>& outputs,
             std::int64_t flops) {
    Cost cost{flops, 0};
    for (const Type& type : inputs)
        cost.bytes += type.bytes();
    for (const Type& type : outputs)
        cost.bytes += type.bytes();
    return cost;
}

}  // namespace dtnn::compiler
