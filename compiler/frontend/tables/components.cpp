#include "compiler/frontend/tables/components.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/read/other_forms.hpp"
#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {
namespace {

template <class T>
T value_or_zero(const Attributes& attributes, const std::string& field) {
    const auto found = attributes.find(field);
    return found == attributes.end() ? T{} : std::get<T>(found->second);
}

/// How the field is written: with the first member that needs no fields.
std::string written_example(const Field& field, const SourceNode& node) {
    const bool list = field.type == FieldType::variant_list;
    // As others write it: {type: adam, learning_rate: 0.001}.
    if (node.is_map())
        if (const std::string here = member_as_here(node, *field.components); !here.empty())
            return fmt::format("the name stands before its fields: `{}: {}{}{}`",
                               field.name.substr(0, field.name.find('[')), list ? "[" : "", here,
                               list ? "]" : "");
    // {name: focal, gamma: 2}
    if (const SourceEntry* type = node.is_map() ? named_type(node) : nullptr) {
        const std::vector<std::string_view> names = field.components->names();
        if (std::string help = suggest_word(type->value.text, {names.begin(), names.end()}, "");
            !help.empty())
            return help;
    }
    if (list && node.is_map() && node.entries.size() > 1)
        return fmt::format("write each of them as an entry of the list: `- {}: ...`",
                           node.entries[0].key);
    for (const ComponentInfo& member : field.components->members) {
        const auto required = [](const Field& own) { return !own.fallback && !own.optional; };
        if (std::any_of(member.fields->begin(), member.fields->end(), required)) continue;
        std::string text(member.name);
        if (!member.fields->empty() && member.fields->front().fallback)
            text = fmt::format("{{{}: {{{}: {}}}}}", member.name, member.fields->front().name,
                               to_json(*member.fields->front().fallback));
        const std::string_view name = field.name.substr(0, field.name.find('['));
        return fmt::format("such as `{}: {}`", name, list ? "[" + text + "]" : text);
    }
    return "";
}

}  // namespace

std::int64_t ReadComponent::integer(const std::string& field) const {
    return value_or_zero<std::int64_t>(component.attributes, field);
}

double ReadComponent::real(const std::string& field) const {
    return value_or_zero<double>(component.attributes, field);
}

bool ReadComponent::flag(const std::string& field) const {
    return value_or_zero<bool>(component.attributes, field);
}

std::string ReadComponent::text(const std::string& field) const {
    return value_or_zero<std::string>(component.attributes, field);
}

const Span& ReadComponent::span_of(const std::string& field) const {
    const auto found = spans.find(field);
    return found == spans.end() ? span : found->second;
}

const ComponentInfo* ComponentSet::find(std::string_view member) const {
    for (const ComponentInfo& one : members)
        if (one.name == member) return &one;
    return nullptr;
}

std::vector<std::string_view> ComponentSet::names() const {
    std::vector<std::string_view> result;
    for (const ComponentInfo& member : members)
        result.push_back(member.name);
    return result;
}

Field variant_field(FieldType type, std::string_view name, Absent absent, const ComponentSet& set,
                    std::string_view doc, FieldChange change) {
    Field field = plain_field(type, name, std::move(absent), doc, change);
    field.choices = set.names();
    field.components = &set;
    return field;
}

const std::vector<const ComponentSet*>& component_sets() {
    static const std::vector<const ComponentSet*> sets = {
        &optimizers(), &losses(),        &metrics(),      &schedules(),
        &transforms(), &augmentations(), &dataset_types()};
    return sets;
}

namespace {

/// What is said of fields that other members of the set have.
/// "[224, 224]", of scalars.
std::string list_text(const SourceNode& list) {
    std::string text;
    for (const SourceNode& item : list.items)
        text += (text.empty() ? "" : ", ") + item.text;
    return "[" + text + "]";
}

std::map<std::string, std::string> fields_of_siblings(const ComponentSet& set,
                                                      const ComponentInfo& member,
                                                      const SourceNode& given) {
    std::map<std::string, std::string> help;
    for (const SourceEntry& entry : given.entries) {
        if (find_field(*member.fields, entry.key)) continue;
        std::vector<std::string_view> owners, own;
        for (const ComponentInfo& other : set.members)
            if (find_field(*other.fields, entry.key)) owners.push_back(other.name);
        if (owners.empty()) continue;
        for (const Field& one : *member.fields)
            own.push_back(one.name);
        help.emplace(entry.key,
                     fmt::format("`{}` is of {}; {}", entry.key, fmt::join(owners, ", "),
                                 own.empty() ? fmt::format("{} has no fields", member.name)
                                             : fmt::format("the fields of {} are {}", member.name,
                                                           fmt::join(own, ", "))));
    }
    return help;
}

}  // namespace

