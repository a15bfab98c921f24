#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/utf8.hpp"

namespace dtnn {
namespace {

using Members = std::vector<Json::object_t::value_type>;

[[noreturn]] void refuse_json(const std::string& fact) {
    throw Json::other_error::create(600, fact, static_cast<const Json*>(nullptr));
}

/// Two members of one name: readers differ in which of them they take.
void refuse_repeated(const Members& members) {
    constexpr std::size_t kFew = 16;
    const auto refuse = [](std::string_view name) {
        refuse_json(fmt::format("the name \"{}\" comes twice", name));
    };
    if (members.size() <= kFew) {
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (members[i].first == members[j].first) refuse(members[i].first);
        return;
    }
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const auto& [name, value] : members)
        names.emplace_back(name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) refuse(*twice);
}

/// Makes the tree of what the library's parser calls out. The library's own looks through all
/// members of an object for every new one.
class TreeMaker {
  public:
    Json take() { return std::move(root_); }

    // Called by the library, by these names.
    bool null() { return put(nullptr); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(Json::number_integer_t value) { return put(value); }
    bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
    bool number_float(Json::number_float_t value, const std::string&) { return put(value); }
    bool string(std::string& value) { return put(std::move(value)); }
    static bool binary(Json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(Json::object()); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool key(std::string& name) {
        name_ = std::move(name);
        return true;
    }
    bool end_object() {
        refuse_repeated(static_cast<const Members&>(open_.back()->get_ref<Json::object_t&>()));
        open_.pop_back();
        return true;
    }
    bool end_array() {
        open_.pop_back();
        return true;
    }
    template <class Error>
    static bool parse_error(std::size_t, const std::string&, const Error& error) {
        throw error;
    }

  private:
    /// The place of the value from now on; it stays there while it is open, because only the
    /// innermost open list or object grows.
    Json* place(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& into = *open_.back();
        if (into.is_array()) {
            into.push_back(std::move(value));
            return &into.back();
        }
        add_member(into, std::move(name_), std::move(value));
        return &static_cast<Members&>(into.get_ref<Json::object_t&>()).back().second;
    }
    bool put(Json value) {
        place(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (open_.size() == kMostJsonDepth)
            refuse_json(fmt::format("it is nested more than {} deep", kMostJsonDepth));
        open_.push_back(place(std::move(value)));
        return true;
    }

    Json root_;
    std::vector<Json*> open_;
    std::string name_;
};

}  // namespace

Json parse_json(std::string_view text) {
    TreeMaker maker;
    Json::sax_parse(text, &maker);
    return maker.take();
}

Json parse_json_or_discard(std::string_view text) {
    try {
        return parse_json(text);
    } catch (const Json::exception&) {
        return Json(Json::value_t::discarded);
    }
}

void add_member(Json& object, std::string name, Json value) {
    static_cast<Members&>(object.get_ref<Json::object_t&>())
        .emplace_back(std::move(name), std::move(value));
}

std::int64_t whole_number_of(const Json& value, std::int64_t least, std::int64_t most) {
    const bool fits =
        value.is_number_unsigned()
            ? value.get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<std::int64_t>::max())
            : value.is_number_integer();
    if (!fits)
        refuse_json(fmt::format("an integer is wanted, not {}",
                                value.is_primitive() ? write_json(value) : value.type_name()));
    const auto number = value.get<std::int64_t>();
    if (number < least || number > most)
        refuse_json(fmt::format("{} is not from {} to {}", number, least, most));
    return number;
}

std::string write_json(const Json& value, int indent) {
    std::string text = value.dump(indent, ' ', false, Json::error_handler_t::replace);
    const auto may_be_unseen = [](char c) { return static_cast<unsigned char>(c) >= 0x7F; };
    if (std::none_of(text.begin(), text.end(), may_be_unseen)) return text;
    // Such characters stand in texts alone.
    std::string escaped;
    escaped.reserve(text.size());
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = std::max<std::size_t>(1, utf8_length(rest));
        if (shown_length(rest, "\n") > 0)
            escaped += rest.substr(0, length);
        else
            escaped += fmt::format("\\u{:04x}", code_point(rest, length));
        rest.remove_prefix(length);
    }
    return escaped;
}

}  // namespace dtnn
