#include "base/cache_folder.hpp"

#include <cstdlib>

namespace dtnn {

std::string cache_folder() {
    if (const char* named = std::getenv("DTNN_CACHE_DIR")) return named;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return std::string(cache) + "/dtnn";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return std::string(home) + "/.cache/dtnn";
    return "";
}

}  // namespace dtnn
