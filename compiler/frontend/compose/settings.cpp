// --set a.b=c: a path of field names and list indices, and a YAML value, applied to the composed
// tree.

#include <fmt/format.h>

#include "base/text.hpp"
#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/compose/numbered_layers.hpp"
#include "compiler/frontend/compose/parameter_types.hpp"
#include "compiler/frontend/expand/control_word.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"

namespace dtnn::compiler {
namespace {

/// The field of a part of the job that chooses from a set, or a list of such; null for others.
const Field* component_field(const std::vector<std::string>& path) {
    const KindInfo* kind = path.size() > 1 ? find_kind(path[0]) : nullptr;
    const Field* field = kind ? find_field(*kind->fields, path[1]) : nullptr;
    return field && field->components ? field : nullptr;
}

/// Whether the node that the path's first `depth` parts lead to is one of a set: a name, or a name
/// with its fields. In it, another name replaces the one that is there.
bool is_variant(const std::vector<std::string>& path, std::size_t depth) {
    const Field* field = component_field(path);
    return field && depth == (field->type == FieldType::variant ? 2U : 3U);
}

/// Whether it is a list of such.
bool is_variant_list(const std::vector<std::string>& path, std::size_t depth) {
    const Field* field = component_field(path);
    return field && field->type == FieldType::variant_list && depth == 2;
}

/// Whether the value under this key is a list of layers, or of such lists.
bool is_layer_list(std::string_view key) {
    return holds_layers(key) || key == "branches";  // Of layers that join others.
}

/// An entry of a list of layers that is one type with its fields.
SourceEntry* typed_entry(SourceNode& item) {
    return item.is_map() && item.entries.size() == 1 ? &item.entries[0] : nullptr;
}

/// The maps of fields that have a `name`, of a list of layers and of the lists in it, with their
/// names. Blocks are scopes of their own: their layers are reached through `blocks`.
void collect_named(SourceNode& list, std::vector<std::pair<std::string, SourceEntry*>>& named) {
    for (SourceNode& item : list.items) {
        if (item.is_list()) collect_named(item, named);
        SourceEntry* entry = typed_entry(item);
        if (!entry) continue;
        if (entry->value.is_list()) collect_named(entry->value, named);
        if (!entry->value.is_map()) continue;
        if (const SourceEntry* name = entry->value.find("name");
            name && name->value.is_scalar() && !name->value.text.empty())
            named.emplace_back(name->value.text, entry);
        for (SourceEntry& field : entry->value.entries)
            if (is_layer_list(field.key) && field.value.is_list())
                collect_named(field.value, named);
    }
}

/// What places in a setting call it: as it is, or the beginning of a long one, because every value
/// in it has the name.
std::string name_of_setting(const std::string& argument, std::ptrdiff_t index) {
    constexpr std::size_t kLongest = 300, kShown = 100;
    if (argument.size() <= kLongest) return argument;
    std::size_t cut = kShown;
    while (!begins_character(argument[cut]))
        --cut;
    return fmt::format("{}... (setting {})", argument.substr(0, cut), index + 1);
}

}  // namespace

std::vector<Composer::Setting> Composer::parse_settings() {
    std::vector<Setting> settings;
    for (const std::string& text : options_.settings) {
        Setting setting;
        const std::string argument = "--set " + text;
        setting.argument = name_of_setting(argument, &text - options_.settings.data());
        constexpr std::size_t kBegin = 6;
        const std::size_t equals = argument.find('=', kBegin);
        const auto span = [&](std::size_t begin, std::size_t end) {
            return Span{{setting.argument, 1, int(characters(argument.substr(0, begin))) + 1},
                        std::max(1, int(characters(argument.substr(begin, end - begin))))};
        };
        diagnostics_.add_file(setting.argument, argument);
        if (equals == std::string::npos) {
            diagnostics_.error(Code::bad_setting, span(kBegin, argument.size()),
                               "a setting without `=`; it must be path=value",
                               "such as --set training.batch_size=128");
            continue;
        }
        bool sound = true;
        for (std::size_t begin = kBegin; begin <= equals;) {
            // An index may stand behind a dot or in brackets, as resolved values have it.
            const std::size_t dot = std::min(argument.find('.', begin), equals);
            const std::size_t open = argument.find('[', begin), close = argument.find(']', begin);
            if (open > begin && open < close && close + 1 == dot &&
                setting.path.size() < std::size_t(kMaximumDepth)) {
                setting.path.push_back(argument.substr(begin, open - begin));
                setting.spans.push_back(span(begin, open));
                setting.path.push_back(argument.substr(open + 1, close - open - 1));
                setting.spans.push_back(span(open + 1, close));
                begin = dot + 1;
                continue;
            }
            const std::size_t end = dot;
            if (setting.path.size() >= std::size_t(kMaximumDepth)) {
                diagnostics_.error(Code::bad_setting, span(begin, end),
                                   fmt::format("a setting with more than {} names in its path; "
                                               "specs are not nested as deep",
                                               kMaximumDepth));
                sound = false;
                break;
            }
            if (begin == end) {
                diagnostics_.error(
                    Code::bad_setting, span(begin, begin + 1),
                    "a setting with an empty name in its path; it must be names joined by dots",
                    "such as --set training.batch_size=128");
                sound = false;
                break;
            }
            setting.path.push_back(argument.substr(begin, end - begin));
            setting.spans.push_back(span(begin, end));
            begin = end + 1;
        }
        if (!sound) continue;
        auto value = read_yaml_value(setting.argument, argument, equals + 1, diagnostics_);
        if (!value) continue;
        setting.value = std::move(*value);
        settings.push_back(std::move(setting));
    }
    return settings;
}

namespace {

/// One setting on its way through the tree: what each part of its path leads to.
class Walk {
  public:
    Walk(const std::vector<std::string>& path, const std::vector<Span>& spans,
         const SourceNode& value, Diagnostics& diagnostics)
        : path_(path), spans_(spans), value_(value), diagnostics_(diagnostics) {}

