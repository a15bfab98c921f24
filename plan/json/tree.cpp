#include <fmt/format.h>

#include "base/json.hpp"
#include "plan/json/reading.hpp"

namespace dtnn::plan {

namespace {

const Json& json_of(const void* value) {
    return *static_cast<const Json*>(value);
}

}  // namespace

std::string Where::text() const {
    const std::string above = parent ? parent->text() : std::string();
    if (!key) return fmt::format("{}[{}]", above, index);
    return above.empty() ? key : above + "." + key;
}

void Where::refuse(const std::string& what) const {
    throw Refused{text() + ": " + what};
}

const char* JsonNode::type_name() const {
    return json_of(value_).type_name();
}
bool JsonNode::is_text() const {
    return json_of(value_).is_string();
}
bool JsonNode::is_flag() const {
    return json_of(value_).is_boolean();
}
bool JsonNode::is_integer() const {
    return json_of(value_).is_number_integer();
}
bool JsonNode::is_natural() const {
    return json_of(value_).is_number_unsigned();
}
bool JsonNode::is_real() const {
    return json_of(value_).is_number_float();
}
bool JsonNode::is_list() const {
    return json_of(value_).is_array();
}
bool JsonNode::is_record() const {
    return json_of(value_).is_object();
}

const std::string& JsonNode::text() const {
    return json_of(value_).get_ref<const std::string&>();
}
bool JsonNode::flag() const {
    return json_of(value_).get<bool>();
}
std::int64_t JsonNode::integer() const {
    return json_of(value_).get<std::int64_t>();
}
std::uint64_t JsonNode::natural() const {
    return json_of(value_).get<std::uint64_t>();
}
double JsonNode::real() const {
    return json_of(value_).get<double>();
}

std::size_t JsonNode::size() const {
    return json_of(value_).size();
}
JsonNode JsonNode::at(std::size_t index) const {
    return JsonNode(&json_of(value_)[index]);
}
std::optional<JsonNode> JsonNode::find(const char* key) const {
    const Json& json = json_of(value_);
    const auto found = json.find(key);
    if (found == json.end()) return std::nullopt;
    return JsonNode(&*found);
}
void JsonNode::each_member(const std::function<void(const std::string&, JsonNode)>& visit) const {
    for (const auto& [name, value] : json_of(value_).get_ref<const Json::object_t&>())
        visit(name, JsonNode(&value));
}

struct JsonTree::Value {
    Json json;
};

JsonTree::JsonTree(const std::string& text) : value_(std::make_unique<Value>()) {
    try {
        value_->json = parse_json(text);
    } catch (const Json::exception& failure) {
        throw Refused{std::string("not JSON: ") + failure.what()};
    }
}

JsonTree::~JsonTree() = default;

JsonNode JsonTree::root() const {
    return JsonNode(&value_->json);
}

}  // namespace dtnn::plan
