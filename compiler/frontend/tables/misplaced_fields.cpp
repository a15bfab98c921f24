#include "compiler/frontend/tables/misplaced_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

using HelpByField = std::map<std::string, std::string>;

bool is_field_of_others(std::string_view word) {
    const std::vector<const OtherWord*> found = find_other_words(word);
    return std::any_of(found.begin(), found.end(), [&](const OtherWord* one) {
        return one->kind == WordKind::field && !one->tools.empty() && one->word == word;
    });
}

/// The fields of a kind, for one that looks for words in a spec of kind `from`.
class Walk {
  public:
    Walk(const KindInfo& kind, std::string_view from, HelpByField& help)
        : kind_(kind), own_(kind.name == from), help_(help) {
        for (const Field& field : *find_kind(from)->fields)
            known_.emplace_back(field.name);
    }

    void direct() {
        if (own_) return;
        for (const Field& field : *kind_.fields)
            add(field.name, fmt::format("`{}` belongs to the {}", field.name, kind_.name));
    }

    void nested() {
        for (const Field& field : *kind_.fields)
            if (field.components) members(field);
        for (const Field& field : *kind_.fields)
            if (field.fields) inner(field);
    }

  private:
    void add(std::string_view word, const std::string& where) {
        for (const std::string_view one : known_)
            if (one == word) return;
        help_.emplace(word, where);
    }

    /// "`optimizer: {TEXT}`", with the kind where it is another.
    std::string written(const Field& field, std::string_view text) const {
        const bool list =
            field.type == FieldType::variant_list || field.type == FieldType::record_list;
        return fmt::format("{}`{}: {}{}{}`", own_ ? "" : fmt::format("in the {}: ", kind_.name),
                           field.name, list ? "[" : "", text, list ? "]" : "");
    }

    void members(const Field& field) {
        const std::string_view apart = own_ ? ": " : ", ";
        for (const ComponentInfo& member : field.components->members) {
            // `precision: 16` is no metric.
            if (is_field_of_others(member.name)) continue;
            add(member.name, fmt::format("it is {}{}{}", field.components->group, apart,
                                         written(field, member.name)));
            for (const Field& one : *member.fields)
                add(one.name, fmt::format("it is the {}'s{}{}", field.components->name, apart,
                                          written(field, fmt::format("{{{}: {{{}: ...}}}}",
                                                                     member.name, one.name))));
        }
    }

    /// The field that an entry cannot be without: of a group its pattern.
    static std::string key_of(const Field& field) {
        for (const Field& one : *field.fields)
            if (!one.optional && !one.fallback && !one.found)
                return fmt::format("{}: ..., ", one.name);
        return "";
    }

    void inner(const Field& field) {
        for (const Field& one : *field.fields)
            add(one.name,
                fmt::format("it stands in `{}`{}{}", field.name, own_ ? ": " : ", ",
                            written(field, fmt::format("{{{}{}: ...}}", key_of(field), one.name))));
    }

    const KindInfo& kind_;
    bool own_;
    HelpByField& help_;
    std::vector<std::string_view> known_;
};

HelpByField homes_for(std::string_view from) {
    HelpByField help;
    const auto walk = [&](const KindInfo& kind) { return Walk(kind, from, help); };
    walk(*find_kind(from)).nested();
    // The kinds that most people look for come first: `classes` are the dataset's, `momentum` an
    // optimizer's.
    for (const char* kind : {"training", "dataset", "model", "job", "machine"})
        walk(*find_kind(kind)).direct();
    for (const char* kind : {"training", "dataset", "model", "job"})
        if (kind != from) walk(*find_kind(kind)).nested();
    return help;
}

}  // namespace

const std::map<std::string, std::string>& help_for_misplaced(std::string_view kind) {
    static const auto all = [] {
        std::map<std::string, HelpByField, std::less<>> by_kind;
        for (const KindInfo& one : all_kinds())
            by_kind.emplace(one.name, homes_for(one.name));
        return by_kind;
    }();
    return all.find(kind)->second;
}

}  // namespace dtnn::compiler
