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
        write_stdout(kind.empty() ? compiler::json_schema_of_all_kinds()
                                  : compiler::json_schema_of_kind(kind));
        return 0;
    }
    std::error_code error;
    std::filesystem::create_directories(output, error);
    if (error)
        throw OutputError(fmt::format("cannot make the folder {}: {}", output, error.message()));
    int files = 0;
    for (const compiler::SchemaFile& file : compiler::json_schema_files()) {
        if (!kind.empty() && file.name != kind + ".schema.json") continue;
        write_file((std::filesystem::path(output) / file.name).string(), file.text);
        ++files;
    }
    tell_written(output, count_text(files, "file"));
    return 0;
}

struct SchemaArguments {
    std::string output, kind;
};

std::function<int()> declare_schema(OptionList& list) {
    auto given = std::make_shared<SchemaArguments>();
    list.text("-o,--output", given->output,
              "Folder for a file of each kind and one of all; - or nothing for the one of all on "
              "standard output",
              {.value = "FOLDER"});
    list.text("--kind", given->kind, "Of one kind: job, model, dataset, training or machine",
              {.choices = {"job", "model", "dataset", "training", "machine"}});
    return [given] { return schema(given->output, given->kind); };
}

const RegisteredCommand kSchemaCommand({.name = "schema",
                                        .doc = "Writes JSON Schemas of the specs, for editors",
                                        .place = 140,
                                        .declare = declare_schema,
                                        .purpose = Purpose::learn,
                                        .exits = {{ExitCode::failed}},
                                        .examples = {{"dtnnc schema -o schema",
                                                      "a file for each kind of spec, and one of "
                                                      "all"},
                                                     {"dtnnc schema --kind job",
                                                      "of jobs alone, on standard output"}}});

}  // namespace

}  // namespace dtnn::tools
