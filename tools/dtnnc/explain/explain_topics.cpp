#include "tools/dtnnc/explain/explain_topics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/explain/language_words.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/diagnostics.hpp"
#include "compiler/support/other_words.hpp"
#include "kernels/catalogue.hpp"
#include "plan/devices.hpp"
#include "tools/dtnnc/explain/storage_pass.hpp"

namespace dtnn::tools {
namespace {

using namespace compiler;

std::string indented(std::string_view text) {
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    std::string result = "    ";
    for (const char c : text) {
        result += c;
        if (c == '\n') result += "    ";
    }
    return result + "\n";
}

std::string field_line(const Field& field) {
    std::string line =
        fmt::format("  {:<20} {}; {}", field.name, values_text(field), presence_text(field));
    if (const std::string range = range_text(field); !range.empty()) line += "; " + range;
    return fmt::format("{}\n  {:<20} {}\n", line, "", field.doc);
}

std::string field_lines(const FieldTable& table) {
    std::string text;
    for (const Field& field : table)
        text += field_line(field);
    return text.empty() ? "  none\n" : text;
}

Topic topic(std::string name, std::string group, const std::string& rest) {
    std::string head = fmt::format("{} - {}\n\n", name, group);
    return {std::move(name), std::move(group), head + rest};
}

Topic explain_operator(const OpDef& op) {
    std::string text = op.doc + "\n";
    if (!op.example.empty()) text += "\nexample:\n" + indented(op.example);
    if (op.layer) {
        text += "\nfields:\n" + field_lines(op.fields) + "\nand, as every layer:\n" +
                field_lines(layer_table());
        if (op.variadic) text += field_lines(branches_table());
    }
    if (!op.expression.empty()) text += fmt::format("\nexpression: {}\n", op.expression);
    text += fmt::format("\nreads:  {}\n", fmt::join(op.inputs, ", "));
    text += fmt::format("writes: {}\n", fmt::join(op.outputs, ", "));
    if (!op.no_gradient_reason.empty())
        text += fmt::format("no gradient: {}\n", op.no_gradient_reason);
    for (const std::string& device : plan::device_names()) {
        std::vector<std::string_view> kernels;
        for (const kernels::KernelInfo& kernel : kernels::kernels_of(op.name, device))
            kernels.push_back(kernel.name);
        if (!kernels.empty())
            text += fmt::format("kernels of {}, in order of preference: {}\n", device,
                                fmt::join(kernels, ", "));
    }
    return topic(op.name, op.layer ? "an operator for layers" : "an operator", text);
}

Topic explain_kind(const KindInfo& kind) {
    return topic(std::string(kind.name), "a kind of spec",
                 fmt::format("{}\n\nexample:\n{}\nfields:\n{}\n"
                             "A {} named NAME is looked for as NAME.yaml in the folder of the file "
                             "that names it, in ../{}, and in\n"
                             "every folder of the spec path and its {}.\n",
                             kind.doc, indented(kind.example), field_lines(*kind.fields), kind.name,
                             kind.folder, kind.folder));
}

Topic explain_word(const LanguageWord& word) {
    std::string text = fmt::format("{}\n\nexample:\n{}", word.doc, indented(word.example));
    if (word.fields) text += "\nfields:\n" + field_lines(*word.fields);
    if (word.parameter_fields)
        text += "\na parameter is a type, or a map of:\n" + field_lines(*word.parameter_fields);
    return topic(std::string(word.name), std::string(word.group), text);
}

Topic explain_code(const CodeInfo& code) {
    return topic(dashed(code.name),
                 code.lint ? "a lint: a warning, and with --strict an error"
                           : fmt::format("a diagnostic, exit code {}", code.exit_code),
                 fmt::format("{}\n\nexample:\n{}\nwhat to do: {}\n", code.meaning,
                             indented(code.example), code.mend));
}

Topic explain_other(const OtherWord& word) {
    std::string text = help_text(word) + "\n";
    if (!word.ours.empty())
        text += fmt::format("\n`dtnnc explain {}` says what it is\n", word.ours);
    return topic(std::string(word.word),
                 word.tools.empty() ? "a word that people look for"
                                    : fmt::format("a word of {}", tools_text(word)),
                 text);
}

bool is_of(const OtherWord& word, const std::string& tool) {
    const std::vector<std::string_view> tools = tools_of(word);
    return std::find(tools.begin(), tools.end(), tool) != tools.end();
}

/// Tools in the order in which the table names them.
const std::vector<std::string>& all_tools() {
    static const auto names = [] {
        std::vector<std::string> list;
        for (const OtherWord& word : other_words())
            for (const std::string_view tool : tools_of(word))
                if (std::find(list.begin(), list.end(), tool) == list.end())
                    list.emplace_back(tool);
        return list;
    }();
    return names;
}

Topic explain_tool(const std::string& tool) {
    std::string text = "What its words are here:\n\n";
    for (const OtherWord& word : other_words()) {
        if (!is_of(word, tool)) continue;
        const char* colon = word.ours.empty() || word.remark.empty() ? "" : ": ";
        text += fmt::format("  {:<28} {}{}{}\n", word.word, word.ours, colon, word.remark);
    }
    return topic(tool, "another tool", text);
}

Topic explain_initializer(std::string_view name) {
    return topic(std::string(name), "an initializer",
                 fmt::format("{}\n\nnumbers:\n{}", initializer_doc(name),
                             field_lines(*initializer_table(name))));
}

Topic explain_pass(const PassInfo& pass) {
    std::string text = fmt::format("{}\n\nprograms: {}\n", pass.doc, pass.programs.text());
    if (pass.optional) text += fmt::format("It is optional: --disable {}\n", pass.name);
    return topic(std::string(pass.name), "a pass of the compiler", text);
}

Topic explain_kernel(const kernels::KernelInfo& kernel) {
    return topic(
        fmt::format("{}.{}", kernel.op, kernel.name), fmt::format("a kernel for {}", kernel.device),
        fmt::format("  types       {}\n  needs       {}\n  limits      {}\n  workspace   {}\n",
                    kernels::types_of(kernel), kernels::name_of(kernel.needs),
                    kernel.refuses ? "refuses some problems; the plan says which and why" : "none",
                    kernel.workspace ? "yes; the plan books it" : "none"));
}

/// Every operator has one; its 60 lists would say nothing more.
Topic explain_reference() {
    return topic("reference", "a kernel of every operator",
                 "The plain form of the operator, for every problem and both types: what all other "
                 "kernels are tested against,\nand the last choice of each list. "
                 "--reference-kernels chooses it everywhere.\n");
}

/// The tables that can stand before the dot of `owner.field`.
struct Owner {
    std::string name;
    FieldTable table;
};

std::vector<Owner> make_owners() {
    std::vector<Owner> owners;
    for (const KindInfo& kind : all_kinds())
        owners.push_back({std::string(kind.name), *kind.fields});
    owners.push_back({"model.input", input_table()});
    owners.push_back({"model.inputs", named_input_table()});
    owners.push_back({"layer", layer_table()});
    for (const LanguageWord& word : language_words())
        if (word.fields && word.fields != &branches_table())
            owners.push_back({std::string(word.name), *word.fields});
    owners.push_back({"blocks.parameters", block_parameter_table()});
    owners.push_back({"operators.parameters", operator_parameter_table()});
    owners.push_back({"groups", any_group_table()});
    owners.push_back({"clip", clip_table()});
    owners.push_back({"average", average_table()});
    owners.push_back({"checkpoint", checkpoint_table()});
    owners.push_back({"job.kernels", kernel_wish_table()});
    owners.push_back({"generation", generation_table()});
    owners.push_back({"parallel", parallel_table()});
    owners.push_back({"synchronise", synchronise_table()});
    owners.push_back({"network", network_table()});
    owners.push_back({"kernels", kernel_rate_table()});
    for (const ComponentSet* set : component_sets())
        for (const ComponentInfo& member : set->members)
            // A dataset's fields are known as the kind's.
            if (set != &dataset_types())
                owners.push_back({std::string(member.name), *member.fields});
    for (const std::string_view name : initializer_names())
        owners.push_back({std::string(name), *initializer_table(name)});
    for (const OpDef* op : all_ops())
        if (op->layer) {
            FieldTable table = op->fields;
            for (const Field& field : layer_table())
                table.push_back(field);
            if (op->variadic)
                table.insert(table.end(), branches_table().begin(), branches_table().end());
            owners.push_back({op->name, table});
        }
    for (const LanguageWord& block : standard_block_words())
        owners.push_back({std::string(block.name), *block.fields});
    return owners;
}

const std::vector<Owner>& owners() {
    static const std::vector<Owner> all = make_owners();
    return all;
}

/// What every layer takes is explained once, by its owner `layer`.
bool is_of_layers(const std::string& field) {
    return find_field(layer_table(), field) || find_field(branches_table(), field);
}

bool is_owner(const std::string& name) {
    return std::any_of(owners().begin(), owners().end(),
                       [&](const Owner& owner) { return owner.name == name; });
}

void add_fields(const std::string& word, std::vector<Topic>& found) {
    const std::size_t dot = word.rfind('.');
    const bool owned = dot != std::string::npos;
    const std::string name = owned ? word.substr(dot + 1) : word;
    std::string of = owned ? word.substr(0, dot) : std::string();
    // Paths as settings have them: training.optimizer.adam.beta1.
    if (owned && !is_owner(of)) of = of.substr(of.rfind('.') + 1);
    for (const Owner& owner : owners()) {
        if (owned ? owner.name != of : owner.name != "layer" && is_of_layers(name)) continue;
        const Field* field = find_field(owner.table, name);
        if (!field) continue;
        std::string text = field_line(*field);
        if (const std::string change = change_text(*field); !change.empty())
            text += fmt::format("  {:<20} {}\n", "", change);
        found.push_back(topic(fmt::format("{}.{}", owner.name, name), "a field", text));
    }
}

/// Words that a field takes: f32, bilinear, same.
std::vector<std::string_view> choices_of(const Field& field) {
    if (field.type == FieldType::padding || field.type == FieldType::step_padding)
        return padding_words(field.type);
    // The others have explanations of their own.
    return (field.type == FieldType::choice || field.type == FieldType::integer_or_choice) &&
                   field.name != "kind"
               ? field.choices
               : std::vector<std::string_view>();
}

void add_choices(const std::string& word, std::vector<Topic>& found) {
    for (const Owner& owner : owners())
        for (const Field& field : owner.table)
            for (const std::string_view choice : choices_of(field))
                if (choice == word)
                    found.push_back(topic(word,
                                          fmt::format("a value of {}.{}", owner.name, field.name),
                                          field_line(field)));
}

const std::vector<const std::vector<LanguageWord>*>& word_lists() {
    static const std::vector<const std::vector<LanguageWord>*> lists = {
        &language_words(), &standard_block_words(), &choice_words()};
    return lists;
}

template <class List>
std::vector<std::string> names_in(const List& list) {
    std::vector<std::string> names;
    names.reserve(list.size());
    for (const auto& entry : list)
        names.emplace_back(entry.name);
    return names;
}

std::vector<std::string> strings(const std::vector<std::string_view>& views) {
    return {views.begin(), views.end()};
}

}  // namespace

std::vector<Topic> topics_of(const std::string& word) {
    std::vector<Topic> found;
    std::string plain = word;
    std::replace(plain.begin(), plain.end(), '-', '_');
    if (const KindInfo* kind = find_kind(word)) found.push_back(explain_kind(*kind));
    for (const auto* list : word_lists())
        for (const LanguageWord& entry : *list)
            if (entry.name == plain) found.push_back(explain_word(entry));
    if (const OpDef* op = find_op(plain)) found.push_back(explain_operator(*op));
    if (initializer_table(plain)) found.push_back(explain_initializer(plain));
    for (const CodeInfo& code : all_codes())
        if (code.name == plain) found.push_back(explain_code(code));
    if (const PassInfo* pass = find_pass(plain)) found.push_back(explain_pass(*pass));
    if (plain == storage_pass().name) found.push_back(explain_pass(storage_pass()));
    if (word == explain_reference().name) found.push_back(explain_reference());
    for (const kernels::KernelInfo& kernel : kernels::catalogue())
        if (word == fmt::format("{}.{}", kernel.op, kernel.name) ||
            (word == kernel.name && word != kernels::kReference))
            found.push_back(explain_kernel(kernel));
    add_fields(word, found);
    if (found.empty()) add_choices(word, found);
    for (const std::string& tool : all_tools())
        if (lower(tool) == lower(word)) found.push_back(explain_tool(tool));
    for (const OtherWord* other : find_other_words(word))
        if ((!other->tools.empty() || other->ours.empty()) && other->ours != word)
            found.push_back(explain_other(*other));
    return found;
}

std::vector<TopicGroup> topic_groups() {
    std::vector<std::string> operators = layer_names(), codes, inner;
    std::sort(operators.begin(), operators.end());
    for (const OpDef* op : all_ops())
        if (!op->layer) inner.push_back(op->name);
    for (const CodeInfo& code : all_codes())
        codes.push_back(dashed(code.name));
    std::vector<std::string> passes = names_in(all_passes());
    passes.emplace_back(storage_pass().name);
    std::vector<std::string> kernels;
    for (const kernels::KernelInfo& kernel : kernels::catalogue())
        if (kernel.name != kernels::kReference)
            kernels.push_back(fmt::format("{}.{}", kernel.op, kernel.name));
    kernels.emplace_back(kernels::kReference);
    std::vector<TopicGroup> groups = {
        {"kinds of specs", names_in(all_kinds())},
        {"words of models", names_in(language_words())},
        {"operators", operators},
        {"blocks that every model has", names_in(standard_block_words())},
        {"initializers", strings(initializer_names())}};
    for (const ComponentSet* set : component_sets())
        groups.push_back({std::string(set->plural), names_in(set->members)});
    groups.push_back({"diagnostics", codes});
    groups.push_back({"passes", passes});
    groups.push_back({"operators of the compiler's own", inner});
    groups.push_back({"kernels", kernels});
    groups.push_back({"other tools, whose words are known", all_tools()});
    return groups;
}

std::vector<std::string> topic_words() {
    std::set<std::string> words;
    for (const TopicGroup& group : topic_groups())
        words.insert(group.names.begin(), group.names.end());
    for (const Owner& owner : owners()) {
        for (const Field& field : owner.table) {
            words.emplace(field.name);
            words.insert(fmt::format("{}.{}", owner.name, field.name));
            const std::vector<std::string_view> choices = choices_of(field);
            words.insert(choices.begin(), choices.end());
        }
    }
    return {words.begin(), words.end()};
}

}  // namespace dtnn::tools
