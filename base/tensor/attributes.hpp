#pragma once
/// Attributes of operators: values by name.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"

namespace dtnn {

using AttributeValue = std::variant<bool, std::int64_t, double, std::string,
                                    std::vector<std::int64_t>, std::vector<double>>;

/// A map from names to values, in the order of names, that is used like std::map. Copies share one
/// map until one of them is written: a compilation copies every node many times and changes the
/// attributes of few, and what a plan holds of a layer, its nodes and its steps are equal maps.
/// Iterators and references into it are constant and end with the next writing; operator[] returns
/// the only reference for writing.
class Attributes {
  public:
    using Map = std::map<std::string, AttributeValue>;
    using value_type = Map::value_type;
    using const_iterator = Map::const_iterator;
    using iterator = const_iterator;

    Attributes() = default;
    Attributes(Map map) : map_(map.empty() ? nullptr : std::make_shared<Map>(std::move(map))) {}
    Attributes(std::initializer_list<value_type> values) : Attributes(Map(values)) {}

    const Map& map() const {
        static const Map none;
        return map_ ? *map_ : none;
    }
    operator const Map&() const { return map(); }

    const_iterator begin() const { return map().begin(); }
    const_iterator end() const { return map().end(); }
    const_iterator find(const std::string& name) const { return map().find(name); }
    bool contains(const std::string& name) const { return map().contains(name); }
    std::size_t count(const std::string& name) const { return map().count(name); }
    const AttributeValue& at(const std::string& name) const { return map().at(name); }
    bool empty() const { return map().empty(); }
    std::size_t size() const { return map().size(); }

    AttributeValue& operator[](const std::string& name) { return own()[name]; }
    template <class... Args>
    std::pair<const_iterator, bool> emplace(Args&&... args) {
        return own().emplace(std::forward<Args>(args)...);
    }
    template <class... Args>
    std::pair<const_iterator, bool> try_emplace(const std::string& name, Args&&... args) {
        return own().try_emplace(name, std::forward<Args>(args)...);
    }
    std::pair<const_iterator, bool> insert(value_type value) {
        return own().insert(std::move(value));
    }
    template <class Iterator>
    void insert(Iterator first, Iterator last) {
        own().insert(first, last);
    }
    template <class Value>
    std::pair<const_iterator, bool> insert_or_assign(const std::string& name, Value&& value) {
        return own().insert_or_assign(name, std::forward<Value>(value));
    }
    std::size_t erase(const std::string& name) { return contains(name) ? own().erase(name) : 0; }
    Map::node_type extract(const std::string& name) {
        return contains(name) ? own().extract(name) : Map::node_type();
    }
    void clear() { map_.reset(); }

    /// The same map, not only an equal one.
    bool shares(const Attributes& other) const { return map_ == other.map_; }
    bool operator==(const Attributes& other) const {
        return map_ == other.map_ || map() == other.map();
    }

  private:
    Map& own() {
        if (!map_)
            map_ = std::make_shared<Map>();
        else if (map_.use_count() > 1)
            map_ = std::make_shared<Map>(*map_);
        return *map_;
    }

    std::shared_ptr<Map> map_;  ///< null: empty
};

/// The value of a closed set that an attribute names; nothing where there is no such attribute, or
/// its text is no word of the set.
template <NamedEnum Enum>
std::optional<Enum> choice(const Attributes& attributes, const std::string& name) {
    const auto found = attributes.find(name);
    const auto* word =
        found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    Enum value = {};
    if (word == nullptr || !parse_name(*word, value)) return std::nullopt;
    return value;
}
/// Whether it names this one.
template <NamedEnum Enum>
bool says(const Attributes& attributes, const std::string& name, Enum value) {
    return choice<Enum>(attributes, name) == value;
}

}  // namespace dtnn
