#pragma once
/// The pool of what the values and nodes of a graph name rather than hold: names, types and
/// attributes, each kept once. A graph and the graphs that passes make of it share one pool, which
/// grows until the last of them is gone; so such graphs belong to one thread.

#include <deque>
#include <unordered_map>
#include <vector>

#include "base/tensor/tensor_type.hpp"
#include "compiler/ir/attribute_set.hpp"
#include "compiler/ir/text.hpp"

namespace dtnn::compiler {

/// A value's type; its order is set by the layout pass.
using Type = TensorType;

std::size_t hash_of(const Type& type);

/// The type of a value, kept by a pool; used like a pointer to a constant type, or as a type.
class TypeRef {
  public:
    TypeRef() = default;
    const Type& operator*() const {
        static const Type none;
        return kept_ ? kept_->type : none;
    }
    const Type* operator->() const { return &**this; }
    operator const Type&() const { return **this; }
    bool valid() const { return kept_ != nullptr; }
    /// Counted from 0 in its pool; of a valid reference.
    std::uint32_t number() const { return kept_->number; }
    friend bool operator==(const TypeRef& a, const TypeRef& b) {
        return a.kept_ == b.kept_ || *a == *b;
    }

  private:
    friend class Pool;
    struct Kept {
        Type type;
        std::uint32_t number;
    };
    explicit TypeRef(const Kept& kept) : kept_(&kept) {}
    const Kept* kept_ = nullptr;
};

class Pool {
  public:
    /// The text as a name, which is new when no value was ever called so.
    Name name(std::string_view text);
    TypeRef type(const Type& type);
    /// Equal attributes as one map.
    const Attributes& attributes(const Attributes& attributes) {
        return attributes_.entry(attributes).attributes;
    }
    bool keeps(const Attributes& attributes) const { return attributes_.known(attributes); }
    std::size_t names() const { return texts_.size(); }
    std::size_t types() const { return types_.size(); }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t number = Name::kNone;
    };
    void grow();

    std::deque<std::string> texts_;  // by number
    std::vector<Slot> slots_;        // open addressing, a power of two of them, at most half full
    std::deque<TypeRef::Kept> types_;
    std::unordered_multimap<std::size_t, const TypeRef::Kept*> type_of_hash_;
    AttributeSet attributes_;
};

}  // namespace dtnn::compiler