    void run(SourceNode& job) {
        node_ = &job;
        for (; depth_ < path_.size(); ++depth_)
            if (!step()) return;
        *node_ = value_;
    }

  private:
    const std::string& key() const { return path_[depth_]; }
    const Span& span() const { return spans_[depth_]; }
    bool last() const { return depth_ + 1 == path_.size(); }
    /// Whether the path so far is that of a map in the model: model.parameters.
    bool below(std::string_view field, std::size_t depth) const {
        return depth_ == depth && path_[0] == "model" && path_[1] == field;
    }

    /// Whether the node is one of a set.
    bool at_variant() const { return !in_member_ && is_variant(path_, depth_); }

    bool fail(const std::string& text, const std::string& help = "", const Span& note = {},
              const char* note_text = "", Code code = Code::bad_setting) {
        Diagnostic& error = diagnostics_.error(code, span(), text);
        error.help = help;
        if (!note.place.file.empty()) error.notes.push_back({note, note_text});
        return false;
    }

    bool step() {
        // A list of one may be written without its brackets.
        if (is_variant_list(path_, depth_) && !node_->is_list()) {
            SourceNode list;
            list.kind = SourceNode::Kind::list;
            list.span = node_->is_null() ? span() : node_->span;
            if (!node_->is_null()) list.items.push_back(std::move(*node_));
            *node_ = std::move(list);
        }
        if (node_->is_list()) return in_list();
        if (below("parameters", 2)) return parameter();
        if (below("blocks", 2) && !(node_->is_map() && node_->find(key())))
            return undeclared("the model has no block `{}`", "blocks", Code::bad_setting);
        spell_out();
        const bool layer = at_layer_ && typed_entry(*node_);
        at_layer_ = false;
        if (layer && node_->entries[0].key != key())
            return fail(fmt::format("the layer is `{}`, not `{}`", node_->entries[0].key, key()),
                        fmt::format("its fields are behind its type: {}.{}",
                                    fmt::join(path_.begin(),
                                              path_.begin() + static_cast<long>(depth_), "."),
                                    node_->entries[0].key),
                        node_->entries[0].key_span, "the layer is here");
        if (!node_->is_map() && !node_->is_null())
            return fail(fmt::format("`{}` is no field of {}, which is a plain value", key(),
                                    describe(*node_)),
                        "", node_->span, "the value is given here");
        if (node_->is_null()) *node_ = make_map(span());
        if (at_variant() && !node_->find(key())) node_->entries.clear();
        enter(*node_);
        return true;
    }

    void enter(SourceNode& map) {
        SourceEntry* entry = map.find(key());
        if (!entry) {
            SourceNode none;
            none.span = span();
            map.entries.push_back({key(), span(), std::move(none)});
            entry = &map.entries.back();
        }
        if (last()) entry->key_span = span();
        in_layers_ = is_layer_list(key()) || (in_layers_ && entry->value.is_list());
        node_ = &entry->value;
    }

