// The fields of a plan and their types, as text, beside what was committed for the plan's number:
// who changes one changes the other.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "base/formats.hpp"
#include "plan/json/fields.hpp"
#include "tests/rewrite_goldens.hpp"

namespace dtnn::plan::schema_test {
namespace {

template <class T>
struct ElementOf {};
template <class T>
struct ElementOf<std::vector<T>> {
    using Type = T;
};

/// A line for each field: its way from the root, and its type.
class Schema {
  public:
    explicit Schema(std::string& lines, std::string way = "")
        : lines_(lines), way_(std::move(way)) {}

    template <class T>
    void operator()(const char* key, const T&) {
        add<T>(way_ + key, "");
    }
    void mark(const char* key, bool) { add<bool>(way_ + key, ", or left out"); }
    void known(const char* key, double) { add<double>(way_ + key, ", or left out"); }
    template <class T>
    void line(const char* key, const T& value) {
        (*this)(key, value);
    }
    template <class T>
    void lines(const char* key, const std::vector<T>& records) {
        (*this)(key, records);
    }

  private:
    template <class T>
    void add(const std::string& way, const std::string& more) {
        if constexpr (requires { typename ElementOf<T>::Type; }) {
            add<typename ElementOf<T>::Type>(way + "[]", more);
        } else if constexpr (requires(Schema & v, T & r) { visit_fields(v, r); }) {
            Schema inside(lines_, way + ".");
            const T record{};
            visit_fields(inside, record);
        } else {
            lines_ += fmt::format("{}: {}{}\n", way, type_of<T>(), more);
        }
    }

    template <class T>
    static std::string type_of() {
        if constexpr (std::is_same_v<T, bool>)
            return "flag";
        else if constexpr (std::is_enum_v<T>)
            return fmt::format("{}", fmt::join(names_of(T{}), " | "));
        else if constexpr (std::is_integral_v<T>)
            return std::is_signed_v<T> ? "integer" : "natural number";
        else if constexpr (std::is_floating_point_v<T>)
            return "number";
        else if constexpr (std::is_same_v<T, std::string>)
            return "text";
        else if constexpr (std::is_same_v<T, Place>)
            return "place";
        else
            return "values by name";
    }

    std::string& lines_;
    std::string way_;
};

TEST_CASE("the fields of a plan are those of its number") {
    std::string found;
    Schema schema(found);
    const Plan plan{};
    visit_fields(schema, plan);
    const std::string path = fmt::format("tests/formats/plan_{}.txt", formats::kPlan.number);
    std::stringstream committed;
    committed << std::ifstream(path).rdbuf();
    if (committed.str().empty() && rewrites_goldens()) {
        std::ofstream(path) << found;
        return;
    }
    CHECK_MESSAGE(committed.str() == found,
                  path << " has other fields: raise formats::kPlan, and write the fields of the "
                          "new number with DTNN_REWRITE_GOLDENS=1 (tests/formats/README.md)");
}

}  // namespace
}  // namespace dtnn::plan::schema_test
