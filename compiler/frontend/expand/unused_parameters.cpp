#include "compiler/frontend/expand/unused_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "compiler/frontend/formula/environment.hpp"
#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {
namespace {

using NameSet = std::set<std::string, std::less<>>;

void add_names_in(const SourceNode& tree, NameSet& names) {
    for (std::string& name : names_in(tree))
        names.insert(std::move(name));
}

const SourceNode* map_at(const SourceNode& map, std::string_view key) {
    const SourceEntry* entry = map.find(key);
    return entry && entry->value.is_map() ? &entry->value : nullptr;
}

/// `parameters` is the map that it is declared in.
void refuse(const SourceEntry& parameter, const std::string& whose, const SourceNode& parameters,
            Diagnostics& diagnostics) {
    std::optional<std::string> near;
    if (worth_suggesting(diagnostics, parameters.entries.size())) {
        std::vector<std::string> others = keys_of(parameters);
        std::erase(others, parameter.key);
        near = did_you_mean(parameter.key, others);
    }
    diagnostics.error(
        Code::unused_parameter, parameter.key_span,
        fmt::format("no expression reads the parameter `{}` of {}, so that its value "
                    "changes nothing",
                    parameter.key, whose),
        near ? fmt::format("did you mean `{}`?", *near)
             : fmt::format("write \"${{{}}}\" where it counts, or leave it out", parameter.key));
}

bool is_setting(const Span& span) {
    return span.place.file.starts_with("--set ");
}

bool has_setting(const SourceNode& tree) {
    return is_setting(tree.span) ||
           std::any_of(tree.items.begin(), tree.items.end(), has_setting) ||
           std::any_of(tree.entries.begin(), tree.entries.end(),
                       [](const SourceEntry& entry) { return has_setting(entry.value); });
}

/// What a block reads of the model: what its own parameters do not hide. Reports those of its own
/// that nothing in it reads.
void check_block(const SourceEntry& block, NameSet& names, Diagnostics& diagnostics) {
    NameSet read;
    add_names_in(block.value, read);
    if (const SourceNode* parameters = map_at(block.value, "parameters"))
        for (const SourceEntry& parameter : parameters->entries)
            if (read.erase(parameter.key) == 0)
                refuse(parameter, fmt::format("the block {}", block.key), *parameters, diagnostics);
    names.merge(read);
}

}  // namespace

void check_unused_parameters(const SourceNode& model, Diagnostics& diagnostics) {
    NameSet names;
    int youngest = std::numeric_limits<int>::max();  // of what may read parameters
    for (const SourceEntry& field : model.entries) {
        const bool reads = field.key == "layers" || field.key == "blocks" ||
                           field.key == "defaults" || field.key == "input" || field.key == "inputs";
        // A value that a setting replaces may have read one.
        if (reads) youngest = std::min(youngest, has_setting(field.value) ? -1 : field.generation);
        if (field.key == "blocks" && field.value.is_map())
            for (const SourceEntry& block : field.value.entries)
                check_block(block, names, diagnostics);
        else
            add_names_in(field.value, names);
    }
    const SourceNode* parameters = map_at(model, "parameters");
    if (!parameters) return;
    for (const SourceEntry& parameter : parameters->entries) {
        const bool is_left = parameter.generation > youngest && !is_setting(parameter.key_span);
        // One that nobody has written is the dataset's.
        const bool is_made = parameter.key_span.place.file.empty();
        if (names.contains(parameter.key) || is_left || is_made) continue;
        refuse(parameter, "the model", *parameters, diagnostics);
    }
}

}  // namespace dtnn::compiler
