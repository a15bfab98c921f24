#pragma once
/// The steps of reading a plan: text to a tree (tree.cpp), the tree to records (records.cpp), and
/// whether the numbers in these are in their ranges (ranges.cpp). Internal to the JSON form. Each
/// step throws Refused, which read_plan() catches.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct Refused {
    std::string text;
};

/// The way from the root to a value, for messages; a chain on the stack, so that it costs nothing
/// while all is well.
struct Where {
    const Where* parent = nullptr;
    const char* key = nullptr;  ///< null: `index` counts
    std::size_t index = 0;

    std::string text() const;
    [[noreturn]] void refuse(const std::string& what) const;
};

/// A value of a JSON text. It hides the library that parses, whose headers and templates cost
/// seconds in every source that includes them. Lives as long as its tree.
class JsonNode {
  public:
    const char* type_name() const;
    bool is_text() const;
    bool is_flag() const;
    bool is_integer() const;
    bool is_natural() const;  ///< an integer that was written without a sign
    bool is_real() const;
    bool is_list() const;
    bool is_record() const;

    // Each of a value of that type.
    const std::string& text() const;
    bool flag() const;
    std::int64_t integer() const;
    std::uint64_t natural() const;
    double real() const;

    std::size_t size() const;  ///< of a list, a record
    JsonNode at(std::size_t index) const;
    std::optional<JsonNode> find(const char* key) const;
    /// The members of a record, as they stand.
    void each_member(const std::function<void(const std::string&, JsonNode)>& visit) const;

  private:
    friend class JsonTree;
    explicit JsonNode(const void* value) : value_(value) {}
    const void* value_;
};

class JsonTree {
  public:
    explicit JsonTree(const std::string& text);
    JsonTree(const JsonTree&) = delete;
    JsonTree& operator=(const JsonTree&) = delete;
    ~JsonTree();
    JsonNode root() const;

  private:
    struct Value;
    std::unique_ptr<Value> value_;
};

/// All fields are there, of their types, and no others.
Plan plan_of(JsonNode root);

/// Checks what everything after reading relies on: indices are inside their lists, sizes and counts
/// in bounds that no sum of them leaves, orders permutations.
void check_ranges(const Plan& plan);

}  // namespace dtnn::plan
