#include "compiler/frontend/compose/meant_instead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace fs = std::filesystem;

std::string kind_names() {
    std::string names;
    for (const KindInfo& kind : all_kinds())
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", kind.name);
    return names;
}

std::string help_without_kind(const SourceNode& spec) {
    for (const SourceEntry& entry : spec.entries) {
        if (lower(entry.key) == "kind") return fmt::format("write `kind` for `{}`", entry.key);
        if (entry.key == "type" && entry.value.is_scalar() && find_kind(entry.value.text))
            return fmt::format("write `kind: {}`", entry.value.text);
    }
    const KindInfo* best = nullptr;
    int most = 0;
    for (const KindInfo& kind : all_kinds()) {
        std::vector<std::string> names;
        for (const Field& field : *kind.fields)
            if (field.name != "name" && field.name != "description" && field.name != "extends")
                names.emplace_back(field.name);
        int known = 0;
        for (const SourceEntry& entry : spec.entries)
            known += std::find(names.begin(), names.end(), entry.key) != names.end() ||
                     !help_by_name(entry.key, names).empty();
        if (known > most) best = &kind;
        if (known == most) best = nullptr;
        most = std::max(most, known);
    }
    if (!best) return fmt::format("the kinds are {}", kind_names());
    return fmt::format("its fields are those of {}: begin with `kind: {}`",
                       with_article(best->name), best->name);
}

std::string help_of_reference(const SourceNode& reference, const KindInfo& kind) {
    const std::string& text = reference.text;
    // `epochs = 3`, `epochs:3`, `epochs` and a colon of another script.
    const std::size_t end = std::min(text.find_first_of(" =:"), text.find("\uFF1A"));
    if (end != std::string::npos && find_field(*kind.fields, text.substr(0, end))) {
        std::string value = text.substr(end);
        value.erase(0, value.starts_with("\uFF1A") ? 3 : 0);
        value.erase(0, std::min(value.find_first_not_of(" =:"), value.size()));
        return fmt::format("a colon and a space part name and value: `{}: {}`", text.substr(0, end),
                           value);
    }
    if (kind.kind == SpecKind::dataset) {
        std::error_code error;
        const fs::path data = fs::path(reference.span.place.file).parent_path() / text;
        const auto ends = {".csv", ".tsv", ".txt", ".npz", ".zip", ".tar", ".tar.gz", ".tgz"};
        const bool is_file = std::any_of(ends.begin(), ends.end(),
                                         [&](const char* one) { return text.ends_with(one); });
        if (is_file || fs::is_directory(data, error)) {
            const std::string stem =
                stem_of(text.ends_with('/') ? text.substr(0, text.size() - 1) : text);
            return fmt::format(
                "these are data: `dtnnc data {} --write {}.yaml` writes a spec of "
                "them, and `dataset: ./{}.yaml` names that",
                text, stem, stem);
        }
    }
    const bool number =
        !text.empty() && text.find_first_not_of("0123456789.-") == std::string::npos;
    if (number && !reference.quoted)
        return fmt::format("write its fields, as in `{}: {{{}}}`", kind.name,
                           kind.kind == SpecKind::training ? "epochs: " + text : "extends: NAME");
    return "";
}

}  // namespace dtnn::compiler
