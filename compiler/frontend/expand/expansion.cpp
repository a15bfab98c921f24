#include "compiler/frontend/expand/expansion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "compiler/frontend/expand/expansion_check.hpp"
#include "compiler/frontend/expand/expansion_count.hpp"
#include "compiler/frontend/expand/expansion_scope.hpp"
#include "compiler/frontend/expand/expansion_shapes.hpp"
#include "compiler/frontend/expand/expansion_sharing.hpp"
#include "compiler/frontend/expand/standard_blocks.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

/// What an entry says about its place in the graph.
struct Head {
    std::optional<LocatedText> name, share;
    std::vector<LocatedText> from;
    bool unknown_from = false;  ///< after a diagnostic
};

/// The fields of a layer, read.
struct Reading {
    Head head;
    Attributes fields;
    std::map<std::string, Span> spans;
    bool sound = true;
};

class Expander {
  public:
    Expander(const ModelLanguage& language, ModelSpec& model, Diagnostics& diagnostics)
        : language_(language),
          model_(model),
          diagnostics_(diagnostics),
          names_(diagnostics),
          sharing_(model, names_, diagnostics) {}

    void run(const SourceNode& layers) {
        const int errors = diagnostics_.error_count();
        LayerScope scope;
        scope.given = &names_.given_in(layers);
        for (std::size_t i = 0; i < model_.inputs.size(); ++i)
            if (const InputSpec& input = model_.inputs[i]; !input.name.empty())
                names_.declare(input.name, kModelInput - int(i), input.span);
        const int output = list(layers, kModelInput, language_.parameters(), scope);
        names_.finish(incomplete_);
        check_unexpanded_lists();
        if (diagnostics_.error_count() != errors || incomplete_) return;
        if (model_.layers.empty())
            diagnostics_.error(Code::out_of_range, layers.span,
                               "`layers` of model comes to nothing; there must be a layer");
        check_all_read(model_, output, diagnostics_);
    }

  private:
    /// Blocks that nothing uses, and the sides of choices that nothing takes.
    void check_unexpanded_lists() {
        for (const std::string& name : language_.blocks().names()) {
            const Block& block = *language_.blocks().find(name);
            if (block.layers && block.span.place.file != kStandardBlocksFile)
                skipped_.push_back(block.layers);
        }
        for (const SourceNode* list : skipped_)
            if (expanded_.insert(list).second) check_unexpanded(*list, language_, diagnostics_);
    }

    void met(bool taken, const SourceNode* list) {
        if (taken)
            expanded_.insert(list);
        else if (met_.insert(list).second)
            skipped_.push_back(list);
    }

    // ---- The walk. Every function takes the source of the layer before and returns its own.

    int list(const SourceNode& list, int source, const Environment& environment,
             LayerScope& scope) {
        for (const SourceNode& item : list.items)
            source = entry(item, source, environment, scope);
        return source;
    }

    int entry(const SourceNode& item, int source, const Environment& environment,
              LayerScope& scope) {
        const SourceNode* refused_name = nullptr;
        const auto entry = read_entry(item, language_.blocks(), InReach(environment, shape(source)),
                                      diagnostics_, &refused_name);
        if (!entry) {
            incomplete_ = true;
            // Its name still exists, so that `from` it is not a second mistake.
            if (refused_name && !has_formula(refused_name->text))
                names_.declare(scope.path(refused_name->text), kUnknownSource, refused_name->span);
            return kUnknownSource;
        }
        if (entry->op) return layer(*entry, item, source, environment, scope);
        if (entry->block && entry->block->is_operator)
            return formula(*entry, source, environment, scope);
        if (entry->block) return block(*entry, source, environment, scope);
        if (entry->control == ControlWord::repeat)
            return repeat(*entry, source, environment, scope);
        return choice(*entry, source, environment, scope);
    }

