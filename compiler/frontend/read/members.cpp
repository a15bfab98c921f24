#include "compiler/frontend/read/members.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dtnn::compiler {
namespace {

/// Whether a record's fields are members, and nothing has to be read by hand.
bool has_members(const FieldTable& table) {
    return std::any_of(table.begin(), table.end(),
                       [](const Field& row) { return bool(row.member); });
}

}  // namespace

void fill_members(const FieldTable& table, const FieldValues& values, SpecReference spec) {
    for (const Field& row : table) {
        if (!row.member) continue;
        const auto found = values.values.find(std::string(row.name));
        row.member.fill(spec, found == values.values.end() ? nullptr : &found->second);
    }
}

void note_places(const std::string& path, const FieldValues& read,
                 std::map<std::string, Span>& spans) {
    for (const auto& [field, span] : read.spans)
        spans[fmt::format("{}.{}", path, field)] = span;
}

FieldValues read_members(const SourceNode& node, const FieldTable& table, const std::string& path,
                         SpecReference spec, std::map<std::string, Span>& spans,
                         Diagnostics& diagnostics) {
    FieldValues values = read_record(node, table, {path, node.span}, diagnostics);
    fill_members(table, values, spec);
    note_places(path, values, spans);
    read_record_members(table, values, path + ".", spec, spans, diagnostics);
    return values;
}

void read_record_members(const FieldTable& table, const FieldValues& values,
                         const std::string& prefix, SpecReference spec,
                         std::map<std::string, Span>& spans, Diagnostics& diagnostics) {
    for (const Field& row : table) {
        const SourceNode* node = values.node(std::string(row.name));
        if (node && row.type == FieldType::record && has_members(*row.fields))
            read_members(*node, *row.fields, prefix + std::string(row.name), spec, spans,
                         diagnostics);
    }
}

}  // namespace dtnn::compiler
