#include "compiler/frontend/formula/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace dtnn::compiler {
namespace {

/// The names of extents: by the kind of the axis, of spaces by their number.
constexpr std::array<std::string_view, 5> kExtents = {"in.channels", "in.height", "in.width",
                                                      "in.features", "in.steps"};

/// "": the extent has no name.
std::string_view name_of_extent(const Axes& axes, std::size_t axis) {
    const auto spaces =
        std::count(axes.begin(), axes.begin() + std::ptrdiff_t(axis), AxisKind::space);
    switch (axes[axis]) {
        case AxisKind::channel:
            return kExtents[0];
        case AxisKind::space:
            return spaces > 1 ? "" : kExtents[std::size_t(1 + spaces)];
        case AxisKind::feature:
            return kExtents[3];
        case AxisKind::step:
            return kExtents[4];
        case AxisKind::batch:
            break;
    }
    return "";
}

constexpr std::array<std::string_view, 11> kReserved = {
    "in", "input", "if", "else", "true", "false", "min", "max", "round", "floor", "ceil"};

void collect_names(const SourceNode& tree, std::vector<std::string>& names) {
    if (tree.is_scalar() && has_formula(tree.text))
        for (std::string& name : names_read(tree.text))
            names.push_back(std::move(name));
    for (const SourceNode& item : tree.items)
        collect_names(item, names);
    for (const SourceEntry& entry : tree.entries) {
        if (has_formula(entry.key))
            for (std::string& name : names_read(entry.key))
                names.push_back(std::move(name));
        collect_names(entry.value, names);
    }
}

}  // namespace

void Environment::bind(std::string name, Binding binding) {
    constexpr std::size_t kFew = 32;
    own_.emplace_back(std::move(name), std::move(binding));
    if (own_.size() <= kFew) return;
    for (std::size_t i = index_.empty() ? 0 : own_.size() - 1; i < own_.size(); ++i)
        index_.emplace(own_[i].first, i);
}

const Binding* Environment::find(std::string_view name) const {
    for (const Environment* scope = this; scope; scope = scope->outer_) {
        if (!scope->index_.empty()) {
            const auto found = scope->index_.find(std::string(name));
            if (found != scope->index_.end()) return &scope->own_[found->second].second;
            continue;
        }
        for (const auto& [own, binding] : scope->own_)
            if (own == name) return &binding;
    }
    return nullptr;
}

void Environment::add_names(std::vector<std::string>& names) const {
    std::unordered_set<std::string> known(names.begin(), names.end());
    for (const Environment* scope = this; scope; scope = scope->outer_)
        for (const auto& [own, binding] : scope->own_)
            if (known.insert(own).second) names.push_back(own);
}

std::optional<FormulaValue> InReach::find(std::string_view name) const {
    if (!name.starts_with("in.")) {
        const Binding* binding = environment_.find(name);
        return binding ? std::optional(binding->value) : std::nullopt;
    }
    if (!shape_) return std::nullopt;
    if (shape_->axes.empty()) {
        const bool known = std::find(kExtents.begin(), kExtents.end(), name) != kExtents.end();
        return known ? std::optional(FormulaValue(Unknown{})) : std::nullopt;
    }
    for (std::size_t i = 0; i < shape_->axes.size(); ++i)
        if (name == name_of_extent(shape_->axes, i)) return FormulaValue(shape_->dims[i]);
    return std::nullopt;
}

std::vector<std::string> InReach::all() const {
    std::vector<std::string> names;
    environment_.add_names(names);
    if (!shape_) return names;
    if (shape_->axes.empty()) names.insert(names.end(), kExtents.begin(), kExtents.end());
    for (std::size_t i = 0; i < shape_->axes.size(); ++i)
        if (const auto name = name_of_extent(shape_->axes, i); !name.empty())
            names.emplace_back(name);
    return names;
}

const SampleShape& unknown_shape() {
    static const Dims dims;
    static const Axes axes;
    static const SampleShape none{dims, axes};
    return none;
}

bool any_formula(const SourceNode& tree) {
    if (tree.is_scalar()) return has_formula(tree.text);
    return std::any_of(tree.items.begin(), tree.items.end(), any_formula) ||
           std::any_of(tree.entries.begin(), tree.entries.end(), [](const SourceEntry& entry) {
               return has_formula(entry.key) || any_formula(entry.value);
           });
}

std::vector<std::string> names_in(const SourceNode& tree) {
    std::vector<std::string> names;
    collect_names(tree, names);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

bool reads_shape(const SourceNode& tree, const Environment& environment) {
    const std::vector<std::string> names = names_in(tree);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        const Binding* binding = environment.find(name);
        return name.starts_with("in.") || (binding && binding->shaped);
    });
}

std::optional<SourceNode> evaluated(const SourceNode& tree, const Names& names,
                                    Diagnostics& diagnostics) {
    if (tree.is_scalar()) {
        if (!has_formula(tree.text)) return tree;
        auto value = evaluate(tree, names, diagnostics);
        if (!value || std::holds_alternative<Unknown>(*value)) return std::nullopt;
        return std::get<SourceNode>(std::move(*value));
    }
    SourceNode result;
    result.kind = tree.kind;
    result.span = tree.span;
    bool known = true;
    // All of it, so that every mistake is found.
    for (const SourceNode& item : tree.items) {
        auto value = evaluated(item, names, diagnostics);
        known = known && value;
        if (value) result.items.push_back(std::move(*value));
    }
    for (const SourceEntry& entry : tree.entries) {
        auto value = evaluated(entry.value, names, diagnostics);
        known = known && value;
        if (value) result.entries.push_back({entry.key, entry.key_span, std::move(*value)});
    }
    if (!known) return std::nullopt;
    return result;
}

bool is_variable_name(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '_';
    }) && std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
}

FormulaValue formula_value(const AttributeValue& value) {
    // No layer has a list of reals, so expressions know none.
    return std::visit(
        [](const auto& content) {
            if constexpr (std::is_same_v<decltype(content), const std::vector<double>&>)
                return FormulaValue(Unknown{});
            else
                return FormulaValue(content);
        },
        value);
}

FormulaValue formula_value(const AttributeValue& value, FieldType type) {
    const auto* text = std::get_if<std::string>(&value);
    if (type == FieldType::initializer && text && text->find(": {") != std::string::npos)
        return NumberedInitializer{*text};
    return formula_value(value);
}

std::string describe(const Environment& environment) {
    std::string text;
    for (const auto& [name, binding] : environment.own()) {
        if (std::holds_alternative<Unknown>(binding.value)) continue;
        std::string value = describe(binding.value);
        if (const auto* word = std::get_if<std::string>(&binding.value)) value = *word;
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&binding.value))
            value = fmt::format("[{}]", fmt::join(*list, ", "));
        if (const auto* initializer = std::get_if<NumberedInitializer>(&binding.value))
            value = fmt::format("{{{}}}", initializer->text);
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
    }
    return text;
}

}  // namespace dtnn::compiler