    int layer(const LayerEntry& entry, const SourceNode& item, int previous,
              const Environment& environment, LayerScope& scope) {
        LayerSpec spec;
        spec.type = entry.type;
        spec.span = entry.span;
        if (entry.branches) add_branches(entry, previous, environment, scope, spec.sources);

        const std::size_t lookups = names_.mark();
        Reading fresh;
        const Reading* reading = nullptr;
        if (const auto known = plain_.find(&item); known != plain_.end()) {
            reading = &known->second;
            if (!entry.branches) spec.sources = resolve(reading->head, previous, scope);
        } else {
            UseFields use;
            fresh = read_layer(entry, previous, environment, scope, spec.sources, use);
            const bool literal = use.plain && fresh.sound &&
                                 entry.type == raw_entry(item).type;  // not an expression
            if (literal)
                reading = &plain_.emplace(&item, std::move(fresh)).first->second;
            else
                reading = &fresh;
        }
        spec.fields = reading->fields;
        spec.spans = reading->spans;
        const bool counted = check_operands(entry, reading->head, spec.sources.size());

        spec.name = name_of(entry, reading->head, scope);
        const int index = int(model_.layers.size());
        const Span& place = reading->head.name ? reading->head.name->span : entry.span;
        names_.set_reader(lookups, index);
        if (names_.check_length(spec.name, place))
            names_.declare(spec.name, index, place);
        else
            spec.name.resize(kMaximumNameBytes);
        if (reading->sound && counted) infer_shape(model_, *entry.op, spec, diagnostics_);
        sharing_.settle(reading->head.share, entry.fields, scope, spec);
        model_.layers.push_back(std::move(spec));
        return index;
    }

    void add_branches(const LayerEntry& entry, int previous, const Environment& environment,
                      LayerScope& scope, std::vector<int>& sources) {
        if (!entry.branches->is_list()) {
            diagnostics_.error(
                Code::wrong_type, entry.branches->span,
                fmt::format("`branches` of {} is {}; it must be a list of lists of layers",
                            entry.type, describe(*entry.branches)));
            return;
        }
        for (const SourceNode& branch : entry.branches->items) {
            if (branch.is_list()) {
                sources.push_back(list(branch, previous, environment, scope));
                continue;
            }
            diagnostics_.error(Code::bad_layer, branch.span,
                               fmt::format("a branch of {} is {}; it must be a list of layers",
                                           entry.type, describe(branch)),
                               "put the branch in brackets; `[]` is identity, and `from: [...]` "
                               "reads layers by their names");
            sources.push_back(kUnknownSource);
        }
    }

    /// How a block or an operator of the model is used: its head, what it reads, and in `use` the
    /// fields that are its parameters.
    std::pair<Head, int> read_use(const LayerEntry& entry, int previous,
                                  const Environment& environment, LayerScope& scope,
                                  UseFields& use) {
        const std::vector<const SourceEntry*> fields = language_.fields_of(entry);
        Head head = read_head(entry, fields, previous, environment, use);
        const int source = one_source(entry, head, previous, scope);
        for (const SourceEntry* field : fields)
            if (!is_head(field->key)) use.add(*field, environment, shape(source), diagnostics_);
        use.add_misspelt(language_.misspelt_of(entry.type));
        return {std::move(head), source};
    }

    int block(const LayerEntry& entry, int previous, const Environment& environment,
              LayerScope& scope) {
        UseFields use;
        const auto [head, source] = read_use(entry, previous, environment, scope, use);
        const int errors = diagnostics_.error_count();
        const Environment inner = bind_parameters(
            *entry.block, use, entry.span, language_.parameters(), shape(source), diagnostics_);
        const std::string path = name_of(entry, head, scope);
        const Span& place = head.name ? head.name->span : entry.span;
        if (std::find(stack_.begin(), stack_.end(), entry.block) != stack_.end()) {
            diagnostics_.error(
                Code::block_cycle, entry.span,
                fmt::format("blocks use each other in a circle: `{}` is used inside itself",
                            entry.type),
                "a block's layers must come to an end; `repeat` does a thing many times");
            incomplete_ = true;
        }
        if (!names_.check_length(path, place)) {
            incomplete_ = true;
            return kUnknownSource;
        }
        if (!entry.block->layers || diagnostics_.error_count() != errors) {
            incomplete_ = true;
            names_.declare(path, kUnknownSource, place);
            return kUnknownSource;
        }
        if (entry.block->span.place.file == kStandardBlocksFile)
            diagnostics_.add_file(std::string(kStandardBlocksFile),
                                  std::string(standard_blocks_text()));
        const auto note = [&] {
            const std::string values = describe(inner);
            return Note{entry.span, fmt::format("in block `{}`, used here{}{}", entry.type,
                                                values.empty() ? "" : " with ", values)};
        };
        const Diagnostics::Context context(diagnostics_, note);
        const Diagnostics::Context probed(names_.probe(), note);
        LayerScope own;
        own.prefix = path + "/";
        own.input = source;
        own.given = &names_.given_in(*entry.block->layers);
        own.shared = head.share ? sharing_.of_use(*entry.block, *head.share, scope)
                                : scope.shared.counterpart(scope.prefix, own.prefix);
        stack_.push_back(entry.block);
        expanded_.insert(entry.block->layers);
        const int output = list(*entry.block->layers, source, inner, own);
        stack_.pop_back();
        names_.declare(path, output, place);
        sharing_.add_use(path, *entry.block);
        return output;
    }

