#pragma once
/// Operands and results of a node: a vector of value ids that keeps up to four of them, which is
/// nearly always all, without an allocation.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "compiler/support/typed_id.hpp"

namespace dtnn::compiler {

using ValueId = Id<struct ValueTag>;

class ValueList {
  public:
    using value_type = ValueId;
    using iterator = ValueId*;
    using const_iterator = const ValueId*;

    ValueList() = default;
    ValueList(std::initializer_list<ValueId> ids) { assign(ids.begin(), ids.size()); }
    ValueList(const ValueList& other) { assign(other.begin(), other.size_); }
    ValueList(ValueList&& other) noexcept { take(other); }
    ValueList& operator=(const ValueList& other) {
        if (this == &other) return *this;
        size_ = 0;
        assign(other.begin(), other.size_);
        return *this;
    }
    ValueList& operator=(ValueList&& other) noexcept {
        if (this == &other) return *this;
        release();
        take(other);
        return *this;
    }
    ~ValueList() { release(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    iterator begin() { return data(); }
    iterator end() { return data() + size_; }
    const_iterator begin() const { return data(); }
    const_iterator end() const { return data() + size_; }
    ValueId& operator[](std::size_t i) { return data()[i]; }
    const ValueId& operator[](std::size_t i) const { return data()[i]; }
    const ValueId& at(std::size_t i) const {
        if (i >= size_) throw std::out_of_range("ValueList::at");
        return data()[i];
    }
    ValueId& front() { return data()[0]; }
    const ValueId& front() const { return data()[0]; }
    ValueId& back() { return data()[size_ - 1]; }
    const ValueId& back() const { return data()[size_ - 1]; }

    void clear() { size_ = 0; }
    void reserve(std::size_t count) {
        if (count <= capacity_) return;
        auto* larger = new ValueId[count];
        std::copy(begin(), end(), larger);
        release();
        store_.many = larger;
        capacity_ = std::uint32_t(count);
    }
    void push_back(ValueId id) {
        if (size_ == capacity_) reserve(2 * std::size_t{capacity_});
        data()[size_++] = id;
    }
    void insert(const_iterator where, ValueId id) { insert(where, &id, &id + 1); }
    /// Anywhere, from another list or vector.
    template <class Iterator>
    void insert(const_iterator where, Iterator first, Iterator last) {
        const auto at = std::size_t(where - begin());
        const std::size_t old = size_;
        const auto count = std::size_t(std::distance(first, last));
        reserve(old + count);
        size_ = std::uint32_t(old + count);
        std::copy_backward(begin() + at, begin() + old, end());
        std::copy(first, last, begin() + at);
    }
    friend bool operator==(const ValueList& a, const ValueList& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    static constexpr std::uint32_t kFew = 4;
    static_assert(std::is_trivially_copyable_v<ValueId>);

    bool few() const { return capacity_ == kFew; }
    ValueId* data() { return few() ? store_.few : store_.many; }
    const ValueId* data() const { return few() ? store_.few : store_.many; }
    void assign(const ValueId* ids, std::size_t count) {
        reserve(count);
        std::copy(ids, ids + count, data());
        size_ = std::uint32_t(count);
    }
    void release() {
        if (!few()) delete[] store_.many;
        capacity_ = kFew;
    }
    /// Here is nothing to release; the other is left empty.
    void take(ValueList& other) {
        store_ = other.store_;
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, kFew);
    }

    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = kFew;  // kFew: in place
    union Store {
        Store() : few{} {}
        ValueId few[kFew];
        ValueId* many;
    } store_;
};

}  // namespace dtnn::compiler
