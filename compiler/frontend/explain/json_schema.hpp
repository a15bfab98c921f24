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

/// One schema with all the definitions that it needs: of one kind ("model"), or, with `kind` empty,
/// of all kinds, told apart by the field `kind`.
std::string json_schema(std::string_view kind);

/// A file that `dtnnc schema` writes.
struct SchemaFile {
    std::string name, text;
};
/// The files that belong in one folder: the definitions, and the schemas that refer to them by the
/// name of that file: of one kind, or, with `kind` empty, of each kind and of all.
std::vector<SchemaFile> json_schema_files(std::string_view kind);

}  // namespace dtnn::compiler
