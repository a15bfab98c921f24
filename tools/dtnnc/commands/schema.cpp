#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/text.hpp"
#include "compiler/frontend/explain/json_schema.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

namespace {

int schema(const std::string& output, const std::string& kind) {
    if (output == "-" || output.empty()) {
        write_stdout(compiler::json_schema(kind));
        return 0;
    }
    std::error_code error;
    std::filesystem::create_directories(output, error);
    if (error)
        throw OutputError(fmt::format("cannot make the folder {}: {}", output, error.message()));
    const std::vector<compiler::SchemaFile> files = compiler::json_schema_files(kind);
    for (const compiler::SchemaFile& file : files)
        write_file((std::filesystem::path(output) / file.name).string(), file.text);
    tell_written(output, count_text(int(files.size()), "file"));
    return 0;
}

struct SchemaArguments {
    std::string output, kind;
};

std::function<int()> declare_schema(OptionList& list) {
    auto given = std::make_shared<SchemaArguments>();
    list.text("-o,--output", given->output,
              "Folder for the definitions and a file of each kind and of all, which refer to them; "
              "- or nothing for one schema with its definitions on standard output",
              {.value = "FOLDER"});
    list.text("--kind", given->kind, "Of one kind: job, model, dataset, training or machine",
              {.choices = {"job", "model", "dataset", "training", "machine"}});
    return [given] { return schema(given->output, given->kind); };
}

const RegisteredCommand kSchemaCommand(
    {.name = "schema",
     .doc = "Writes JSON Schemas of the specs, for editors",
     .place = 140,
     .declare = declare_schema,
     .purpose = Purpose::learn,
     .exits = {{ExitCode::failed}},
     .examples = {{"dtnnc schema -o schema",
                   "a file for each kind of spec, one of all, and one of what they are made of"},
                  {"dtnnc schema --kind job", "of jobs alone, on standard output"}}});

}  // namespace

}  // namespace dtnn::tools
