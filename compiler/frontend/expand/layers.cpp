#include "compiler/frontend/expand/layers.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "compiler/frontend/expand/control_word.hpp"
#include "compiler/frontend/read/other_forms.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

/// Words for what is no operator here; operators' other names are known to did_you_mean.
struct Synonym {
    std::string_view word, type;
};
constexpr std::array kSynonyms = {
    Synonym{"loop", "repeat"},
    Synonym{"for", "repeat"},
    Synonym{"when", "if"},
    Synonym{"inception", "concat"},
};

constexpr const char* kShapeHelp = "write `- relu` or `- dense: {units: 10}`";

void bad_layer(Diagnostics& diagnostics, const Span& span, const std::string& fact,
               const std::string& help) {
    diagnostics.error(Code::bad_layer, span,
                      fact + "; a layer is a name, or one operator with its fields", help);
}

const FieldTable* table_of(std::string_view type, const Blocks& blocks) {
    if (const auto control = control_word(type)) return &table_of(*control);
    if (const OpDef* op = find_op(type); op && op->layer) return &fields_of_operator(*op);
    const Block* block = blocks.find(type);
    return block ? &block->fields : nullptr;
}

/// As other configurations have it: {type: Convolution, filters: 8}. Empty: it is not of that form.
std::string help_of_type(const SourceNode& item, const Blocks& blocks) {
    const SourceEntry* type = item.is_map() ? named_type(item) : nullptr;
    const auto near = type ? did_you_mean(type->value.text, entry_names(blocks)) : std::nullopt;
    if (!near) return "";
    const OpDef* op = find_op(*near);
    return fmt::format("the type stands before its fields: `{}`",
                       op ? op->example : fmt::format("- {}: {{...}}", *near));
}

/// A map of more than one key, or of none.
void refuse_keys(const SourceNode& item, const Blocks& blocks, Diagnostics& diagnostics) {
    if (item.entries.empty())
        return bad_layer(diagnostics, item.span, "the layer is an empty map", kShapeHelp);
    const SourceEntry& first = item.entries.front();
    const SourceEntry& second = item.entries[1];
    const FieldTable* table = table_of(first.key, blocks);
    if (table && !first.value.is_map() && find_field(*table, second.key))
        return bad_layer(diagnostics, second.key_span,
                         fmt::format("`{}` stands beside `{}`", second.key, first.key),
                         fmt::format("indent it under `{}`, or write `- {}: {{{}: ...}}`",
                                     first.key, first.key, second.key));
    std::string help = help_of_type(item, blocks);
    if (help.empty()) help = kShapeHelp;
    std::string keys;
    for (const SourceEntry& one : item.entries)
        keys += fmt::format("{}`{}`", keys.empty() ? "" : ", ", one.key);
    bad_layer(diagnostics, first.key_span, fmt::format("the layer has the keys {}", keys), help);
}

/// The type that an expression gives; nothing after a diagnostic or when it is unknown.
std::optional<std::string> evaluated_type(const std::string& text, const Span& span,
                                          const Names& names, Diagnostics& diagnostics) {
    const auto value = evaluate_value(make_scalar(text, span), names, diagnostics);
    if (!value || std::holds_alternative<Unknown>(*value)) return std::nullopt;
    if (const auto* type = std::get_if<std::string>(&*value)) return *type;
    bad_layer(diagnostics, span,
              fmt::format("the layer is `{}`, which is {}", text, describe(*value)),
              "the expression must give the name of an operator or block");
    return std::nullopt;
}

}  // namespace

RawEntry raw_entry(const SourceNode& item) {
    if (item.is_scalar()) return {item.text, nullptr};
    if (item.is_map() && item.entries.size() == 1)
        return {item.entries[0].key, &item.entries[0].value};
    return {};
}

std::vector<const SourceNode*> nested_lists(const RawEntry& entry) {
    std::vector<const SourceNode*> lists;
    if (!entry.value) return lists;
    const auto add_branches = [&](const SourceNode& branches) {
        for (const SourceNode& branch : branches.items)
            if (branch.is_list()) lists.push_back(&branch);
    };
    if (entry.value->is_list()) add_branches(*entry.value);
    const bool control = control_word(entry.type).has_value();
    for (const SourceEntry& field : entry.value->entries) {
        if (!field.value.is_list()) continue;
        if (!control && field.key == "branches") add_branches(field.value);
        if (control && holds_layers(field.key)) lists.push_back(&field.value);
    }
    return lists;
}

