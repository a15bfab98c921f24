#include <fmt/format.h>

#include <filesystem>

#include "compiler/frontend/explain/json_schema.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

int schema(const std::string& output, const std::string& kind) {
    if (output == "-" || output.empty()) {
        write_stdout(kind.empty() ? compiler::json_schema_of_all_kinds()
                                  : compiler::json_schema_of_kind(kind));
        return 0;
    }
    std::error_code error;
    std::filesystem::create_directories(output, error);
    if (error)
        throw OutputError(fmt::format("cannot make the folder {}: {}", output, error.message()));
    for (const compiler::SchemaFile& file : compiler::json_schema_files())
        if (kind.empty() || file.name == kind + ".schema.json")
            write_file((std::filesystem::path(output) / file.name).string(), file.text);
    return 0;
}

}  // namespace dtnn::tools
