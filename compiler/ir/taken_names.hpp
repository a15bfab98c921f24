#pragma once
/// Which names of its pool the values of a graph have.

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/pool.hpp"

namespace dtnn::compiler {

struct Value;

class TakenNames {
  public:
    TakenNames() = default;
    // A copy is of another list: it starts empty and is filled when it is first asked.
    TakenNames(const TakenNames&) {}
    TakenNames& operator=(const TakenNames& other) {
        if (this != &other) *this = TakenNames();
        return *this;
    }
    TakenNames(TakenNames&&) = default;
    TakenNames& operator=(TakenNames&&) = default;
    ~TakenNames() = default;

    bool contains(const std::vector<Value>& values, Name name) {
        update(values);
        return has(name);
    }
    /// The last value of the list has just joined it. False when an earlier one has its name.
    bool add_last(const std::vector<Value>& values);
    /// A value that had the name `before` has the name `after`.
    void renamed(const std::vector<Value>& values, std::size_t index, Name before);
    /// `wanted` when no value has that name, otherwise `wanted` with the first number that is free:
    /// "x.1", "x.2". Constant time however often the same name is wanted. With `taken` the number
    /// is not given again, even when the name falls free.
    Name unique(Pool& pool, const std::vector<Value>& values, const std::string& wanted,
                bool taken = false);

    /// Makes room for the first so many names of the pool.
    void reserve(std::size_t names) { taken_.resize(std::max(names, taken_.size())); }

  private:
    /// Takes in the values that joined the list since the last call.
    void update(const std::vector<Value>& values);
    bool has(Name name) const { return name.number() < taken_.size() && taken_[name.number()] > 0; }
    void add(Name name);

    std::vector<std::uint8_t> taken_;  // by name: how many values have it, at most kMany
    std::size_t known_ = 0;            // the first `known_` values are counted
    std::unordered_map<std::uint32_t, int> next_;  // the number to try next after a taken name
};

}  // namespace dtnn::compiler