std::optional<LayerEntry> read_entry(const SourceNode& item, const Blocks& blocks,
                                     const Names& names, Diagnostics& diagnostics,
                                     const SourceNode** refused_name) {
    if (!item.is_scalar() && !item.is_map()) {
        bad_layer(diagnostics, item.span, fmt::format("the layer is {}", describe(item)),
                  item.is_list() ? "give each layer an entry of its own, without brackets"
                                 : "write a layer, such as `- relu`, or take the dash away");
        return std::nullopt;
    }
    if (item.is_map() && item.entries.size() != 1) {
        refuse_keys(item, blocks, diagnostics);
        return std::nullopt;
    }
    const SourceNode* value = item.is_map() ? &item.entries[0].value : nullptr;
    LayerEntry entry;
    entry.type = item.is_map() ? item.entries[0].key : item.text;
    entry.span = item.is_map() ? item.entries[0].key_span : item.span;
    if (refused_name && value && value->is_map())
        if (const SourceEntry* name = value->find("name"); name && name->value.is_scalar())
            *refused_name = &name->value;
    if (has_formula(entry.type)) {
        auto type = evaluated_type(entry.type, entry.span, names, diagnostics);
        if (!type) return std::nullopt;
        entry.type = std::move(*type);
    }
    const OpDef* op = find_op(entry.type);
    entry.op = op && op->layer ? op : nullptr;
    entry.block = entry.op ? nullptr : blocks.find(entry.type);
    if (!entry.op && !entry.block) entry.control = control_word(entry.type);
    if (!entry.op && !entry.block && !entry.control) {
        // In a block that is used often it is said once.
        const bool worth = !diagnostics.was_said(Code::unknown_operator, entry.span) &&
                           worth_suggesting(diagnostics, blocks.size());
        std::string help = worth ? help_of_type(item, blocks) : std::string();
        if (worth && help.empty()) help = suggest_type(entry.type, blocks);
        diagnostics.error(Code::unknown_operator, entry.span,
                          fmt::format("`{}` is not an operator for layers or a block", entry.type),
                          help);
        return std::nullopt;
    }
    if (entry.block && entry.block->is_loss) {
        bad_layer(diagnostics, entry.span, fmt::format("`{}` is a loss of the model", entry.type),
                  fmt::format("trainings take it up: `loss: {}`", entry.type));
        return std::nullopt;
    }
    if (!value || value->is_null()) return entry;
    if (value->is_map()) {
        entry.fields = value;
        if (entry.op && entry.op->variadic)
            if (const SourceEntry* branches = value->find("branches"))
                entry.branches = &branches->value;
    } else if (entry.op && entry.op->variadic && value->is_list()) {
        entry.branches = value;
    } else {
        Diagnostic& error = diagnostics.error(
            Code::wrong_type, value->span,
            fmt::format("`{}` is given {}; it takes {}", entry.type, describe(*value),
                        entry.op && entry.op->variadic ? "a list of branches or a map of fields"
                                                       : "a map of fields"));
        if (entry.op)
            error.help = fmt::format("such as `{}`", entry.op->example);
        else if (entry.control == ControlWord::repeat)
            error.help = "such as `- repeat: {times: 3, layers: [...]}`";
        return std::nullopt;
    }
    return entry;
}

const FieldTable& fields_of_operator(const OpDef& op) {
    static const auto tables = [] {
        std::unordered_map<const OpDef*, FieldTable> all;
        for (const OpDef* one : all_ops()) {
            if (!one->layer) continue;
            FieldTable& table = all[one];
            table = one->fields;
            for (const Field& field : layer_table())
                table.push_back(field);
            if (one->variadic)
                for (const Field& field : branches_table())
                    table.push_back(field);
        }
        return all;
    }();
    return tables.at(&op);
}

std::vector<std::string> entry_names(const Blocks& blocks) {
    std::vector<std::string> names = layer_names();
    for (std::string& name : blocks.names())
        names.push_back(std::move(name));
    for (const char* word : names_of(ControlWord()))
        names.emplace_back(word);
    return names;
}

std::string suggest_type(const std::string& word, const Blocks& blocks) {
    for (const Synonym& synonym : kSynonyms)
        if (synonym.word == word) return fmt::format("did you mean `{}`?", synonym.type);
    const std::vector<std::string> names = entry_names(blocks);
    if (std::string help = help_by_name(word, names); !help.empty()) {
        // A call has its arguments in another form.
        const auto near = word.find_first_of("( ") == std::string::npos ? std::nullopt
                                                                        : did_you_mean(word, names);
        const OpDef* ours = near ? find_op(*near) : nullptr;
        if (!ours) return help;
        const bool question = help.ends_with('?');
        return fmt::format("{}{} such as `{}`", help, question ? "" : ";", ours->example);
    }
    if (std::string help = help_by_remark(word); !help.empty()) return help;
    if (word.find(" - ") != std::string::npos)
        return "every layer begins with `- ` on a line of its own, all with the same indentation";
    // `dense 10`: its arguments have another form.
    const std::string first = word.substr(0, word.find(' '));
    if (const OpDef* op = first == word ? nullptr : find_op(first); op && op->layer)
        return fmt::format("fields stand behind a colon, such as `{}`", op->example);
    // A word of another tool is known for what it is, whatever it is near to.
    if (std::string help = help_elsewhere(word); !help.empty()) return help;
    if (const auto near = did_you_mean(word, names))
        return fmt::format("did you mean `{}`?", *near);
    return fmt::format("`dtnnc explain` lists the operators; the blocks are {}",
                       fmt::join(blocks.names(), ", "));
}

bool check_layer_name(const std::string& name, const Span& span, Diagnostics& diagnostics) {
    // One that a comma parts was refused where it was read.
    if (diagnostics.was_said(Code::wrong_type, span)) return false;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    bool sound = !name.empty();
    bool first = true;  // of a part
    for (const char c : name) {
        const bool inner = (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '/';
        sound = sound && (letter(c) || (inner && !first));
        first = c == '/';
    }
    sound = sound && !first;
    if (!sound)
        diagnostics.error(
            Code::bad_name, span,
            fmt::format("the layer's name is `{}`; it must be a letter, then letters, digits, "
                        "`_` and `-` (parts of such a form may be joined by `/`)",
                        name));
    else if (name == "input")
        diagnostics.error(Code::bad_name, span,
                          "the layer's name is `input`, which is the model's input");
    return sound && name != "input";
}

bool is_structural_list(const Field& field) {
    return field.type == FieldType::layers || field.type == FieldType::branches;
}

}  // namespace dtnn::compiler
