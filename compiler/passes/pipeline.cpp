#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <iterator>

#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

void check_sound(const Graph& graph, NodeKinds& kinds) {
    std::vector<std::string> problems = verify(graph);
    if (problems.empty()) problems = check_types(graph, kinds);
    DTNN_CHECK(problems.empty(), "{}", fmt::join(problems, "\n  "));
}

}  // namespace

const std::vector<PassInfo>& all_passes() {
    using enum plan::ProgramKind;
    static const std::vector<PassInfo> passes = {
#define DTNN_PASS(name, may_be_disabled, programs, doc) \
    {#name, doc, name, ProgramSet programs, may_be_disabled},
#include "compiler/passes/passes.def"
#undef DTNN_PASS
    };
    return passes;
}

const PassInfo* find_pass(std::string_view name) {
    for (const PassInfo& pass : all_passes())
        if (pass.name == name) return &pass;
    return nullptr;
}

std::string ProgramSet::text() const {
    std::string text;
    for (std::size_t i = 0; i < names_of(plan::ProgramKind()).size(); ++i)
        if (const auto kind = static_cast<plan::ProgramKind>(i); contains(kind))
            text += (text.empty() ? "" : " ") + std::string(name_of(kind));
    return text;
}

Graph run_pipeline(const Graph& forward, PassContext& context, const PipelineOptions& options) {
    NodeKinds kinds;
    return run_pipeline(forward, context, options, kinds);
}

Graph run_pipeline(const Graph& forward, PassContext& context, const PipelineOptions& options,
                   NodeKinds& kinds) {
    using Clock = std::chrono::steady_clock;
    Graph graph = forward;
    std::string_view running = "none; the forward graph";
    try {
        kinds.share_attributes(graph);
        check_sound(graph, kinds);
        for (const PassInfo& pass : all_passes()) {
            if (!pass.programs.contains(context.program)) continue;
            if (pass.optional && options.disabled.contains(std::string(pass.name))) continue;
            running = pass.name;
            const auto begin = Clock::now();
            std::optional<Graph> result = pass.rewrite(graph, context);
            const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
            if (result) {
                graph = std::move(*result);
                kinds.share_attributes(graph);
                check_sound(graph, kinds);
            }
            if (options.observe) options.observe(pass.name, graph, time.count());
        }
    } catch (const InternalError& error) {
        throw InternalError(fmt::format("{}\n  in pass {}, program {}", error.what(), running,
                                        plan::name_of(context.program)));
    }
    return graph;
}

}  // namespace dtnn::compiler
