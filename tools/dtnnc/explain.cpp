// dtnnc explain WORD: everything is read from the tables that the compiler itself works by.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/tables.hpp"
#include "compiler/frontend/value_reader.hpp"
#include "compiler/ops/initializers.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/diagnostics.hpp"
#include "kernels/catalogue.hpp"
#include "tools/dtnnc/commands.hpp"

namespace dtnn::tools {
namespace {

using namespace compiler;

std::string indented(std::string_view text) {
    std::string result = "    ";
    for (const char c : text) {
        result += c;
        if (c == '\n') result += "    ";
    }
    return result + "\n";
}

std::string type_text(const Field& field) {
    if (field.choices.empty()) return std::string(describe(field.type));
    const std::string choices = fmt::format("{}", fmt::join(field.choices, " | "));
    return field.type == FieldType::text_list ? "list of " + choices : choices;
}

std::string presence(const Field& field) {
    if (field.fallback) {
        const auto* text = std::get_if<std::string>(&*field.fallback);
        return "default " + (text ? *text : to_json(*field.fallback));
    }
    return field.optional ? "optional" : "must be given";
}

std::string field_line(const Field& field) {
    std::string line =
        fmt::format("  {:<20} {}; {}", field.name, type_text(field), presence(field));
    const std::string range = describe_range(field);
    if (!range.empty()) line += "; " + range;
    if (!field.unit.empty()) line += fmt::format(" ({})", field.unit);
    return fmt::format("{}\n  {:<20} {}\n", line, "", field.doc);
}

std::string field_lines(const FieldTable& table) {
    std::string text;
    for (const Field& field : table)
        text += field_line(field);
    return text.empty() ? "  none\n" : text;
}

std::string explain_operator(const OpDef& op) {
    std::string text = fmt::format("{} - {}\n\n{}\n", op.name,
                                   op.layer ? "an operator for layers" : "an operator", op.doc);
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
    std::string kernels;
    for (const kernels::KernelInfo& kernel : kernels::kernels_of(op.name))
        kernels += fmt::format("{}{}", kernels.empty() ? "" : ", ", kernel.name);
    if (!kernels.empty()) text += fmt::format("kernels, in order of preference: {}\n", kernels);
    return text;
}

std::string explain_field(const std::string& owner, const Field& field) {
    return fmt::format("{}.{} - a field\n\n{}", owner, field.name, field_line(field));
}

std::string explain_kind(const KindInfo& kind) {
    std::string text =
        fmt::format("{} - a kind of spec\n\n{}\n\nexample:\n{}\nfields:\n{}", kind.name, kind.doc,
                    indented(kind.example), field_lines(*kind.fields));
    text += fmt::format(
        "\nA {} named NAME is looked for as NAME.yaml in the folder of the file that names it, in "
        "../{}, and in\n"
        "every folder of the spec path and its {}.\n",
        kind.name, kind.folder, kind.folder);
    return text;
}

std::string explain_optimizer(std::string_view name) {
    return fmt::format("{} - an optimizer\n\n{}\n\nfields:\n{}", name, optimizer_doc(name),
                       field_lines(*optimizer_table(name)));
}

std::string explain_code(const CodeInfo& code) {
    return fmt::format("{} - a diagnostic, exit code {}\n\n{}\n\nexample:\n{}\nwhat to do: {}\n",
                       dashed(code.name), code.exit_code, code.meaning, indented(code.example),
                       code.mend);
}

std::string explain_initializer(std::string_view name) {
    return fmt::format("{} - an initializer\n\n{}\n\nnumbers:\n{}", name, initializer_doc(name),
                       field_lines(*initializer_table(name)));
}

std::string explain_pass(const PassInfo& pass) {
    return fmt::format(
        "{} - a pass of the compiler\n\n{}\n{}", pass.name, pass.doc,
        pass.optional ? fmt::format("\nIt is optional: --disable {}\n", pass.name) : std::string());
}

/// Storage is no rewrite of the graph, but is switched off like an optional pass.
const PassInfo& in_place_pass() {
    static const PassInfo info{"in_place",
                               "Lets a node write over an operand that nobody reads afterwards.",
                               true, nullptr, "train evaluate predict"};
    return info;
}

std::string explain_kernel(const kernels::KernelInfo& kernel) {
    return fmt::format(
        "{}.{} - a kernel for {}\n\n  types       {}{}\n  needs       {}\n  limits      {}\n  "
        "workspace   {}\n",
        kernel.op, kernel.name, kernel.device, kernel.f32 ? "f32 " : "", kernel.f64 ? "f64" : "",
        kernels::name_of(kernel.needs),
        kernel.refuses ? "refuses some problems; the plan says which and why" : "none",
        kernel.workspace ? "yes; the plan books it" : "none");
}

/// The tables that can stand before the dot of `owner.field`.
struct Owner {
    std::string name;
    FieldTable table;
};
std::vector<Owner> field_owners() {
    std::vector<Owner> owners;
    for (const KindInfo& kind : all_kinds())
        owners.push_back({std::string(kind.name), *kind.fields});
    owners.push_back({"model.input", input_table()});
    owners.push_back({"layer", layer_table()});
    for (const std::string_view name : optimizer_names())
        owners.push_back({std::string(name), *optimizer_table(name)});
    for (const OpDef* op : all_ops())
        if (op->layer) {
            FieldTable table = op->fields;
            for (const Field& field : layer_table())
                table.push_back(field);
            owners.push_back({op->name, table});
        }
    return owners;
}

/// Everything of that name: a word may be both an operator and a pass.
std::vector<std::string> sections(const std::string& word) {
    std::vector<std::string> found;
    std::string plain = word;
    std::replace(plain.begin(), plain.end(), '-', '_');
    if (const KindInfo* kind = find_kind(word)) found.push_back(explain_kind(*kind));
    if (const OpDef* op = find_op(plain)) found.push_back(explain_operator(*op));
    if (initializer_table(plain)) found.push_back(explain_initializer(plain));
    if (optimizer_table(word)) found.push_back(explain_optimizer(word));
    for (const CodeInfo& code : all_codes())
        if (code.name == plain) found.push_back(explain_code(code));
    if (const PassInfo* pass = find_pass(plain)) found.push_back(explain_pass(*pass));
    if (plain == in_place_pass().name) found.push_back(explain_pass(in_place_pass()));
    for (const kernels::KernelInfo& kernel : kernels::catalogue())
        if (word == fmt::format("{}.{}", kernel.op, kernel.name) ||
            (word == kernel.name && word != "reference"))
            found.push_back(explain_kernel(kernel));
    const std::size_t dot = word.rfind('.');
    for (const Owner& owner : field_owners()) {
        const std::string name = dot == std::string::npos ? word : word.substr(dot + 1);
        // A field by itself is explained for everything that has it.
        if (dot != std::string::npos && owner.name != word.substr(0, dot)) continue;
        if (dot == std::string::npos && owner.name != "layer" && find_field(layer_table(), name))
            continue;
        if (const Field* field = find_field(owner.table, name))
            found.push_back(explain_field(owner.name, *field));
    }
    return found;
}

std::vector<std::string> all_words() {
    std::set<std::string> words;
    for (const KindInfo& kind : all_kinds())
        words.emplace(kind.name);
    for (const OpDef* op : all_ops())
        words.insert(op->name);
    for (const CodeInfo& code : all_codes())
        words.insert(dashed(code.name));
    for (const PassInfo& pass : all_passes())
        words.emplace(pass.name);
    for (const std::string_view name : initializer_names())
        words.emplace(name);
    words.emplace(in_place_pass().name);
    for (const kernels::KernelInfo& kernel : kernels::catalogue())
        words.insert(fmt::format("{}.{}", kernel.op, kernel.name));
    for (const Owner& owner : field_owners()) {
        words.insert(owner.name);
        for (const Field& field : owner.table) {
            words.emplace(field.name);
            words.insert(fmt::format("{}.{}", owner.name, field.name));
        }
    }
    return {words.begin(), words.end()};
}

}  // namespace

int explain(const std::string& word, const CommonOptions& options) {
    const std::vector<std::string> found = sections(word);
    if (found.empty()) {
        fmt::print(stderr, "dtnnc: nothing is named `{}`\n", word);
        if (const auto near = did_you_mean(word, all_words()))
            fmt::print(stderr, "help: did you mean `{}`?\n", *near);
        else
            fmt::print(stderr,
                       "help: a word is an operator, a field (`conv2d.filters`), a kind, a "
                       "diagnostic, a pass or "
                       "a kernel\n");
        return 2;
    }
    if (options.format == "json") {
        std::string list;
        for (const std::string& text : found) {
            std::string quoted = json_quoted(text);
            list += (list.empty() ? "" : ",") + quoted;
        }
        fmt::print("{{\"version\":1,\"word\":{},\"sections\":[{}]}}\n", json_quoted(word), list);
        return 0;
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        fmt::print("{}{}", i > 0 ? "\n" : "", found[i]);
    return 0;
}

}  // namespace dtnn::tools
