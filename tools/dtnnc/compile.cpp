#include <fmt/format.h>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/json/json.hpp"
#include "plan/summary/summary.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

int compile(const std::string& spec, const std::string& output, const CompileCommand& command,
            const CommonOptions& options) {
    if (output == "-" && !command.emit.empty())
        throw UsageError("--emit and -o - both want standard output; give the plan a file");
    compiler::Diagnostics diagnostics;
    std::optional<plan::Plan> plan = compile_spec(spec, command, options, diagnostics);
    int exit_code = print_diagnostics(diagnostics, options);
    if (!plan) return exit_code;
    if (output == "-") {
        write_stdout(plan::to_json(*plan));
        return 0;
    }
    std::string path = output.empty() ? plan->name + ".plan.json" : output;
    write_file(path, [&](const std::function<void(std::string_view)>& sink) {
        plan::JsonChecksum checksum = plan::write_json(*plan, sink);
        return FilePatch{checksum.offset, std::move(checksum.digits)};
    });
    std::int64_t parameters = 0;
    for (const plan::Layer& layer : plan->layers)
        parameters += layer.parameters;
    fmt::print(stderr, "wrote {}: {} parameters, arena {}, {} kernels per training step\n", path,
               grouped(parameters), bytes_text(plan->memory.arena),
               plan::work_of(*plan).train_steps);
    return 0;
}

}  // namespace dtnn::tools
