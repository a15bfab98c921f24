#include <limits>
#include <span>

#include "plan/json/fields.hpp"
#include "plan/json/reading.hpp"

// A value is read by one of a few plain functions, and only the walk over the fields is a template:
// there are some two hundred fields, and what is instantiated for each of them is paid for by each
// build.

namespace dtnn::plan {

namespace {

[[noreturn]] void refuse_type(JsonNode json, const Where& where, const char* wanted) {
    where.refuse(std::string(json.type_name()) + " where " + wanted + " must stand");
}

void read(JsonNode json, std::string& value, const Where& where) {
    if (!json.is_text()) refuse_type(json, where, "a text");
    value = json.text();
}

void read(JsonNode json, bool& value, const Where& where) {
    if (!json.is_flag()) refuse_type(json, where, "true or false");
    value = json.flag();
}

void read(JsonNode json, std::int64_t& value, const Where& where) {
    if (!json.is_integer()) refuse_type(json, where, "an integer");
    if (json.is_natural() &&
        json.natural() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        where.refuse(std::to_string(json.natural()) + " is too large");
    value = json.integer();
}

void read(JsonNode json, int& value, const Where& where) {
    std::int64_t wide = 0;
    read(json, wide, where);
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
        where.refuse(std::to_string(wide) + " is too large");
    value = int(wide);
}

void read(JsonNode json, std::uint64_t& value, const Where& where) {
    if (!json.is_natural()) refuse_type(json, where, "an integer of at least 0");
    value = json.natural();
}

void read(JsonNode json, double& value, const Where& where) {
    if (json.is_real()) {
        value = json.real();
        return;
    }
    const auto real =
        json.is_record() && json.size() == 1 ? json.find("real") : std::optional<JsonNode>();
    if (!real) refuse_type(json, where, "a real number");
    const std::string word = real->is_text() ? real->text() : std::string();
    if (word == "inf")
        value = std::numeric_limits<double>::infinity();
    else if (word == "-inf")
        value = -std::numeric_limits<double>::infinity();
    else if (word == "nan")
        value = std::numeric_limits<double>::quiet_NaN();
    else
        where.refuse("a real number that is none of inf, -inf, nan");
}

void read(JsonNode json, Place& place, const Where& where) {
    std::string text;
    read(json, text, where);
    if (text.empty()) return;
    auto number_before = [&](std::size_t& end) {
        std::size_t colon = end == 0 ? std::string::npos : text.rfind(':', end - 1);
        if (colon == std::string::npos || end - colon - 1 < 1 || end - colon - 1 > 9)
            where.refuse("a place that is not FILE:LINE:COLUMN");
        int number = 0;
        for (std::size_t i = colon + 1; i < end; ++i) {
            if (text[i] < '0' || text[i] > '9')
                where.refuse("a place that is not FILE:LINE:COLUMN");
            number = number * 10 + (text[i] - '0');
        }
        end = colon;
        return number;
    };
    std::size_t end = text.size();
    place.column = number_before(end);
    place.line = number_before(end);
    place.file = text.substr(0, end);
}

/// Which of the words stands there.
std::size_t read_word(JsonNode json, std::span<const char* const> words, const Where& where) {
    std::string wanted;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (json.is_text() && json.text() == words[i]) return i;
        wanted += (wanted.empty() ? "" : ", ") + std::string(words[i]);
    }
    where.refuse("none of " + wanted);
}

template <NamedEnum Enum>
void read(JsonNode json, Enum& value, const Where& where) {
    value = static_cast<Enum>(read_word(json, names_of(value), where));
}

/// A record, by its fields.
template <class Record>
void read(JsonNode json, Record& record, const Where& where);
void read(JsonNode json, AttributeValue& value, const Where& where);
void read(JsonNode json, Attributes& attributes, const Where& where);

template <class T>
void read(JsonNode json, std::vector<T>& values, const Where& where) {
    if (!json.is_list()) refuse_type(json, where, "a list");
    values.resize(json.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        read(json.at(i), values[i], Where{&where, nullptr, i});
}

class Reader {
  public:
    Reader(JsonNode json, const Where& where) : json_(json), where_(where) {
        if (!json.is_record()) refuse_type(json, where, "a record");
    }

    template <class T>
    void operator()(const char* key, T& value) {
        read(field(key), value, place(key));
    }
    void mark(const char* key, bool& value) {
        value = json_.find(key).has_value();
        if (!value) return;
        (*this)(key, value);
        if (!value) where_.refuse(std::string("`") + key + "` is false");
    }
    void known(const char* key, double& value) {
        value = 0;
        if (!json_.find(key)) return;
        (*this)(key, value);
        if (value == 0) where_.refuse(std::string("`") + key + "` is 0");
    }
    template <class T>
    void line(const char* key, T& value) {
        (*this)(key, value);
    }
    template <class T>
    void lines(const char* key, T& value) {
        (*this)(key, value);
    }

    /// After all fields: nothing else may stand in the record.
    void finish() const {
        if (json_.size() != fields_)
            where_.refuse(std::to_string(json_.size()) + " fields where " +
                          std::to_string(fields_) + " are known");
    }

  private:
    JsonNode field(const char* key) {
        const auto found = json_.find(key);
        if (!found) where_.refuse(std::string("the field `") + key + "` is missing");
        ++fields_;
        return *found;
    }
    Where place(const char* key) const {
        return where_.key && !*where_.key ? Where{nullptr, key} : Where{&where_, key};
    }

    JsonNode json_;
    const Where& where_;
    std::size_t fields_ = 0;
};

template <class Record>
void read(JsonNode json, Record& record, const Where& where) {
    Reader reader(json, where);
    visit_fields(reader, record);
    reader.finish();
}

void read(JsonNode json, AttributeValue& value, const Where& where) {
    if (json.is_flag())
        value = json.flag();
    else if (json.is_text())
        value = json.text();
    else if (json.is_integer())
        read(json, value.emplace<std::int64_t>(), where);
    else if (json.is_list() && json.size() > 0 && !json.at(0).is_integer())
        read(json, value.emplace<std::vector<double>>(), where);
    else if (json.is_list())
        read(json, value.emplace<std::vector<std::int64_t>>(), where);
    else
        read(json, value.emplace<double>(), where);
}

void read(JsonNode json, Attributes& attributes, const Where& where) {
    if (!json.is_record()) refuse_type(json, where, "attributes");
    json.each_member([&](const std::string& name, JsonNode value) {
        read(value, attributes[name], Where{&where, name.c_str()});
    });
}

}  // namespace

Plan plan_of(JsonNode root) {
    Plan plan;
    read(root, plan, Where{nullptr, ""});
    return plan;
}

}  // namespace dtnn::plan
