#include "compiler/frontend/compose/spec_files.hpp"

#include <algorithm>

#include "base/standard_input.hpp"

namespace dtnn::compiler {

bool may_be_reference(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == '/';
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

namespace fs = std::filesystem;

std::string stem_of(const std::string& file) {
    return file == kStandardInput ? "stdin" : fs::path(file).stem().string();
}

bool is_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".yaml") ||
           text.ends_with(".yml");
}

std::vector<fs::path> rooms_of(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> rooms;
    for (const auto& item : fs::directory_iterator(folder, error))
        if (item.is_directory(error)) rooms.push_back(item.path());
    std::sort(rooms.begin(), rooms.end());
    return rooms;
}

std::vector<fs::path> files_named(const std::string& name, const fs::path& folder, bool has_rooms) {
    std::error_code error;
    const fs::path own = folder / (name + ".yaml");
    if (fs::is_regular_file(own, error)) return {own};
    std::vector<fs::path> files;
    if (!has_rooms) return files;
    for (const fs::path& room : rooms_of(folder))
        if (const fs::path file = room / (name + ".yaml"); fs::is_regular_file(file, error))
            files.push_back(file);
    return files;
}

std::vector<std::string> spec_names(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& item : fs::directory_iterator(folder, error))
        if (item.path().extension() == ".yaml") names.push_back(item.path().stem().string());
    return names;
}

}  // namespace dtnn::compiler