    /// A use of an operator of the model: one layer, named after it.
    int formula(const LayerEntry& entry, int previous, const Environment& environment,
                LayerScope& scope) {
        const std::size_t lookups = names_.mark();
        UseFields use;
        const auto [head, source] = read_use(entry, previous, environment, scope, use);
        const Environment values = bind_parameters(
            *entry.block, use, entry.span, language_.parameters(), shape(source), diagnostics_);

        LayerSpec spec;
        spec.type = "elementwise";
        spec.span = entry.span;
        spec.sources = {source};
        spec.spans["expression"] = entry.block->forward_span;
        spec.name = name_of(entry, head, scope);
        const int index = int(model_.layers.size());
        const Span& place = head.name ? head.name->span : entry.span;
        names_.set_reader(lookups, index);
        if (names_.check_length(spec.name, place))
            names_.declare(spec.name, index, place);
        else
            spec.name.resize(kMaximumNameBytes);
        if (auto form = use_of_operator(*entry.block, values)) {
            // As it would be written in a layer, but for what only a declaration can say.
            const Expression simplified = simplify(form->expression);
            spec.fields["expression"] =
                form->trained.empty() ? to_infix(simplified, {"x"}) : to_postfix(simplified);
            spec.parameters = std::move(form->trained);
            spec.formula = entry.block->name;
            spec.formula_values = std::move(form->values);
            infer_shape(model_, op(spec.type), spec, diagnostics_);
            sharing_.settle(head.share, entry.fields, scope, spec);
        } else {
            incomplete_ = true;
        }
        model_.layers.push_back(std::move(spec));
        return index;
    }

    int repeat(const LayerEntry& entry, int previous, const Environment& environment,
               LayerScope& scope) {
        UseFields use;
        const Head head = read_head(entry, own_fields(entry), previous, environment, use);
        int source = one_source(entry, head, previous, scope);
        add_control_fields(entry, use, environment, shape(source), diagnostics_);
        const RepeatHead repeat = read_repeat(entry, use, diagnostics_);
        const SourceNode* layers = list_of(entry, "layers");
        if (!repeat.times || !layers) incomplete_ = true;
        if (head.name) check_layer_name(head.name->text, head.name->span, diagnostics_);
        const SourceEntry* shared = use.map.find("shared");
        if (repeat.shared && !head.name)
            diagnostics_.error(Code::conflicting_fields, shared->key_span,
                               "repetitions that are `shared` need names, and the repeat has none",
                               "such as `repeat: {name: layer, shared: true, ...}`");
        const std::int64_t times = repeat.times.value_or(1);
        if (layers) met(times > 0, layers);
        if (head.name && !names_.check_length(scope.path(head.name->text), head.name->span)) {
            incomplete_ = true;
            return kUnknownSource;
        }
        for (std::int64_t i = 0; layers && i < times; ++i) {
            const auto note = [&] {
                return Note{entry.span, fmt::format("in repetition {} of {} ({} = {})", i + 1,
                                                    times, repeat.index, i)};
            };
            const Diagnostics::Context context(diagnostics_, note);
            const Diagnostics::Context probed(names_.probe(), note);
            Environment inner(&environment);
            inner.bind(repeat.index, {repeat.times ? FormulaValue(i) : Unknown{}, false});
            if (!head.name) {
                source = list(*layers, source, inner, scope);
                continue;
            }
            LayerScope own;
            const std::string path = scope.path(fmt::format("{}_{}", head.name->text, i + 1));
            own.prefix = path + "/";
            own.outer = &scope;
            own.input = scope.input;
            own.given = &names_.given_in(*layers);
            own.shared = repeat.shared && i > 0
                             ? SharedPrefix{scope.path(head.name->text + "_1/"), shared->value.span}
                             : scope.shared.counterpart(scope.prefix, own.prefix);
            source = list(*layers, source, inner, own);
            names_.declare(path, source, head.name->span);
        }
        if (head.name) names_.declare(scope.path(head.name->text), source, head.name->span);
        return layers ? source : kUnknownSource;
    }

