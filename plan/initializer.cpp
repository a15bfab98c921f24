#include "plan/initializer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dtnn::plan {

std::span<const InitializerKind> initializer_kinds() {
    using enum InitializerKind::Values;
    static const InitializerKind kinds[] = {
        {"glorot_uniform", {}, scaled_uniform, true, 2},
        {"glorot_normal", {}, scaled_truncated, true, 2},
        {"he_uniform", {}, scaled_uniform, false, 2},
        {"he_normal", {}, scaled_truncated, false, 2},
        {"lecun_uniform", {}, scaled_uniform, false, 1},
        {"lecun_normal", {}, scaled_truncated, false, 1},
        {"orthogonal", {"gain"}, orthogonal},
        {"normal", {"mean", "deviation"}, normal},
        {"truncated_normal", {"mean", "deviation"}, truncated},
        {"uniform", {"low", "high"}, uniform},
        {"constant", {"value"}, constant},
        {"zeros", {}, constant},
        {"ones", {}, constant, false, 0, 1},
    };
    return kinds;
}

const InitializerKind* find_initializer(std::string_view name) {
    for (const InitializerKind& kind : initializer_kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

std::optional<std::string> mistake_of(const Initializer& initializer) {
    const InitializerKind* kind = find_initializer(initializer.kind);
    if (!kind) return fmt::format("`{}` is no initializer that is known", initializer.kind);
    for (const auto& [name, value] : initializer.numbers) {
        if (std::find(kind->numbers.begin(), kind->numbers.end(), name) == kind->numbers.end())
            return fmt::format("`{}` is not a number of the initializer `{}`", name, kind->name);
        const double* number = std::get_if<double>(&value);
        if (!number) return fmt::format("`{}` of `{}` is not a real number", name, kind->name);
        if (!(std::fabs(*number) <= kLargestInitializerNumber))
            return fmt::format("`{}` of `{}` is {}, not within {} of 0", name, kind->name, *number,
                               kLargestInitializerNumber);
        // These are factors; the other numbers may be any.
        if ((name == "deviation" || name == "gain") && *number <= 0)
            return fmt::format("`{}` of `{}` is {}, not more than 0", name, kind->name, *number);
    }
    for (const std::string_view name : kind->numbers)
        if (!initializer.numbers.contains(std::string(name)))
            return fmt::format("the initializer `{}` lacks `{}`", kind->name, name);
    if (kind->values == InitializerKind::Values::uniform) {
        const double low = std::get<double>(initializer.numbers.at("low"));
        const double high = std::get<double>(initializer.numbers.at("high"));
        if (low >= high)
            return fmt::format("the initializer `{}` has low {} and high {}", kind->name, low,
                               high);
    }
    return std::nullopt;
}

}  // namespace dtnn::plan
