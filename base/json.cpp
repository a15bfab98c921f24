#include "base/json.hpp"

namespace dtnn {

Json parse_json(std::string_view text) {
    return Json::parse(text);
}

Json parse_json_or_discard(std::string_view text) {
    return Json::parse(text, nullptr, false);
}

std::string write_json(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dtnn