    int choice(const LayerEntry& entry, int previous, const Environment& environment,
               LayerScope& scope) {
        UseFields use;
        const Head head = read_head(entry, own_fields(entry), previous, environment, use);
        const int source = one_source(entry, head, previous, scope);
        add_control_fields(entry, use, environment, shape(source), diagnostics_);
        const std::optional<bool> condition = read_condition(entry, use, diagnostics_);
        const SourceNode* then = list_of(entry, "then");
        const SourceNode* otherwise = list_of(entry, "else");
        if (!condition) {
            incomplete_ = true;
            return kUnknownSource;
        }
        const SourceNode* chosen = *condition ? then : otherwise;
        if (then) met(*condition, then);
        if (otherwise) met(!*condition, otherwise);
        return chosen ? list(*chosen, source, environment, scope) : source;
    }

    /// A list of layers that `repeat` or `if` has; null when it is not given or no list.
    const SourceNode* list_of(const LayerEntry& entry, const char* key) {
        const SourceEntry* field = entry.fields ? entry.fields->find(key) : nullptr;
        if (!field) return nullptr;
        if (field->value.is_list()) return &field->value;
        incomplete_ = true;
        diagnostics_.error(Code::wrong_type, field->value.span,
                           fmt::format("`{}` of {} is {}; it must be a list of layers", key,
                                       entry.type, describe(field->value)),
                           "put the layers in brackets, or begin every one with `- `");
        return nullptr;
    }

    // ---- Fields, sources and names.

    static bool is_head(const std::string& key) {
        return key == "name" || key == "from" || key == "share";
    }

    static std::vector<const SourceEntry*> own_fields(const LayerEntry& entry) {
        std::vector<const SourceEntry*> fields;
        if (entry.fields)
            for (const SourceEntry& field : entry.fields->entries)
                fields.push_back(&field);
        return fields;
    }

    /// `name`, `from` and `share` are read first, because the other fields may read the shape of
    /// what `from` names. In them, `in` is the layer before.
    Head read_head(const LayerEntry& entry, const std::vector<const SourceEntry*>& fields,
                   int previous, const Environment& environment, UseFields& use) {
        Head head;
        for (const SourceEntry* field : fields)
            if (is_head(field->key)) use.add(*field, environment, shape(previous), diagnostics_);
        const SourceEntry* name = use.map.find("name");
        if (name && name->value.is_scalar() && entry.control != ControlWord::condition)
            head.name = LocatedText{name->value.text, name->value.span};
        const SourceEntry* share = use.map.find("share");
        if (share && share->value.is_scalar() && !entry.control)
            head.share = LocatedText{share->value.text, share->value.span};
        head.unknown_from = use.given.contains("from");
        if (const SourceEntry* from = use.map.find("from")) {
            const Field& field = *find_field(layer_table(), "from");
            auto texts = read_texts(from->value, field, entry.type, diagnostics_);
            head.unknown_from = !texts;
            if (texts) head.from = std::move(*texts);
        }
        return head;
    }

    std::vector<int> resolve(const Head& head, int previous, const LayerScope& scope) {
        if (head.unknown_from) return {kUnknownSource};
        if (head.from.empty()) return {previous};
        std::vector<int> sources;
        for (const LocatedText& from : head.from)
            sources.push_back(names_.find(scope, from.text, from.span));
        return sources;
    }

