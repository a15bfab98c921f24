#include "plan/audit/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/rules/compression.hpp"

namespace dtnn::plan {

namespace {

class WireAudit {
  public:
    WireAudit(const Plan& plan, std::vector<std::string>& findings)
        : plan_(plan), findings_(findings) {}

    void run() {
        const Parallel& parallel = plan_.parallel;
        if (parallel.compression != Compression::full &&
            parallel.optimizer == OptimizerState::sharded)
            findings_.push_back(fmt::format("parts of a sharded optimizer travel as {}",
                                            name_of(parallel.compression)));
        if (parallel.compression != Compression::full && plan_.target.dtype != DType::f32)
            findings_.push_back(fmt::format("numbers of {} travel as {}",
                                            name_of(plan_.target.dtype),
                                            name_of(parallel.compression)));
        if (parallel.compression == Compression::top_k &&
            !(parallel.density > 0 && parallel.density <= 1))
            findings_.push_back(
                fmt::format("a part of {} of the gradients travels", parallel.density));
        for (std::size_t p = 0; p < plan_.programs.size(); ++p)
            check_program(int(p));
        for (const Parameter& parameter : plan_.parameters)
            if (parameter.kind == ParameterKind::residual && !used_.contains(parameter.buffer))
                findings_.push_back(
                    fmt::format("`{}` is the residual of no exchange", parameter.name));
    }

  private:
    void check_program(int index) {
        const Program& program = plan_.programs[std::size_t(index)];
        std::set<int> scratch;
        for (const Collective& one : program.collectives) {
            const auto find = [&](const std::string& fact) {
                findings_.push_back(
                    fmt::format("{}: exchange `{}` {}", program.name, one.name, fact));
            };
            const bool gradients =
                !one.parameters.empty() && program.kind != ProgramKind::synchronise;
            const Compression wanted = gradients ? plan_.parallel.compression : Compression::full;
            if (one.compression != wanted)
                find(fmt::format("travels as {}, not as {}", name_of(one.compression),
                                 name_of(wanted)));
            if (one.compression == Compression::full) {
                if (one.scratch >= 0 || one.residual >= 0 || one.density != 0)
                    find("travels as it is, and has what other forms need");
                continue;
            }
            if (one.kind != CollectiveKind::all_reduce || one.dtype != DType::f32)
                find(fmt::format("of {} is {}, and only sums of f32 travel as {}",
                                 name_of(one.dtype), name_of(one.kind), name_of(one.compression)));
            else if (one.bytes / 4 > kMostCompressedElements)
                find(fmt::format("has {} numbers, more than travel as {}", one.bytes / 4,
                                 name_of(one.compression)));
            else
                check_memory(index, program, one, find);
            if (one.scratch >= 0 && !scratch.insert(one.scratch).second)
                find("has the memory of another one");
        }
    }

    template <typename Find>
    void check_memory(int index, const Program& program, const Collective& one, Find find) {
        const std::int64_t elements = one.bytes / size_of(one.dtype);
        const bool top_k = one.compression == Compression::top_k;
        if (top_k && one.density != plan_.parallel.density)
            find(fmt::format("sends a part of {}, not of {}", one.density, plan_.parallel.density));
        const std::int64_t need = compression_scratch_bytes(one.compression, elements, one.density);
        const auto first = int(program.prologue.size());
        if (one.scratch < 0) {
            find("has no memory of its own");
        } else {
            const Buffer& own = plan_.buffers[std::size_t(one.scratch)];
            if (own.role != BufferRole::transient || own.program != index || own.bytes != need ||
                own.first_step > first + one.start || own.last_step < first + one.wait)
                find(fmt::format(
                    "needs {} bytes of its own from its start to its end, and has buffer `{}`",
                    need, own.name));
            for (const Tensor& tensor : program.tensors)
                if (tensor.buffer == one.scratch)
                    find(fmt::format("has its own memory where `{}` is", tensor.name));
        }
        if (!top_k) {
            if (one.residual >= 0) find("has a residual");
            return;
        }
        const auto owner = std::find_if(
            plan_.parameters.begin(), plan_.parameters.end(),
            [&](const Parameter& p) { return one.residual >= 0 && p.buffer == one.residual; });
        if (owner == plan_.parameters.end() || owner->kind != ParameterKind::residual ||
            !owner->by_rank || !owner->optimizer_state || owner->trainable ||
            owner->dtype != one.dtype || owner->dims != Dims{elements} ||
            owner->initializer.kind != Initializer{}.kind) {
            find(fmt::format("has no residual of {} numbers", elements));
            return;
        }
        // The same exchange in every program, and no other.
        const auto [known, fresh] = used_.emplace(one.residual, one.name);
        if (!fresh && known->second != one.name)
            find(fmt::format("has the residual of `{}`", known->second));
        for (const Tensor& tensor : program.tensors)
            if (tensor.buffer == one.residual)
                find(fmt::format("has its residual where `{}` is", tensor.name));
    }

    const Plan& plan_;
    std::vector<std::string>& findings_;
    std::map<int, std::string> used_;  ///< exchange by buffer of its residual
};

}  // namespace

std::vector<std::string> audit_compression(const Plan& plan) {
    std::vector<std::string> findings;
    WireAudit(plan, findings).run();
    return findings;
}

}  // namespace dtnn::plan
