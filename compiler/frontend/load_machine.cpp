#include "compiler/frontend/load_machine.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/read/validation.hpp"

namespace dtnn::compiler {

std::optional<MachineSpec> load_machine(const std::string& path, const LoadOptions& options,
                                        Diagnostics& diagnostics) {
    Composer composer(options, diagnostics);
    auto loaded = composer.load_root(path, {"machine"});
    if (!loaded) return std::nullopt;
    if (loaded->kind->kind != SpecKind::machine) {
        diagnostics.error(Code::wrong_kind, Span{{loaded->file, 1, 1}, 1},
                          fmt::format("this is a {}, and a machine is wanted", loaded->kind->name),
                          "`dtnnc calibrate -o machine.yaml` writes one of this machine");
        return std::nullopt;
    }
    MachineSpec spec = read_machine(
        loaded->tree, std::filesystem::path(loaded->file).stem().string(), diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    return spec;
}

}  // namespace dtnn::compiler