    /// Short forms: `relu` for `relu: {}`, `filters: integer` for `filters: {type: integer}`.
    void spell_out() {
        if (!node_->is_scalar()) return;
        const bool declares =
            depth_ == 5 && path_[0] == "model" && path_[1] == "blocks" && path_[3] == "parameters";
        if (!at_layer_ && !at_variant() && !declares) return;
        SourceNode map = make_map(node_->span);
        if (declares) {
            map.entries.push_back({"type", node_->span, *node_});
        } else {
            SourceNode none;
            none.span = node_->span;
            map.entries.push_back({node_->text, node_->span, std::move(none)});
        }
        *node_ = std::move(map);
    }

    bool in_list() {
        // `add: [[...], []]` is short for `add: {branches: [[...], []]}`, and settings may say
        // either.
        if (key() == "branches" && !last()) return true;
        const ParsedInteger index = parse_integer(key());
        const std::size_t size = node_->items.size();
        if (!index.value) {
            if (in_layers_) return named_layer();
            if (is_variant_list(path_, depth_)) return named_member();
            return fail(fmt::format("`{}` leads into a list; here an index is wanted", key()),
                        fmt::format("the list has {} values; the first is 0", size));
        }
        if (*index.value < 0 || *index.value >= std::int64_t(size))
            return fail(fmt::format("the index is {}; the list has {} values and the first is 0",
                                    key(), size),
                        "", {}, "", Code::out_of_range);
        node_ = &node_->items[std::size_t(*index.value)];
        // A branch is a list of layers again.
        at_layer_ = in_layers_ && !node_->is_list();
        return true;
    }

    /// A member of a list by its name, which must be there once: its fields are next.
    bool named_member() {
        SourceNode* found = nullptr;
        std::vector<std::string> names;
        for (SourceNode& item : node_->items) {
            const SourceEntry* entry = typed_entry(item);
            const std::string& name = entry ? entry->key : item.text;
            names.push_back(name);
            if (name != key()) continue;
            if (found)
                return fail(fmt::format("`{}` is in the list several times", key()),
                            fmt::format("say which by its index: {}.0.{}.FIELD",
                                        fmt::join(path_.begin(), path_.begin() + 2, "."), key()),
                            found->span, "one of them is here");
            found = &item;
        }
        if (!found)
            return fail(fmt::format("`{}` is not in the list `{}`", key(), path_[depth_ - 1]),
                        names.empty() ? "the list is empty; a setting of all of it may fill it"
                                      : suggest(key(), names, "its members"));
        if (last())
            return fail(fmt::format("a setting replaces `{}`; it must name a field of it", key()),
                        fmt::format("such as {}.{}.FIELD=VALUE",
                                    fmt::join(path_.begin(), path_.begin() + 2, "."), key()));
        node_ = &entry_of(*found).value;
        in_member_ = true;
        if (node_->is_null()) *node_ = make_map(span());
        return true;
    }

    /// A member as one name with what is behind it.
    static SourceEntry& entry_of(SourceNode& item) {
        if (item.is_scalar()) {
            SourceNode map = make_map(item.span), none;
            none.span = item.span;
            map.entries.push_back({item.text, item.span, std::move(none)});
            item = std::move(map);
        }
        return item.entries[0];
    }

    /// An entry of a list of layers as one type with a map of fields.
    static SourceEntry* spelled_out(SourceNode& item) {
        if (item.is_scalar()) {
            SourceNode map = make_map(item.span);
            map.entries.push_back({item.text, item.span, make_map(item.span)});
            item = std::move(map);
        }
        SourceEntry& entry = item.entries[0];
        if (entry.value.is_list()) {
            SourceNode fields = make_map(entry.value.span);
            fields.entries.push_back({"branches", entry.key_span, std::move(entry.value)});
            entry.value = std::move(fields);
        }
        return &entry;
    }

