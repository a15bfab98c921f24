#pragma once
/// The member of a spec's struct that a row of its table fills, and that the resolved document is
/// written from: so a setting that is one value needs no code that copies it.

#include <concepts>
#include <string>
#include <type_traits>

#include "base/enum_names.hpp"
#include "base/tensor/attributes.hpp"
#include "compiler/support/check.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// One address for every type of spec.
template <class Spec>
inline constexpr char kSpecType = 0;

/// A spec whose type is known to the rows that fill it.
struct SpecReference {
    template <class Spec>
    requires(!std::same_as<std::remove_const_t<Spec>, SpecReference>) SpecReference(Spec& spec)
        : address(&spec), type(&kSpecType<Spec>) {}

    void* address;
    const void* type;
};

struct FieldMember {
    /// Sets the member; null is a value that is not there: zero or empty, of a closed set the
    /// default stays.
    void (*set)(void* spec, const AttributeValue* value) = nullptr;
    AttributeValue (*get)(const void* spec) = nullptr;
    const void* spec_type = nullptr;

    explicit operator bool() const { return set != nullptr; }
    void fill(SpecReference spec, const AttributeValue* value) const {
        DTNN_CHECK(spec.type == spec_type, "a row fills a spec of another kind");
        set(spec.address, value);
    }
    AttributeValue value(SpecReference spec) const {
        DTNN_CHECK(spec.type == spec_type, "a row is read from a spec of another kind");
        return get(spec.address);
    }
};

namespace member_detail {

template <class Pointer>
struct Owner;
template <class Spec, class Member>
struct Owner<Member Spec::*> {
    using type = Spec;
};

template <class Member>
void assign(Member& member, const AttributeValue* value) {
    if constexpr (NamedEnum<Member>) {
        if (value) parse_name(std::get<std::string>(*value), member);
    } else if constexpr (std::same_as<Member, bool>) {
        member = value && std::get<bool>(*value);
    } else if constexpr (std::integral<Member>) {
        member = value ? Member(std::get<std::int64_t>(*value)) : Member{};
    } else {
        member = value ? std::get<Member>(*value) : Member{};
    }
}

template <class Member>
AttributeValue value_of(const Member& member) {
    if constexpr (NamedEnum<Member>)
        return std::string(name_of(member));
    else if constexpr (std::integral<Member> && !std::same_as<Member, bool>)
        return std::int64_t(member);
    else
        return member;
}

template <auto First, auto... Rest, class Spec>
auto& member_at(Spec& spec) {
    if constexpr (sizeof...(Rest) == 0)
        return spec.*First;
    else
        return member_at<Rest...>(spec.*First);
}

}  // namespace member_detail

/// `fills<&TrainingSpec::training, &plan::Training::epochs>()`: the way from the spec to the
/// member.
template <auto First, auto... Rest>
constexpr FieldMember fills() {
    using Spec = typename member_detail::Owner<decltype(First)>::type;
    return {
        .set =
            [](void* spec, const AttributeValue* value) {
                member_detail::assign(
                    member_detail::member_at<First, Rest...>(*static_cast<Spec*>(spec)), value);
            },
        .get =
            [](const void* spec) {
                return member_detail::value_of(
                    member_detail::member_at<First, Rest...>(*static_cast<const Spec*>(spec)));
            },
        .spec_type = &kSpecType<Spec>,
    };
}

}  // namespace dtnn::compiler
