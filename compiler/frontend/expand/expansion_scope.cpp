#include "compiler/frontend/expand/expansion_scope.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/formula/formula.hpp"
#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {
namespace {

/// A name that is missing at one place in more repetitions than this is the same mistake again.
constexpr int kMissingAtPlace = 16;

void collect_given(const SourceNode& list, std::set<std::string>& names) {
    for (const SourceNode& item : list.items) {
        const RawEntry entry = raw_entry(item);
        if (entry.value && entry.value->is_map())
            if (const SourceEntry* name = entry.value->find("name");
                name && name->value.is_scalar() && !has_formula(name->value.text) &&
                name->value.text.size() <= kMaximumNameBytes)
                names.insert(name->value.text);
        for (const SourceNode* inner : nested_lists(entry))
            collect_given(*inner, names);
    }
}

}  // namespace

const std::set<std::string>& LayerNames::given_in(const SourceNode& list) {
    const auto [found, fresh] = given_.try_emplace(&list);
    if (fresh) collect_given(list, found->second);
    return found->second;
}

std::string LayerNames::make(const LayerScope& scope, const std::string& type, int number) const {
    std::string name = fmt::format("{}_{}", type, number);
    while ((scope.given && scope.given->contains(name)) || entries_.contains(scope.path(name)))
        name += "_";
    return scope.path(name);
}

void LayerNames::declare(const std::string& path, int index, const Span& span) {
    const auto [found, fresh] = entries_.try_emplace(path, Entry{index, span});
    if (fresh) return;
    Diagnostic& error = diagnostics_.error(Code::duplicate_layer, span,
                                           fmt::format("two layers are named `{}`", path));
    const Span& first = found->second.span;
    const bool same = first.place.file == span.place.file && first.place.line == span.place.line &&
                      first.place.column == span.place.column;
    if (same)
        error.help =
            "give the `repeat` around it a `name`, or write its index into the layer's name";
    else
        error.notes.push_back({first, "the first is here"});
}

bool LayerNames::check_length(const std::string& path, const Span& span) {
    if (path.size() <= kMaximumNameBytes) return true;
    diagnostics_.error(Code::bad_name, span,
                       fmt::format("the layer's name `{}...` has {} characters, the blocks and "
                                   "repeats around it included; it may have {}",
                                   path.substr(0, path.find('/', 40)).substr(0, 40), path.size(),
                                   kMaximumNameBytes),
                       "give it, and what is around it, shorter names");
    return false;
}

std::optional<std::string> LayerNames::path_of(const LayerScope& scope,
                                               const std::string& name) const {
    for (const LayerScope* at = &scope; at; at = at->outer)
        if (std::string path = at->path(name); entries_.contains(path)) return path;
    return std::nullopt;
}

std::optional<int> LayerNames::index_of(const std::string& path) const {
    const auto found = entries_.find(path);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.index);
}

int LayerNames::find(const LayerScope& scope, const std::string& name, const Span& span,
                     NameOf name_of) {
    const bool source = name_of == NameOf::source;
    if (name == "input" && source) return scope.input;
    if (const auto path = path_of(scope, name)) return *index_of(*path);
    const Place& place = span.place;
    if (++missing_at_[{place.file, place.line, place.column}] > kMissingAtPlace)
        return kUnknownSource;
    Missing missing{name, name_of, span, {}, {}, kUnknownSource};
    for (const LayerScope* at = &scope; at; at = at->outer)
        missing.prefixes.push_back(at->prefix);
    missing.chain = probe_.error(Code::unknown_layer, Span{}, "").chain;
    missing_.push_back(std::move(missing));
    return kUnknownSource;
}

void LayerNames::set_reader(std::size_t mark, int layer) {
    for (; mark < missing_.size(); ++mark)
        missing_[mark].reader = layer;
}

void LayerNames::finish(bool incomplete) {
    for (std::size_t i = 0; i < missing_.size(); ++i)
        report(missing_[i], incomplete);
}

void LayerNames::report(const Missing& missing, bool incomplete) {
    for (const std::string& prefix : missing.prefixes) {
        const auto later = entries_.find(prefix + missing.name);
        if (later == entries_.end()) continue;
        if (later->second.index == kUnknownSource) return;
        const bool itself = later->second.index == missing.reader;
        Diagnostic& error = diagnostics_.error(
            Code::later_layer, missing.span,
            itself ? fmt::format(
                         "the layer `{}` reads itself; layers read only what comes before them",
                         missing.name)
                   : fmt::format("`{}` comes later; layers read only what comes before them",
                                 missing.name));
        error.chain = missing.chain;
        if (!itself)
            error.notes.push_back(
                {later->second.span, fmt::format("`{}` is declared here", missing.name)});
        return;
    }
    // A made name such as conv2d_3 may be that of a layer that was refused.
    const bool made = missing.name.find_last_not_of("0123456789") != missing.name.size() - 1 ||
                      missing.name.find('/') != std::string::npos;
    if (incomplete && made) return;
    Diagnostic& error = diagnostics_.error(Code::unknown_layer, missing.span,
                                           fmt::format("no layer is named `{}`", missing.name));
    error.chain = missing.chain;
    const bool suggest = worth_suggesting(diagnostics_, entries_.size());
    std::optional<std::string> near;
    for (const std::string& prefix : missing.prefixes) {
        if (near || !suggest) break;
        near = did_you_mean(missing.name, names_below(prefix));
        if (!near) continue;
        if (const auto found = entries_.find(prefix + *near); found != entries_.end())
            error.notes.push_back(
                {found->second.span, fmt::format("`{}` is declared here", *near)});
    }
    const bool source = missing.name_of == NameOf::source;
    if (!near && suggest && source) near = did_you_mean(missing.name, {"input"});
    error.help = near ? fmt::format("did you mean `{}`?", *near)
                      : fmt::format(
                            "{} names given by `name`, and types numbered in order, such as "
                            "`conv2d_1`",
                            source ? "`from` takes `input`," : "`share` takes");
}

const std::vector<std::string>& LayerNames::names_below(const std::string& prefix) {
    const auto [found, fresh] = below_.try_emplace(prefix);
    if (!fresh) return found->second;
    for (const auto& [path, entry] : entries_)
        if (path.starts_with(prefix)) found->second.push_back(path.substr(prefix.size()));
    std::sort(found->second.begin(), found->second.end());
    return found->second;
}

}  // namespace dtnn::compiler