    /// A layer by its name, given or made, wherever in the list it stands: its fields are next.
    bool named_layer() {
        std::vector<std::pair<std::string, SourceEntry*>> named;
        collect_named(*node_, named);
        SourceEntry* found = nullptr;
        std::vector<std::string> names;
        for (const auto& [name, entry] : named) {
            names.push_back(name);
            if (name != key()) continue;
            if (found)
                return fail(fmt::format("`{}` is the name of several layers", key()),
                            "say which by its index: model.layers.0.conv2d.filters",
                            entry->key_span, "one of them is here");
            found = entry;
        }
        if (!found) {
            const NumberedLayer made = find_numbered_layer(*node_, key());
            if (!made.reason.empty()) return fail(made.reason, made.help);
            if (made.item) found = spelled_out(*made.item);
        }
        if (!found) {
            std::string help = suggest(key(), names, "the layers with names");
            if (help.empty() || names.empty())
                help = fmt::format(
                    "layers are set by the name they are given, or by index; the "
                    "list has {} and the first is 0",
                    node_->items.size());
            return fail(fmt::format("no layer of the list is given the name `{}`", key()), help);
        }
        if (last())
            return fail(
                fmt::format("a setting replaces the layer `{}`; it must name a field of it", key()),
                fmt::format("such as model.layers.{}.FIELD=VALUE", key()));
        // The type may stand between the name and the field.
        if (depth_ + 2 < path_.size() && path_[depth_ + 1] == found->key &&
            !found->value.find(found->key))
            ++depth_;
        node_ = &found->value;
        return true;
    }

    /// A name that must be among those of the map; `format` has a place for it.
    bool undeclared(const char* format, const char* plural, Code code) {
        // One mistake: that the map is missing is no second one.
        if (node_->is_null()) *node_ = make_map(span());
        const std::vector<std::string> names = keys_of(*node_);
        return fail(fmt::format(fmt::runtime(format), key()),
                    names.empty() ? fmt::format("the model declares no {}", plural)
                                  : suggest(key(), names, fmt::format("the {}", plural)),
                    {}, "", code);
    }

    /// model.parameters.NAME: only what the model declares can be set, and keeps its type.
    bool parameter() {
        const SourceEntry* declared = node_->is_map() ? node_->find(key()) : nullptr;
        if (!declared)
            return undeclared("`{}` is no parameter of the model", "parameters",
                              Code::unknown_name);
        if (last() && !keeps_type(*declared, value_, span(), diagnostics_)) return false;
        const bool made_real = last() && is_integer_for_real(*declared, value_);
        enter(*node_);
        if (!made_real) return true;
        *node_ = value_;
        node_->text += ".0";
        return false;
    }

    const std::vector<std::string>& path_;
    const std::vector<Span>& spans_;
    const SourceNode& value_;
    Diagnostics& diagnostics_;
    SourceNode* node_ = nullptr;
    std::size_t depth_ = 0;
    bool in_layers_ = false;  ///< the node is a list of layers, or of branches
    bool at_layer_ = false;   ///< the node is an entry of one
    bool in_member_ = false;  ///< a member of a list was named: its fields follow
};

}  // namespace

void Composer::refuse_elsewhere(std::vector<Setting>& settings) {
    std::erase_if(settings, [&](const Setting& setting) {
        const std::string& first = setting.path[0];
        if (first == part_->name) return false;
        Diagnostic& error = diagnostics_.error(
            Code::unknown_field, setting.spans[0],
            fmt::format("settings of {} by itself begin with `{}`, not with `{}`",
                        with_article(part_->name), part_->name, first));
        std::vector<std::string> names;
        for (const Field& field : *part_->fields)
            names.emplace_back(field.name);
        const bool other_part = find_kind(first) || find_field(job_table(), first);
        const auto field = other_part ? std::nullopt : did_you_mean(first, names);
        if (!other_part && did_you_mean(first, {std::string(part_->name)}))
            error.help = fmt::format("did you mean `{}`?", part_->name);
        else if (field)
            error.help = fmt::format("did you mean `{}.{}`?", part_->name, *field);
        else
            error.help = fmt::format("such as --set {}.FIELD=VALUE", part_->name);
        return true;
    });
}

void Composer::apply(Setting& setting, SourceNode& job) {
    setting.applied = true;
    if (setting.path.back() == "extends" && setting.path.size() <= 2) {
        diagnostics_.error(
            Code::bad_setting, setting.spans.back(),
            "a setting of `extends`; what a spec extends is merged before settings apply",
            "such as --set training='{extends: adam}'");
        return;
    }
    if (setting.path.size() == 2 && setting.path[0] == "training")
        if (SourceEntry* training = job.find("training"); training && training->value.is_map())
            drop_alternative(training->value, setting.path[1]);
    Walk(setting.path, setting.spans, setting.value, diagnostics_).run(job);
}

}  // namespace dtnn::compiler