std::optional<ReadComponent> read_component(const SourceNode& node, const Field& field,
                                            const std::string& what, Diagnostics& diagnostics) {
    static const SourceNode no_fields = make_map();
    SourceNode name = node;
    const SourceNode* fields = &no_fields;
    if (node.is_map() && node.entries.size() == 1) {
        const SourceEntry& entry = node.entries[0];
        name = make_scalar(entry.key, entry.key_span);
        fields = &entry.value;
    } else if (!node.is_scalar()) {
        Diagnostic& error = diagnostics.error(
            Code::wrong_type, node.span,
            fmt::format(
                "`{}` of {} is {}; it must be {}", field.name, what,
                node.is_map() ? fmt::format("a map of {}", node.entries.size()) : describe(node),
                describe(FieldType::variant)));
        error.help = written_example(field, node);
        return std::nullopt;
    }
    // {type: adam}, as others write it.
    if (node.is_map() && !field.components->find(name.text) && fields->is_scalar() &&
        field.components->find(fields->text)) {
        diagnostics.error(Code::wrong_type, name.span,
                          fmt::format("`{}` of {} has a field `{}`; it must be {}", field.name,
                                      what, name.text, describe(FieldType::variant)),
                          fmt::format("write `{}`, or `{}: {{...}}` with its fields", fields->text,
                                      fields->text));
        return std::nullopt;
    }
    // {_target_: torch.optim.SGD(lr=0.1)}
    if (node.is_map() && fields->is_scalar() && named_type(node)) {
        if (const std::string here = member_as_here(*fields, *field.components); !here.empty()) {
            diagnostics.error(Code::wrong_type, name.span,
                              fmt::format("`{}` of {} has a field `{}`; it must be {}", field.name,
                                          what, name.text, describe(FieldType::variant)),
                              fmt::format("write `{}`", here));
            return std::nullopt;
        }
    }
    Field choice = field;
    choice.type = FieldType::choice;
    const auto chosen = read_value(name, choice, what, diagnostics);
    if (!chosen) return std::nullopt;
    if (fields->is_null()) fields = &no_fields;
    if (!fields->is_map()) {
        Diagnostic& error =
            diagnostics.error(Code::wrong_type, fields->span,
                              fmt::format("`{}` of {} is given {}; it takes a map of fields",
                                          name.text, field.name, describe(*fields)));
        const FieldTable& table = *field.components->find(name.text)->fields;
        // The given value may be that of its first field.
        Diagnostics unheard;
        const bool first =
            !table.empty() && read_value(*fields, table.front(), name.text, unheard).has_value();
        if (first && fields->is_scalar())
            error.help = fmt::format("such as `{}: {{{}: {}}}`", name.text, table.front().name,
                                     fields->text);
        else if (first && fields->is_list())
            error.help = fmt::format("such as `{}: {{{}: {}}}`", name.text, table.front().name,
                                     list_text(*fields));
        else if (fields->is_scalar() && (fields->text == "true" || table.empty()))
            error.help = fmt::format("write `{}`", name.text);
        else if (!table.empty())
            error.help = fmt::format("such as `{}: {{{}: ...}}`", name.text, table.front().name);
        return std::nullopt;
    }
    ReadComponent read;
    read.component.type = std::get<std::string>(*chosen);
    read.span = name.span;
    const ComponentInfo& member = *field.components->find(read.component.type);
    FieldValues values = read_fields(
        *fields, *member.fields,
        {read.component.type, name.span, fields_of_siblings(*field.components, member, *fields)},
        diagnostics);
    if (!values.sound) return std::nullopt;
    read.component.attributes = std::move(values.values);
    read.spans = std::move(values.spans);
    if (member.check) {
        const int errors = diagnostics.error_count();
        member.check(read, diagnostics);
        if (diagnostics.error_count() != errors) return std::nullopt;
    }
    return read;
}

ReadComponents read_components(const SourceNode& node, const Field& field, const std::string& what,
                               Diagnostics& diagnostics) {
    ReadComponents result;
    const auto add = [&](const SourceNode& item, const Field& as, std::size_t index) {
        if (auto read = read_component(item, as, what, diagnostics)) {
            result.list.push_back(std::move(*read));
            result.indices.push_back(index);
        } else {
            result.sound = false;
        }
    };
    if (!node.is_list()) {
        add(node, field, 0);
        return result;
    }
    const std::vector<SourceNode>& items = node.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string name = fmt::format("{}[{}]", field.name, i);
        Field item = field;
        item.name = name;
        add(items[i], item, i);
    }
    return result;
}

void require_one_of(const ReadComponent& read, const std::vector<std::string>& fields,
                    Diagnostics& diagnostics) {
    std::string all;
    const std::string* first = nullptr;
    const std::string* second = nullptr;
    for (const std::string& field : fields) {
        all += fmt::format("{}`{}`",
                           all.empty()                ? ""
                           : &field == &fields.back() ? " and "
                                                      : ", ",
                           field);
        if (!read.has(field)) continue;
        if (!first)
            first = &field;
        else if (!second)
            second = &field;
    }
    if (first && !second) return;
    if (!first) {
        diagnostics.error(
            Code::conflicting_fields, read.span,
            fmt::format("{} has none of {}; it must have one of them", read.component.type, all));
        return;
    }
    Diagnostic& error =
        diagnostics.error(Code::conflicting_fields, read.span_of(*second),
                          fmt::format("{} has both `{}` and `{}`; it takes one of {}",
                                      read.component.type, *first, *second, all));
    error.notes.push_back({read.span_of(*first), fmt::format("`{}` is given here", *first)});
}

plan::Component default_component(const ComponentInfo& member) {
    plan::Component component{std::string(member.name), {}};
    for (const Field& field : *member.fields)
        if (field.fallback) component.attributes[std::string(field.name)] = *field.fallback;
    return component;
}

const FieldTable& no_fields() {
    static const FieldTable table;
    return table;
}

}  // namespace dtnn::compiler
