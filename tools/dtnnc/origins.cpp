#include "tools/dtnnc/origins.hpp"

#include <fmt/format.h>

#include "base/json_text.hpp"

namespace dtnn::tools {

std::string origin_name(const plan::ResolvedValue& value) {
    switch (value.origin) {
        case plan::OriginKind::file:
            return "file";
        case plan::OriginKind::command_line:
            return "command_line";
        case plan::OriginKind::data:
            return "data";
        case plan::OriginKind::fallback:
            break;
    }
    return "default";
}

std::string place_json(const plan::ResolvedValue& value) {
    if (value.origin == plan::OriginKind::fallback || value.origin == plan::OriginKind::data)
        return "null";
    if (value.origin == plan::OriginKind::command_line)
        return fmt::format("{{\"argument\": {}}}", json_text(value.place.file));
    return fmt::format("{{\"file\": {}, \"line\": {}, \"column\": {}}}",
                       json_text(value.place.file), value.place.line, value.place.column);
}

}  // namespace dtnn::tools