    int one_source(const LayerEntry& entry, const Head& head, int previous,
                   const LayerScope& scope) {
        const std::vector<int> sources = resolve(head, previous, scope);
        check_operands(entry, head, sources.size());
        return sources.size() == 1 ? sources[0] : kUnknownSource;
    }

    Reading read_layer(const LayerEntry& entry, int previous, const Environment& environment,
                       const LayerScope& scope, std::vector<int>& sources, UseFields& use) {
        Reading reading;
        const std::vector<const SourceEntry*> fields = language_.fields_of(entry);
        reading.head = read_head(entry, fields, previous, environment, use);
        if (!entry.branches) {
            sources = resolve(reading.head, previous, scope);
        } else if (!reading.head.from.empty()) {
            diagnostics_.error(
                Code::operand_count, reading.head.from[0].span,
                fmt::format("{} has both `from` and branches; it takes one of them", entry.type),
                "begin the branch with a layer that has `from`");
        }
        const SampleShape input =
            entry.branches || sources.empty() ? shape(previous) : shape(sources[0]);
        for (const SourceEntry* field : fields) {
            if (is_head(field->key)) continue;
            if (entry.branches && field->key == "branches")
                use.given.insert(field->key);
            else
                use.add(*field, environment, input, diagnostics_);
        }
        use.add_misspelt(language_.misspelt_of(entry.type));
        FieldScope scope_of_fields{entry.type, entry.span};
        scope_of_fields.given = use.given;
        FieldValues values =
            read_fields(use.map, fields_of_operator(*entry.op), scope_of_fields, diagnostics_);
        values.values.erase("name");
        values.values.erase("share");
        if (reading.head.name && values.spans.contains("name"))
            values.sound =
                check_layer_name(reading.head.name->text, reading.head.name->span, diagnostics_) &&
                values.sound;
        reading.fields = std::move(values.values);
        reading.spans = std::move(values.spans);
        reading.sound = values.sound && !use.unknown;
        return reading;
    }

    std::string name_of(const LayerEntry& entry, const Head& head, LayerScope& scope) {
        const int number = LayerNames::count(scope, entry.type);
        if (!head.name) return names_.make(scope, entry.type, number);
        if (entry.block) check_layer_name(head.name->text, head.name->span, diagnostics_);
        return scope.path(head.name->text);
    }

    bool check_operands(const LayerEntry& entry, const Head& head, std::size_t count) {
        const bool variadic = entry.op && entry.op->variadic;
        const auto least = std::size_t(entry.op ? entry.op->min_inputs : 1);
        if (count == least || (variadic && count > least) || head.unknown_from) return true;
        if (entry.branches && !entry.branches->is_list()) return false;
        Diagnostic& error = diagnostics_.error(
            Code::operand_count, head.from.empty() ? entry.span : head.from.back().span,
            fmt::format("{} reads {}; it takes {}{}", entry.type,
                        count_text(std::int64_t(count), "layer"), variadic ? "at least " : "",
                        least));
        if (variadic)
            error.help =
                fmt::format("give it branches, or `from: [a, b]`: `{}`", entry.op->example);
        return false;
    }

    SampleShape shape(int source) const { return shape_of(model_, source); }

    const ModelLanguage& language_;
    ModelSpec& model_;
    Diagnostics& diagnostics_;
    LayerNames names_;
    Sharing sharing_;
    std::unordered_set<const SourceNode*> expanded_;  ///< lists that have been
    std::vector<const SourceNode*> skipped_;          ///< lists that may not have been
    std::unordered_set<const SourceNode*> met_;       ///< those in skipped_
    bool incomplete_ = false;          ///< an entry was refused, so layers are missing
    std::vector<const Block*> stack_;  ///< of the uses around the entry
    /// Readings of entries without expressions, which are the same in every repetition and use.
    std::unordered_map<const SourceNode*, Reading> plain_;
};

}  // namespace

void expand_layers(const SourceNode& list, const ModelLanguage& language, ModelSpec& model,
                   Diagnostics& diagnostics) {
    if (check_layer_count(list, language, diagnostics))
        Expander(language, model, diagnostics).run(list);
}

}  // namespace dtnn::compiler
