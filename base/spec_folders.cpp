#include "base/spec_folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/own_folder.hpp"

namespace dtnn {

std::vector<std::string> spec_folders() {
    namespace fs = std::filesystem;
    std::vector<std::string> folders;
    if (const char* variable = std::getenv("DTNN_SPEC_PATH")) {
        std::string_view rest = variable;
        while (!rest.empty()) {
            const std::size_t colon = std::min(rest.find(':'), rest.size());
            if (colon > 0) folders.emplace_back(rest.substr(0, colon));
            rest.remove_prefix(std::min(colon + 1, rest.size()));
        }
    }
    std::error_code error;
    const fs::path own = own_folder();
    if (own.empty()) return folders;
    // Of a program or a library in lib/, of one in lib/x86_64-linux-gnu/ or lib/dtnn/, of one in
    // lib/x86_64-linux-gnu/dtnn/, and of the build's bin/.
    for (const char* specs : {"../share/dtnn/specs", "../../share/dtnn/specs",
                              "../../../share/dtnn/specs", "../../../specs"})
        if (fs::path found = (own / specs).lexically_normal(); fs::is_directory(found, error))
            folders.push_back(found.string());
    return folders;
}

}  // namespace dtnn
