#pragma once
/// The names of a list of values, found in constant time. The table holds no text of its own, so it
/// neither copies names nor follows them when the list grows: every lookup compares with the name
/// that the value has now.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dtnn::compiler {

struct Value;

class NameTable {
  public:
    NameTable() = default;
    // A copy is a table of another list: it starts empty and is filled when it is first asked.
    NameTable(const NameTable&) {}
    NameTable& operator=(const NameTable& other) {
        if (this != &other) *this = NameTable();
        return *this;
    }
    NameTable(NameTable&&) = default;
    NameTable& operator=(NameTable&&) = default;
    ~NameTable() = default;

    /// Takes in the values that joined the list since the last call. False when one of them has the
    /// name of an earlier value; `twice` (where given) collects all of those.
    bool update(const std::vector<Value>& values, std::vector<std::size_t>* twice = nullptr);
    bool contains(const std::vector<Value>& values, std::string_view name) const;
    /// Takes in the last value of the list, which has just joined it. False, and nothing is
    /// changed, when an earlier value has its name.
    bool add_last(const std::vector<Value>& values);
    /// The value has another name than when it joined.
    void renamed(const std::vector<Value>& values, std::size_t index);
    /// `wanted` when no value has that name, otherwise `wanted` with the first number that is free:
    /// "x.1", "x.2". Constant time however often the same name is wanted. With `taken` the number
    /// is not given again, even when the name falls free.
    std::string unique(const std::vector<Value>& values, const std::string& wanted,
                       bool taken = false);

    /// Makes room for so many names.
    void grow(std::size_t values);

  private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t index = kFree;
    };
    static constexpr std::uint32_t kFree = ~std::uint32_t{0};

    bool insert(const std::vector<Value>& values, std::size_t index);
    /// Where there is room, and the hash is known.
    bool insert(const std::vector<Value>& values, std::size_t index, std::uint32_t hash);

    std::vector<Slot> slots_;  // open addressing, a power of two of them, at most half full
    std::size_t used_ = 0;     // of slots_
    std::size_t known_ = 0;    // the first `known_` values are in the table
    std::unordered_map<std::string, int> next_;  // the number to try next after a taken name
};

}  // namespace dtnn::compiler
