#include "compiler/frontend/expand/expansion_count.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/expand/control_word.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::int64_t kMost = 1'000'000'000'000'000'000;

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return std::min(kMost, a + b);  // both at most 10^18
}

std::int64_t product(std::int64_t a, std::int64_t b) {
    if (a == 0 || b == 0) return 0;
    return a > kMost / b ? kMost : a * b;
}

void add(LayerCount& total, const LayerCount& more) {
    total.layers = sum(total.layers, more.layers);
    total.steps = sum(total.steps, more.steps);
}

/// How much there is to read in a tree.
struct Extent {
    std::int64_t values = 0;
    std::int64_t bytes = 0;
};

void measure(const SourceNode& tree, Extent& extent) {
    ++extent.values;
    extent.bytes += std::int64_t(tree.text.size());
    for (const SourceNode& item : tree.items)
        measure(item, extent);
    for (const SourceEntry& entry : tree.entries)
        measure(entry.value, extent);
}

const SourceNode* list_field(const LayerEntry& entry, const char* key) {
    const SourceEntry* field = entry.fields ? entry.fields->find(key) : nullptr;
    return field && field->value.is_list() ? &field->value : nullptr;
}

}  // namespace

void add_control_fields(const LayerEntry& entry, UseFields& use, const Environment& environment,
                        const SampleShape& input, Diagnostics& diagnostics) {
    if (!entry.fields) return;
    for (const SourceEntry& field : entry.fields->entries) {
        if (use.map.find(field.key) || use.given.contains(field.key)) continue;
        if (holds_layers(field.key) && find_field(table_of(*entry.control), field.key)) {
            use.given.insert(field.key);
            continue;
        }
        if (field.key == "times" && reads_shape(field.value, environment)) {
            diagnostics.error(Code::bad_repeat, field.value.span,
                              "`times` of repeat depends on the shape of an input; the number of "
                              "layers is known before any shape is",
                              "use parameters of the model or of the block; the condition of an "
                              "`if` may depend on shapes");
            use.given.insert(field.key);
            continue;
        }
        use.add(field, environment, input, diagnostics);
    }
}

RepeatHead read_repeat(const LayerEntry& entry, const UseFields& use, Diagnostics& diagnostics) {
    FieldScope scope{"repeat", entry.span};
    scope.given = use.given;
    const FieldValues values = read_fields(use.map, repeat_table(), scope, diagnostics);
    RepeatHead head;
    if (values.values.contains("times")) head.times = values.integer("times");
    if (values.values.contains("index")) head.index = values.text("index");
    head.shared = values.values.contains("shared") && values.flag("shared");
    if (!is_variable_name(head.index))
        diagnostics.error(Code::bad_name, values.spans.at("index"),
                          fmt::format("the index of the repeat is named `{}`; it must be a letter, "
                                      "then letters, digits and `_`, and no word of expressions",
                                      head.index));
    return head;
}

std::optional<bool> read_condition(const LayerEntry& entry, const UseFields& use,
                                   Diagnostics& diagnostics) {
    FieldScope scope{"if", entry.span};
    scope.given = use.given;
    const FieldValues values = read_fields(use.map, if_table(), scope, diagnostics);
    if (!values.values.contains("condition")) return std::nullopt;
    return values.flag("condition");
}

LayerCount LayerCounter::count(const SourceNode& list, const Environment& environment) {
    LayerCount total;
    for (const SourceNode& item : list.items)
        add(total, count_entry(item, environment));
    return total;
}

LayerCount LayerCounter::count_entry(const SourceNode& item, const Environment& environment) {
    if (++walked_ > kMaximumSteps) return {};
    const auto entry =
        read_entry(item, language_.blocks(), InReach(environment, unknown_shape()), unheard_);
    if (!entry) return {0, 1};
    const std::int64_t own = steps_of(item, *entry);
    walked_ += own - 1;
    const bool one_layer = entry->op || (entry->block && entry->block->is_operator);
    LayerCount total{one_layer ? 1 : 0, own};
    if (entry->block)
        add(total, count_block(*entry, environment));
    else if (entry->control == ControlWord::repeat)
        add(total, count_repeat(*entry, environment));
    else if (entry->control == ControlWord::condition)
        add(total, count_choice(*entry, environment));
    else if (entry->branches)
        for (const SourceNode& branch : entry->branches->items)
            if (branch.is_list()) add(total, count(branch, environment));
    return total;
}

std::int64_t LayerCounter::steps_of(const SourceNode& item, const LayerEntry& entry) {
    const bool literal = entry.type == raw_entry(item).type;
    if (literal)
        if (const auto known = steps_.find(&item); known != steps_.end()) return known->second;
    Extent extent;
    for (const SourceEntry* field : language_.fields_of(entry))
        if (&field->value != entry.branches &&
            (entry.op || entry.block || !holds_layers(field->key)))
            measure(field->value, extent);
    std::int64_t parameters = 0;
    if (entry.block)
        for (const BlockParameter& parameter : entry.block->parameters) {
            ++parameters;
            if (parameter.fallback) measure(*parameter.fallback, extent);
        }
    const std::int64_t steps = 1 + extent.values / 16 + parameters / 8 + extent.bytes / 256;
    if (literal) steps_.emplace(&item, steps);
    return steps;
}

