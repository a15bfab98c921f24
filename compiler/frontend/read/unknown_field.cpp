#include "compiler/frontend/read/unknown_field.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/op.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {

FieldScope FieldScope::with_more() const {
    FieldScope whole = *this;
    if (more_elsewhere) whole.elsewhere.merge(more_elsewhere());
    return whole;
}

std::string help_of_unknown(const std::string& key, const std::vector<std::string>& names,
                            const FieldScope& scope) {
    if (std::string help = help_by_name(key, names); !help.empty()) return help;
    for (const std::string& name : names)
        if (name == key + "s" || key == name + "s") return fmt::format("did you mean `{}`?", name);
    const auto elsewhere = scope.elsewhere.find(key);
    if (elsewhere != scope.elsewhere.end()) return elsewhere->second;
    // `epochs 10`, `epochs = 10`, `epochs:10`
    const std::size_t end = key.find_first_of(" =:");
    if (end != std::string::npos &&
        std::find(names.begin(), names.end(), key.substr(0, end)) != names.end()) {
        const std::size_t value = key.find_first_not_of(" =:", end);
        if (value != std::string::npos)
            return fmt::format("a colon and a space part name and value: `{}: {}`",
                               key.substr(0, end), key.substr(value));
    }
    // Among fields in braces a comma ends a value.
    if (key.find_first_not_of("0123456789)") == std::string::npos)
        return "a comma parts fields: numbers have a point, and lists stand in brackets";
    if (const std::size_t slash = key.find('/');
        std::find(names.begin(), names.end(), key.substr(0, slash)) != names.end())
        return "points join the names of a path: `training.epochs`";
    if (key.starts_with('-'))
        return "options stand on the command line, as in `dtnnc slurm PLAN --nodes 2`";
    if (std::string help = help_by_remark(key); !help.empty()) return help;
    if (const OpDef* op = find_op(key); op && op->layer)
        return fmt::format("it is a layer of its own, in a model's `layers`: `{}`", op->example);
    for (const OtherWord* other : find_other_words(key))
        if (const auto there = scope.elsewhere.find(std::string(other->ours));
            there != scope.elsewhere.end()) {
            if (other->tools.empty()) return there->second;
            // A remark says where.
            if (!other->remark.empty()) return help_text(*other);
            return fmt::format("{}; {}", help_text(*other), there->second);
        }
    if (std::string help = suggest_word(key, names, ""); !help.empty()) return help;
    // `variable "depth"`
    if (const std::size_t blank = key.find(' '); blank != std::string::npos)
        if (std::string help = suggest_word(key.substr(0, blank), names, ""); !help.empty())
            return help;
    return suggest(key, names, "the fields of " + scope.what);
}

}  // namespace dtnn::compiler
