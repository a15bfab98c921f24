#pragma once
/// JSON Schemas (draft-07, what editors' YAML servers take) of the spec language, from the same
/// field tables as the compiler's own checks.
///
/// A schema knows one file at a time: what a name refers to, shapes, and blocks' parameters are the
/// compiler's to check. Where a spec extends another one, nothing is required, as the rest may
/// stand there; where a model declares blocks or extends one that may, other names than those of
/// operators are taken for blocks. Numbers and truth values inside a model may be expressions,
/// texts with `${...}`.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::compiler {

/// Of one kind ("model"): a file of that kind.
std::string json_schema_of_kind(std::string_view kind);
/// Of all kinds, told apart by the field `kind`.
std::string json_schema_of_all_kinds();

/// What `dtnnc schema` writes: file names with their texts.
struct SchemaFile {
    std::string name, text;
};
std::vector<SchemaFile> json_schema_files();

}  // namespace dtnn::compiler