LayerCount LayerCounter::count_block(const LayerEntry& entry, const Environment& environment) {
    if (!entry.block->layers || depth_ >= int(kMaximumBlockDepth)) return {};
    UseFields use;
    for (const SourceEntry* field : language_.fields_of(entry))
        use.add(*field, environment, unknown_shape(), unheard_);
    const Environment inner = bind_parameters(*entry.block, use, entry.span, language_.parameters(),
                                              unknown_shape(), unheard_);
    // A text may hold what separates arguments, so its length stands before it.
    std::string key = entry.block->name;
    for (const auto& [name, binding] : inner.own()) {
        const auto* text = std::get_if<std::string>(&binding.value);
        const std::string value =
            text ? fmt::format("{}:{}", text->size(), *text) : describe(binding.value);
        key += fmt::format("|{}{}", binding.shaped ? "~" : "", value);
    }
    if (const auto known = blocks_.find(key); known != blocks_.end()) return known->second;
    ++depth_;
    const LayerCount total = count(*entry.block->layers, inner);
    --depth_;
    blocks_.emplace(std::move(key), total);
    return total;
}

LayerCount LayerCounter::count_repeat(const LayerEntry& entry, const Environment& environment) {
    const SourceNode* list = list_field(entry, "layers");
    if (!list) return {};
    UseFields use;
    add_control_fields(entry, use, environment, unknown_shape(), unheard_);
    const RepeatHead head = read_repeat(entry, use, unheard_);
    const std::int64_t times = head.times.value_or(1);
    const std::vector<std::string>& names = names_read_in(*list);
    const auto repetition = [&](FormulaValue index) {
        Environment inner(&environment);
        inner.bind(head.index, {std::move(index), false});
        LayerCount one = count(*list, inner);
        one.steps = sum(one.steps, 1);
        return one;
    };
    if (times == 0) return {};
    if (!head.times || !std::binary_search(names.begin(), names.end(), head.index)) {
        const LayerCount one = repetition(head.times ? FormulaValue(std::int64_t{0}) : Unknown{});
        return {product(one.layers, times), product(one.steps, times)};
    }
    LayerCount total;
    for (std::int64_t i = 0; i < times && !exceeded(); ++i) {
        ++walked_;
        add(total, repetition(i));
    }
    return total;
}

LayerCount LayerCounter::count_choice(const LayerEntry& entry, const Environment& environment) {
    UseFields use;
    add_control_fields(entry, use, environment, unknown_shape(), unheard_);
    const std::optional<bool> condition = read_condition(entry, use, unheard_);
    LayerCount total;
    for (const bool side : {true, false}) {
        if (condition.value_or(side) != side) continue;
        const SourceNode* list = list_field(entry, side ? "then" : "else");
        if (!list) continue;
        const LayerCount one = count(*list, environment);
        total.layers = std::max(total.layers, one.layers);
        total.steps = std::max(total.steps, one.steps);
    }
    return total;
}

const std::vector<std::string>& LayerCounter::names_read_in(const SourceNode& list) {
    const auto [found, fresh] = names_.try_emplace(&list);
    if (fresh) found->second = names_in(list);
    return found->second;
}

bool check_layer_count(const SourceNode& list, const ModelLanguage& language,
                       Diagnostics& diagnostics) {
    LayerCounter counter(language);
    LayerCount total, largest;
    const SourceNode* where = nullptr;
    for (const SourceNode& item : list.items) {
        const LayerCount one = counter.count_entry(item, language.parameters());
        add(total, one);
        if (!where || one.steps > largest.steps) {
            largest = one;
            where = &item;
        }
    }
    const bool layers = total.layers > kMaximumLayers;
    if (!layers && total.steps <= kMaximumSteps && !counter.exceeded()) return true;
    const std::string more = counter.exceeded() ? "more than " : "";
    // The entry that makes most of them, when it alone makes too many.
    const bool alone = where && (largest.layers > kMaximumLayers || largest.steps > kMaximumSteps);
    const Span& span = !alone                                       ? list.span
                       : where->is_map() && !where->entries.empty() ? where->entries[0].key_span
                                                                    : where->span;
    Diagnostic& error = diagnostics.error(
        Code::too_many_layers, span,
        layers ? fmt::format("the model has {}{} layers; it may have {}", more, total.layers,
                             kMaximumLayers)
               : fmt::format("expanding the model takes {}{} steps (repetitions, uses of blocks, "
                             "layers and what they hold); it may take {}",
                             more, std::max(total.steps, kMaximumSteps), kMaximumSteps));
    if (alone)
        error.help =
            fmt::format("{} of them are made here", layers ? largest.layers : largest.steps);
    return false;
}

}  // namespace dtnn::compiler
