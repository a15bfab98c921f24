#include "runtime/exec/collectives.hpp"

#include <fmt/format.h>

namespace dtnn::runtime {
namespace {

bool alike(const plan::Collective& a, const plan::Collective& b) {
    return a.name == b.name && a.bytes == b.bytes && a.dtype == b.dtype &&
           a.parameters == b.parameters;
}

}  // namespace

std::optional<std::string> collectives_mistake(const plan::Plan& plan) {
    const plan::Program* first = nullptr;
    for (const plan::Program& program : plan.programs) {
        if (!plan.parallel.data && !program.collectives.empty())
            return fmt::format("program `{}` has exchanges, and the plan is for one rank",
                               program.name);
        for (const plan::Collective& one : program.collectives) {
            if (one.dtype != plan::DType::f32 && one.dtype != plan::DType::f64 &&
                one.dtype != plan::DType::i64)
                return fmt::format(
                    "program `{}`: the exchange `{}` is of {}, which is not added up", program.name,
                    one.name, plan::name_of(one.dtype));
        }
        if (program.name != "train" && !program.name.starts_with("train_")) continue;
        if (first == nullptr) first = &program;
        bool same = program.collectives.size() == first->collectives.size();
        for (std::size_t i = 0; same && i < program.collectives.size(); ++i)
            same = alike(program.collectives[i], first->collectives[i]);
        if (!same)
            return fmt::format(
                "the programs `{}` and `{}`, which ranks run in the same step, do "
                "not have the same exchanges",
                first->name, program.name);
    }
    return std::nullopt;
}

}  // namespace dtnn::runtime
