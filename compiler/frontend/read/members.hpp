#pragma once
/// What a table's rows fill of a spec's struct (compiler/support/field_member.hpp).

#include <map>
#include <string>

#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {

/// Fills the members that the rows name; what is absent or unsound is zero or empty, of a closed
/// set the default.
void fill_members(const FieldTable& table, const FieldValues& values, SpecReference spec);

/// Notes where a record's fields were written: "PATH.FIELD".
void note_places(const std::string& path, const FieldValues& read,
                 std::map<std::string, Span>& spans);

/// Reads `node`, which the field of that path has, by the field's own table, fills the members and
/// notes where its fields were written: "gpus.local.latency". Records inside it, too.
FieldValues read_members(const SourceNode& node, const FieldTable& table, const std::string& path,
                         SpecReference spec, std::map<std::string, Span>& spans,
                         Diagnostics& diagnostics);

/// The records among the rows that were given, each as read_members reads it.
void read_record_members(const FieldTable& table, const FieldValues& values,
                         const std::string& prefix, SpecReference spec,
                         std::map<std::string, Span>& spans, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
