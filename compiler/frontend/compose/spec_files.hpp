#pragma once
/// The places of specs: folders of a kind ("models", "datasets"), which may have rooms, folders one
/// level down whose specs are found by name like their own.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::compiler {

/// The name of a spec without one, after its file: "digits" of "jobs/digits.yaml".
std::string stem_of(const std::string& file);

/// Whether the text can be a spec's name or the path of its file, and is no formula.
bool may_be_reference(std::string_view text);

/// Whether a reference is the path of a file, not a name.
bool is_path(std::string_view text);

/// The folders inside a folder, in the order of their names; none of what is no folder.
std::vector<std::filesystem::path> rooms_of(const std::filesystem::path& folder);

/// NAME.yaml in a folder: the one that lies in it, else those in its rooms, where it has any.
/// Several: the name is ambiguous.
std::vector<std::filesystem::path> files_named(const std::string& name,
                                               const std::filesystem::path& folder, bool has_rooms);

/// The names of the specs in a folder, not in its rooms.
std::vector<std::string> spec_names(const std::filesystem::path& folder);

}  // namespace dtnn::compiler
