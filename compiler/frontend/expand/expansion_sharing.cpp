#include "compiler/frontend/expand/expansion_sharing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "compiler/frontend/expand/expansion_scope.hpp"
#include "compiler/frontend/expand/expansion_shapes.hpp"
#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {
namespace {

/// The parameters that a layer of this model would have by itself: those that are trained.
class Own {
  public:
    Own(const ModelSpec& model, const LayerSpec& layer) : layer_(layer), def_(op(layer.type)) {
        const SampleShape sample =
            layer.sources.empty() ? unknown_shape() : shape_of(model, layer.sources.front());
        if (!sample.axes.empty()) input_ = type_of_batch(1, DType::f32, sample);
    }
    bool known() const { return input_.has_value(); }
    const OpDef& def() const { return def_; }

    std::vector<const ParameterRule*> rules() const {
        std::vector<const ParameterRule*> all;
        for (const auto* rules : {&def_.parameters, &layer_.parameters})
            for (const ParameterRule& rule : *rules)
                if (rule.trainable && !rule.dims(*input_, layer_.fields).empty())
                    all.push_back(&rule);
        return all;
    }
    const ParameterRule* find(const std::string& role) const {
        for (const ParameterRule* rule : rules())
            if (rule->role == role) return rule;
        return nullptr;
    }
    Type type(const ParameterRule& rule) const {
        return rule.type(*input_, layer_.fields, DType::f32);
    }

  private:
    const LayerSpec& layer_;
    const OpDef& def_;
    std::optional<Type> input_;
};

std::string roles_of(const LayerSpec& layer, const Own& own) {
    std::vector<std::string> roles;
    for (const ParameterRule* rule : own.rules())
        roles.push_back(rule->role);
    return fmt::format("`{}`, {}, has {}", layer.name, layer.type,
                       roles.empty() ? "no parameters" : fmt::format("{}", fmt::join(roles, ", ")));
}

}  // namespace

bool initializes_shared(const LayerSpec& layer, std::string_view field) {
    for (const ParameterRule& rule : op(layer.type).parameters)
        if (layer.shared.contains(rule.role) && rule.initializer_field() == field) return true;
    return false;
}

/// Finds the layer whose parameters this one has. False: none, or after a diagnostic.
bool Sharing::find(const std::optional<LocatedText>& share, const LayerScope& scope,
                   LayerSpec& layer) {
    if (share) {
        layer.spans["share"] = share->span;
        const int found = names_.find(scope, share->text, share->span, NameOf::shared);
        if (found == kUnknownSource) return false;
        const bool itself = found == int(model_.layers.size());
        if (found >= 0 && !itself) {
            layer.share = std::size_t(found);
            return true;
        }
        if (itself)
            diagnostics_.error(Code::later_layer, share->span,
                               fmt::format("the layer `{}` shares with itself; layers share only "
                                           "with what comes before them",
                                           share->text));
        else
            diagnostics_.error(
                Code::unknown_layer, share->span,
                fmt::format("`{}` is an input of the model, which has no parameters", share->text));
        return false;
    }
    const auto& [path, span] = scope.shared.counterpart(scope.prefix, layer.name);
    if (path.empty() || (op(layer.type).parameters.empty() && layer.parameters.empty()))
        return false;
    layer.spans["share"] = span;
    const auto found = names_.index_of(path);
    if (found == kUnknownSource) return false;
    if (found && *found >= 0 && model_.layers[std::size_t(*found)].name == path) {
        layer.share = std::size_t(*found);
        return true;
    }
    diagnostics_.error(
        Code::unknown_layer, span,
        fmt::format("there is no layer `{}`, whose parameters `{}` would have", path, layer.name),
        "uses of a block share when they have the same layers: give both the same "
        "parameters");
    return false;
}

SharedPrefix Sharing::of_use(const Block& block, const LocatedText& share,
                             const LayerScope& scope) {
    const auto path = names_.path_of(scope, share.text);
    if (!path) {
        names_.find(scope, share.text, share.span, NameOf::shared);
        return {};
    }
    const auto use = uses_.find(*path);
    if (use != uses_.end() && use->second == &block) return {*path + "/", share.span};
    diagnostics_.error(
        Code::unknown_layer, share.span,
        fmt::format("`{}` is no use of the block `{}`", share.text, block.name),
        "a use of a block shares the parameters of an earlier use of the same block");
    return {};
}

void Sharing::settle(const std::optional<LocatedText>& share, const SourceNode* written,
                     const LayerScope& scope, LayerSpec& layer) {
    if (!find(share, scope, layer)) return;
    const LayerSpec& named = model_.layers[*layer.share];
    const Own own(model_, layer), others(model_, named);
    if (!own.known() || !others.known() || layer.axes.empty()) return;
    if (!share && own.rules().empty()) return layer.share.reset();
    const Span span = layer.spans.at("share");
    const auto refuse = [&](std::string fact, std::string help) {
        Diagnostic& error = diagnostics_.error(Code::shape_error, span, std::move(fact));
        error.help = std::move(help);
        error.notes.push_back({named.span, fmt::format("`{}` is here", named.name)});
    };
    bool all = true, turned = false;
    for (const ParameterRule* rule : own.rules()) {
        const ParameterRule* theirs = others.find(rule->role);
        all = all && theirs;
        if (!theirs) continue;
        const Type wanted = own.type(*rule), given = others.type(*theirs);
        const auto form = shared_form(own.def(), wanted.dims, others.def(), given.dims);
        if (!form || (*form == SharedForm::as_it_is && wanted != given)) {
            // Of weights that are read the other way round, the bias is of other units.
            if (turned) continue;
            const bool alike = wanted.dims == given.dims;
            refuse(alike
                       ? fmt::format("`{}` is {}, and `{}` is {}: their {} are not the same thing",
                                     layer.name, layer.type, named.name, named.type, rule->role)
                       : fmt::format("`{}` takes {} of {}, and those of `{}` are {}", layer.name,
                                     rule->role, shape_text(wanted.dims), named.name,
                                     shape_text(given.dims)),
                   "layers of one operator share what has the same extents; a dense layer may also "
                   "read another's weights, or an embedding's, the other way round");
            return;
        }
        turned = turned || *form == SharedForm::transposed;
        // What the named layer has of another one is that one's.
        const auto known = named.shared.find(rule->role);
        const bool own_of_named = known == named.shared.end();
        const std::size_t owner = own_of_named ? *layer.share : known->second.layer;
        const bool again = !own_of_named && known->second.form == SharedForm::transposed;
        layer.shared[rule->role] = {owner, again == (*form == SharedForm::transposed)
                                               ? SharedForm::as_it_is
                                               : SharedForm::transposed};
        if (const SourceEntry* first = written ? written->find(rule->initializer_field()) : nullptr)
            diagnostics_.error(
                Code::conflicting_fields, first->key_span,
                fmt::format("`{}` says how {} begin that `{}` has of `{}`", first->key, rule->role,
                            layer.name, model_.layers[owner].name),
                "remove it");
    }
    // What a formula learns is known by its order.
    if (layer.shared.empty() || (!all && !layer.parameters.empty()))
        refuse(fmt::format("{}, and {}: there is nothing to share", roles_of(layer, own),
                           roles_of(named, others)),
               "remove `share`, or name a layer of the same operator");
}

}  // namespace dtnn::compiler
