#include "compiler/frontend/compose/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/input_file.hpp"
#include "base/standard_input.hpp"
#include "base/text.hpp"
#include "compiler/frontend/compose/meant_instead.hpp"
#include "compiler/frontend/compose/parameter_types.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"
#include "compiler/support/other_words.hpp"
#include "plan/json/json.hpp"

namespace dtnn::compiler {
namespace fs = std::filesystem;
namespace {

std::string article(std::string_view kind) {
    return with_article(kind) + " spec";
}

/// The text of a regular file of at most a little more than the limit (the reader reports the
/// excess).
std::optional<std::string> file_text(const LoadOptions& options, const std::string& file,
                                     std::string& reason) {
    if (const auto given = options.texts.find(file); given != options.texts.end())
        return given->second;
    const InputFile input(file);
    if (!input.fault() && input.size() > std::int64_t(kMaximumFileBytes))
        return std::string(kMaximumFileBytes + 1, ' ');
    std::string text;
    const ReadFault fault = input.fault()
                                ? input.fault()
                                : input.read_all(std::int64_t(kMaximumFileBytes), "a spec", text);
    if (!fault) return text;
    reason = lower(fault.reason());
    return std::nullopt;
}

/// Whether the text says of which kind it is: `kind: job`, wherever.
bool says_its_kind(std::string_view text) {
    constexpr std::string_view kKey = "kind", kBlanks = " \t\"'";
    for (std::size_t at = text.find(kKey); at != std::string_view::npos;
         at = text.find(kKey, at + 1)) {
        std::string_view rest = text.substr(at + kKey.size());
        rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
        if (!rest.starts_with(':')) continue;
        rest.remove_prefix(1);
        rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
        const std::string_view word = rest.substr(0, rest.find_first_of(" \t\"',}\r\n"));
        if (find_kind(std::string(word))) return true;
    }
    return false;
}

/// Whether diagnostics may show the file's lines. A path in a spec may lead to what its writer may
/// not read, so that only specs are shown: what the command names and is called as specs are, or is
/// handed to it, and what says of which kind it is.
bool may_be_shown(std::string_view text, const std::string& file, bool named_by_command) {
    return (named_by_command &&
            (file.ends_with(".yaml") || file.ends_with(".yml") || file == kStandardInput)) ||
           says_its_kind(text);
}

/// Of a call in a program the function's name.
std::string plain_name(const std::string& text) {
    const std::string name = text.substr(0, text.find('('));
    return name.substr(name.rfind('.') + 1);
}

/// Whether a folder is called as those of a kind are: "specs/models".
bool is_kind_folder(const fs::path& folder) {
    std::error_code error;
    const fs::path file = fs::absolute(folder / "spec.yaml", error).lexically_normal();
    const std::string name = file.parent_path().filename().string();
    return std::any_of(all_kinds().begin(), all_kinds().end(),
                       [&](const KindInfo& kind) { return name == kind.folder; });
}

}  // namespace

void drop_alternative(SourceNode& map, std::string_view key) {
    if (key == "batch_size") map.erase("global_batch_size");
    if (key == "global_batch_size") map.erase("batch_size");
}

SourceNode merge(SourceNode base, SourceNode over, const FieldTable* table) {
    if (!base.is_map() || !over.is_map()) return over;
    // Both in one spec are a mistake, which stays; one over the other replaces it.
    for (const char* key : {"batch_size", "global_batch_size"})
        if (over.find(key) && !(over.find("batch_size") && over.find("global_batch_size")))
            drop_alternative(base, key);
    // Both may have tens of thousands of keys.
    std::unordered_map<std::string, std::size_t> keys;
    for (const SourceEntry& entry : base.entries)
        keys.emplace(entry.key, keys.size());
    for (SourceEntry& entry : over.entries) {
        const auto known = keys.find(entry.key);
        if (known == keys.end()) {
            base.entries.push_back(std::move(entry));
            continue;
        }
        SourceEntry* existing = &base.entries[known->second];
        existing->generation = 0;
        const Field* field = table ? find_field(*table, entry.key) : nullptr;
        const bool other_variant = field && field->type == FieldType::variant &&
                                   field->components && entry.value.is_map() &&
                                   existing->value.is_map() && entry.value.entries.size() == 1 &&
                                   !existing->value.find(entry.value.entries[0].key);
        existing->key_span = entry.key_span;
        existing->replaced = existing->value.items.size();
        existing->value = other_variant
                              ? std::move(entry.value)
                              : merge(std::move(existing->value), std::move(entry.value), nullptr);
    }
    base.span = over.span;
    return base;
}

const SourceNode* Composer::read(const std::string& file) {
    const auto found = files_.find(file);
    if (found != files_.end()) return found->second ? &*found->second : nullptr;
    std::optional<SourceNode>& slot = files_[file];
    std::string reason;
    const auto text = file_text(options_, file, reason);
    if (!text) return nullptr;
    if (may_be_shown(*text, file, file == root_file_) || text->size() > kMaximumFileBytes) {
        slot = read_yaml(file, *text, diagnostics_);
        return slot ? &*slot : nullptr;
    }
    Diagnostics unheard;
    slot = read_yaml(file, *text, unheard);
    if (!slot || !slot->is_map()) {
        slot.reset();
        diagnostics_.error(Code::wrong_type, Span{{file, 1, 1}, 1},
                           "this is no spec, which is a map of fields in YAML",
                           "begin it with `kind: job`, or another kind");
    }
    return slot ? &*slot : nullptr;
}

const KindInfo* Composer::kind_of(const std::string& file) {
    const SourceNode* tree = read(file);
    const SourceEntry* kind = tree ? tree->find("kind") : nullptr;
    return kind && kind->value.is_scalar() ? find_kind(kind->value.text) : nullptr;
}

std::vector<std::string> Composer::on_spec_path(const std::string& name, KindNames wanted,
                                                std::vector<std::string>& others) {
    std::vector<std::string> found;
    const auto fits = [&](const std::string& file) {
        const KindInfo* kind = wanted.size() > 0 ? kind_of(file) : nullptr;
        return !kind || std::find(wanted.begin(), wanted.end(), kind->name) != wanted.end();
    };
    const auto add = [&](const fs::path& path) {
        const std::string file = path.lexically_normal().string();
        std::vector<std::string>& list = fits(file) ? found : others;
        if (std::find(list.begin(), list.end(), file) == list.end()) list.push_back(file);
    };
    for (const std::string& folder : options_.spec_path) {
        for (const fs::path& file : files_named(name, folder, is_kind_folder(folder)))
            add(file);
        for (const KindInfo& kind : all_kinds())
            for (const fs::path& file : files_named(name, fs::path(folder) / kind.folder, true))
                add(file);
        // As everywhere, the first folder that has it counts.
        if (!found.empty()) break;
    }
    return found;
}

std::optional<Composer::Loaded> Composer::load_root(const std::string& path, KindNames wanted) {
    root_file_ = path;
    std::string reason;
    const auto text = file_text(options_, path, reason);
    if (!text) {
        std::vector<std::string> found, others;
        if (!is_path(path)) found = on_spec_path(path, wanted, others);
        if (found.size() == 1) {
            root_file_ = found[0];
            return load(root_file_, nullptr, Span{});
        }
        if (found.empty() && !others.empty()) {
            diagnostics_.error(
                Code::wrong_kind, Span{},
                fmt::format("`{}` is the name of {}; here {} is wanted", path,
                            article(kind_of(others[0])->name), fmt::join(wanted, " or ")),
                fmt::format("it is {}", others[0]));
            return std::nullopt;
        }
        Diagnostic& error = diagnostics_.error(
            Code::cannot_read, Span{},
            found.empty() ? fmt::format("cannot read `{}`: {}", path, reason)
                          : fmt::format("`{}` is the name of {} specs", path, found.size()));
        if (!found.empty())
            error.help = fmt::format("say which: {}", fmt::join(found, ", "));
        else if (path.find('=') != std::string::npos)
            error.help = fmt::format("fields are set by `--set {}`", path);
        return std::nullopt;
    }
    if (plan::looks_like_plan(*text)) {
        diagnostics_.error(
            Code::wrong_kind, Span{},
            fmt::format("`{}` is a plan, which was compiled already; here a spec is wanted", path),
            "dtnnc summary, settings and diff, and dtnn-run, take plans");
        return std::nullopt;
    }
    return load(path, nullptr, Span{});
}

void Composer::refuse_other_kind(const Span& reference, const KindInfo& kind,
                                 const std::string& file) {
    Diagnostic& error =
        diagnostics_.error(Code::wrong_kind, reference,
                           fmt::format("`{}` is {}; here {} is wanted", file,
                                       article(kind_of(file)->name), article(kind.name)));
    error.notes.push_back({read(file)->find("kind")->value.span, "its kind is given here"});
}

std::optional<Composer::Loaded> Composer::load(const std::string& file, const KindInfo* wanted,
                                               const Span& reference) {
    const auto note_reference = [&](Diagnostic& error) {
        if (wanted) error.notes.push_back({reference, "it is referred to here"});
    };
    const SourceNode* source = read(file);
    if (!source) return std::nullopt;
    if (!source->is_map()) {
        Diagnostic& error = diagnostics_.error(
            Code::wrong_type, source->span,
            fmt::format("the spec is {}; it must be a map of fields", describe(*source)));
        // Assignments, `epochs = 3`, are one text to YAML.
        const std::size_t equals = source->is_scalar() ? source->text.find('=') : std::string::npos;
        error.help = equals == std::string::npos
                         ? "begin with `kind: job`, or another kind"
                         : "a colon and a space part name and value, as in `epochs: 3`; begin with "
                           "`kind: job`, or another kind";
        note_reference(error);
        return std::nullopt;
    }
    const SourceEntry* kind_entry = source->find("kind");
    if (!kind_entry) {
        Diagnostic& error =
            diagnostics_.error(Code::missing_field, Span{{file, 1, 1}, 1},
                               "the spec has no `kind`; every file says which it is");
        error.help = help_without_kind(*source);
        note_reference(error);
        return std::nullopt;
    }
    const KindInfo* kind =
        kind_entry->value.is_scalar() ? find_kind(kind_entry->value.text) : nullptr;
    if (!kind) {
        std::vector<std::string> names;
        for (const KindInfo& one : all_kinds())
            names.emplace_back(one.name);
        diagnostics_.error(Code::unknown_kind, kind_entry->value.span,
                           fmt::format("`kind` is {}; it must be one of {}",
                                       describe(kind_entry->value), kind_names()),
                           suggest(kind_entry->value.text, names, ""));
        return std::nullopt;
    }
    if (wanted && kind != wanted) {
        refuse_other_kind(reference, *wanted, file);
        return std::nullopt;
    }

    Loaded loaded{kind, *source, file};
    loading_.push_back(file);
    const bool merged = merge_extends(loaded.tree, *kind);
    loading_.pop_back();
    if (!merged) return std::nullopt;
    // A spec without a name is called after its own file, not after the file that it extends.
    if (!source->find("name")) {
        loaded.tree.erase("name");
        loaded.tree.entries.insert(loaded.tree.entries.begin(),
                                   {"name", Span{}, make_scalar(stem_of(file))});
    }
    return loaded;
}

bool Composer::merge_extends(SourceNode& tree, const KindInfo& kind) {
    if (const SourceEntry* entry = tree.find("kind")) {
        if (!entry->value.is_scalar() || entry->value.text != kind.name) {
            diagnostics_.error(Code::wrong_kind, entry->value.span,
                               fmt::format("`kind` is {}; here {} is wanted",
                                           describe(entry->value), article(kind.name)));
            return false;
        }
        tree.erase("kind");
    }
    const SourceEntry* entry = tree.find("extends");
    if (!entry) return true;
    const SourceNode reference = entry->value;
    tree.erase("extends");
    if (!reference.is_scalar()) {
        diagnostics_.error(Code::wrong_type, reference.span,
                           fmt::format("`extends` of {} is {}; it must be a name or a path",
                                       kind.name, describe(reference)),
                           reference.is_list()
                               ? "it names one spec, which may extend the next"
                               : "write those fields here, or name the spec that has them");
        return false;
    }
    const auto file = find(reference, kind);
    if (!file) return false;
    const auto known = std::find(loading_.begin(), loading_.end(), *file);
    if (known != loading_.end()) {
        std::string circle;
        for (auto step = known; step != loading_.end(); ++step)
            circle += fmt::format("{} -> ", *step);
        diagnostics_.error(Code::extends_cycle, reference.span,
                           fmt::format("`extends` goes in a circle: {}{}", circle, *file));
        return false;
    }
    if (loading_.size() >= kMaximumExtends) {
        diagnostics_.error(
            Code::too_deep, reference.span,
            fmt::format("specs extend each other more than {} deep", kMaximumExtends));
        return false;
    }
    auto base = load(*file, &kind, reference.span);
    if (!base) return false;
    for (SourceEntry& field : base->tree.entries) {
        ++field.generation;
        for (SourceEntry& inner : field.value.entries)
            ++inner.generation;
    }
    if (kind.kind == SpecKind::model) check_parameters(base->tree, tree, diagnostics_);
    tree = merge(std::move(base->tree), std::move(tree), kind.fields);
    return true;
}

std::optional<std::string> Composer::find(const SourceNode& reference, const KindInfo& kind) {
    const std::string& name = reference.text;
    const bool on_command_line = reference.span.place.file.starts_with("--set ");
    const std::string& asking = on_command_line ? root_file_ : reference.span.place.file;
    const fs::path own = fs::path(asking).parent_path();
    std::error_code error;

    if (name.find("${") != std::string::npos) {
        diagnostics_.error(Code::wrong_type, reference.span,
                           fmt::format("the {} is named by an expression; expressions stand in the "
                                       "layers, the input and the defaults of models",
                                       kind.name),
                           fmt::format("write a name, or give one by `--set {}=NAME`", kind.name));
        return std::nullopt;
    }
    if (is_path(name)) {
        const fs::path path(name);
        const std::string file =
            (on_command_line || path.is_absolute() ? path : own / path).lexically_normal().string();
        std::string reason;
        if (file_text(options_, file, reason)) return file;
        std::vector<std::string> others;
        const std::string stem = stem_of(name);
        const bool known = !on_spec_path(stem, {kind.name}, others).empty();
        Diagnostic& error_of_path =
            diagnostics_.error(Code::unknown_reference, reference.span,
                               fmt::format("cannot read `{}`: {}", file, reason));
        error_of_path.help = help_of_reference(reference, kind);
        if (known && error_of_path.help.empty())
            error_of_path.help =
                fmt::format("without a folder and an ending, `{}` is one on the spec path", stem);
        return std::nullopt;
    }

    // A folder of the kind may have rooms; the file that asks may stand in one of its own kind's.
    struct SpecFolder {
        fs::path folder;
        bool has_rooms;
    };
    std::vector<SpecFolder> places = {{own, false}, {own / ".." / kind.folder, true}};
    if (is_kind_folder(own / "..")) places.push_back({own / ".." / ".." / kind.folder, true});
    for (const std::string& folder : options_.spec_path) {
        places.push_back({folder, is_kind_folder(folder)});
        places.push_back({fs::path(folder) / kind.folder, true});
    }
    std::vector<std::string> searched, candidates, others;
    for (const auto& [folder, has_rooms] : places) {
        std::vector<fs::path> files = files_named(name, folder.lexically_normal(), has_rooms);
        // A job may have the name of its dataset: a spec of another kind is no answer, and the
        // search goes on.
        std::erase_if(files, [&](const fs::path& file) {
            const KindInfo* other = kind_of(file.string());
            if (!other || other == &kind) return false;
            others.push_back(file.string());
            return true;
        });
        if (files.size() == 1) return files[0].string();
        if (files.size() > 1) {
            std::vector<std::string> names;
            for (const fs::path& file : files)
                names.push_back(file.string());
            diagnostics_.error(Code::unknown_reference, reference.span,
                               fmt::format("`{}` is the name of {} specs", name, files.size()),
                               fmt::format("say which: {}", fmt::join(names, ", ")));
            return std::nullopt;
        }
        std::string shown = folder.lexically_normal().string();
        if (shown.size() > 1 && shown.ends_with('/')) shown.pop_back();
        if (shown.empty()) shown = ".";
        if (std::find(searched.begin(), searched.end(), shown) != searched.end()) continue;
        if (!fs::is_directory(folder, error)) continue;
        searched.push_back(shown);
        std::vector<fs::path> rooms;
        if (has_rooms) rooms = rooms_of(folder);
        rooms.push_back(folder);
        for (const fs::path& room : rooms)
            for (std::string& found : spec_names(room))
                candidates.push_back(std::move(found));
    }
    // The file that asks is none that anyone means.
    std::erase_if(others,
                  [&](const std::string& file) { return fs::equivalent(file, asking, error); });
    if (!others.empty()) {
        refuse_other_kind(reference.span, kind, others[0]);
        return std::nullopt;
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const std::string where = searched.empty() ? std::string("no folder of specs was found")
                                               : fmt::format("there is no {}.yaml in {}", name,
                                                             fmt::join(searched, ", "));
    Diagnostic& failure =
        diagnostics_.error(Code::unknown_reference, reference.span,
                           fmt::format("no {} is named `{}`: {}", kind.name, name, where));
    failure.help = help_of_reference(reference, kind);
    if (failure.help.empty()) failure.help = suggest(name, candidates, "");
    // torchvision.models.resnet18()
    if (failure.help.empty()) failure.help = suggest(plain_name(name), candidates, "");
    if (failure.help.empty()) failure.help = "add the folder where it lies with --spec-path";
    return std::nullopt;
}

bool Composer::refuse_named_otherwise(const SourceNode& map, const KindInfo& kind) {
    const std::string_view needed = kind.kind == SpecKind::model     ? "layers"
                                    : kind.kind == SpecKind::dataset ? "type"
                                                                     : "";
    if (needed.empty() || map.find(needed) || map.find("extends") || map.find("kind")) return false;
    for (const SourceEntry& entry : map.entries) {
        if (entry.key_span.place.file.empty()) continue;  // made, not written
        const bool is_name = entry.key == "name" && entry.value.is_scalar();
        if (!is_name && find_field(*kind.fields, entry.key)) continue;
        const std::string& named = is_name ? entry.value.text : entry.key;
        std::vector<std::string> others;
        if (is_path(named) || on_spec_path(named, {kind.name}, others).empty()) continue;
        diagnostics_.error(
            Code::missing_field, entry.key_span,
            fmt::format("this {} has neither `{}` nor `extends`", kind.name, needed),
            fmt::format("to take over the {0} `{1}`, write `extends: {1}`", kind.name, named));
        return true;
    }
    return false;
}

std::optional<SourceNode> Composer::resolve(const SourceNode& reference, const KindInfo& kind,
                                            const std::string& what) {
    if (reference.is_map()) {
        if (refuse_named_otherwise(reference, kind)) return std::nullopt;
        SourceNode tree = reference;
        if (!merge_extends(tree, kind)) return std::nullopt;
        return tree;
    }
    if (!reference.is_scalar()) {
        Diagnostic& error =
            diagnostics_.error(Code::wrong_type, reference.span,
                               fmt::format("{} is {}; it must be {}", what, describe(reference),
                                           describe(FieldType::reference)));
        const bool fields = std::all_of(
            reference.items.begin(), reference.items.end(),
            [](const SourceNode& item) { return item.is_map() && item.entries.size() == 1; });
        if (reference.is_list() && fields && !reference.items.empty())
            error.help =
                fmt::format("fields are a map, without brackets and dashes: `{}: {{{}: ...}}`",
                            kind.name, reference.items[0].entries[0].key);
        else if (reference.is_list() && what.ends_with(" of job"))
            error.help =
                fmt::format("name one; `--sweep {}=NAME,NAME` compiles several", kind.name);
        return std::nullopt;
    }
    const auto file = find(reference, kind);
    if (!file) return std::nullopt;
    auto loaded = load(*file, &kind, reference.span);
    if (!loaded) return std::nullopt;
    loaded->tree.span = reference.span;
    return std::move(loaded->tree);
}

}  // namespace dtnn::compiler
