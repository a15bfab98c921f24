#include "compiler/frontend/wiring.hpp"

#include <fmt/format.h>

#include <map>

#include "compiler/frontend/value_reader.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

constexpr int kInput = -1;
constexpr int kUnknown = -2;  ///< a source that was refused; the diagnostic has been made

class Wirer {
  public:
    Wirer(const ModelSpec& model, bool complete, Diagnostics& diagnostics)
        : diagnostics_(diagnostics), complete_(complete) {
        declare(model.layers);
        chain(model.layers, kInput);
    }

    std::vector<WiredLayer> take() {
        check_read();
        return std::move(layers_);
    }

  private:
    void declare(const std::vector<LayerSpec>& layers) {
        for (const LayerSpec& layer : layers) {
            for (const auto& branch : layer.branches)
                declare(branch);
            const auto [first, fresh] = declared_.emplace(layer.name, &layer);
            if (fresh) continue;
            sound_ = false;
            const auto span = layer.spans.find("name");
            const auto first_span = first->second->spans.find("name");
            Diagnostic& error = diagnostics_.error(
                Code::duplicate_layer, span != layer.spans.end() ? span->second : layer.span,
                fmt::format("two layers are named `{}`", layer.name));
            error.notes.push_back({first_span != first->second->spans.end() ? first_span->second
                                                                            : first->second->span,
                                   "the first is here"});
        }
    }

    /// Adds layers that read each other in turn, the first one `source`; returns the last one.
    int chain(const std::vector<LayerSpec>& layers, int source) {
        for (const LayerSpec& layer : layers)
            source = add(layer, source);
        return source;
    }

    int add(const LayerSpec& layer, int previous) {
        WiredLayer wired{&layer, {}};
        if (!layer.branches.empty()) {
            if (!layer.from.empty()) {
                sound_ = false;
                diagnostics_
                    .error(Code::operand_count, layer.from_spans[0],
                           fmt::format("{} has both `from` and branches; it takes one of them",
                                       layer.type))
                    .help = "begin the branch with a layer that has `from`";
            }
            for (const auto& branch : layer.branches)
                wired.sources.push_back(chain(branch, previous));
        } else if (!layer.from.empty()) {
            for (std::size_t i = 0; i < layer.from.size(); ++i)
                wired.sources.push_back(find(layer, layer.from[i], layer.from_spans[i]));
        } else {
            wired.sources.push_back(previous);
        }
        check_count(layer, wired.sources.size());
        layers_.push_back(std::move(wired));
        const int index = static_cast<int>(layers_.size()) - 1;
        indices_.emplace(layer.name, index);
        return index;
    }

    int find(const LayerSpec& layer, const std::string& name, const Span& span) {
        if (name == "input") return kInput;
        if (const auto found = indices_.find(name); found != indices_.end()) return found->second;
        sound_ = false;
        if (const auto later = declared_.find(name); later != declared_.end()) {
            const bool itself = later->second == &layer;
            Diagnostic& error = diagnostics_.error(
                Code::later_layer, span,
                itself ? fmt::format(
                             "the layer `{}` reads itself; layers read only what comes before them",
                             name)
                       : fmt::format("`{}` comes later; layers read only what comes before them",
                                     name));
            if (!itself)
                error.notes.push_back(
                    {place_of(*later->second), fmt::format("`{}` is declared here", name)});
            return kUnknown;
        }
        // A made name such as conv2d_3 may be that of a layer that was refused.
        const bool made = name.find_last_not_of("0123456789") != name.size() - 1;
        if (!complete_ && made) return kUnknown;
        std::vector<std::string> names = {"input"};
        for (const WiredLayer& one : layers_)
            names.push_back(one.spec->name);
        Diagnostic& error = diagnostics_.error(Code::unknown_layer, span,
                                               fmt::format("no layer is named `{}`", name));
        if (const auto near = did_you_mean(name, names)) {
            error.help = fmt::format("did you mean `{}`?", *near);
            if (const auto found = declared_.find(*near); found != declared_.end())
                error.notes.push_back(
                    {place_of(*found->second), fmt::format("`{}` is declared here", *near)});
        } else {
            error.help =
                "`from` takes `input`, names given by `name`, and types numbered in order, such as "
                "`conv2d_1`";
        }
        return kUnknown;
    }

    static Span place_of(const LayerSpec& layer) {
        const auto span = layer.spans.find("name");
        return span != layer.spans.end() ? span->second : layer.span;
    }

    void check_count(const LayerSpec& layer, std::size_t count) {
        const OpDef* op = find_op(layer.type);
        // Branches that were refused are missing from the count.
        if (!op || (op->variadic && !complete_)) return;
        const auto least = static_cast<std::size_t>(op->min_inputs);
        if (count < least || (!op->variadic && count > least)) {
            sound_ = false;
            Diagnostic& error = diagnostics_.error(
                Code::operand_count,
                layer.from_spans.empty() ? layer.span : layer.from_spans.back(),
                fmt::format("{} reads {} layer{}; it takes {}{}", layer.type, count,
                            count == 1 ? "" : "s", op->variadic ? "at least " : "", least));
            if (op->variadic)
                error.help = fmt::format("give it branches, or `from: [a, b]`: `{}`", op->example);
        }
    }

    void check_read() {
        if (!sound_ || !complete_) return;
        std::vector<bool> read(layers_.size(), false);
        for (const WiredLayer& layer : layers_)
            for (const int source : layer.sources)
                if (source >= 0) read[static_cast<std::size_t>(source)] = true;
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i)
            if (!read[i])
                diagnostics_
                    .error(Code::unused_layer, place_of(*layers_[i].spec),
                           fmt::format(
                               "no layer reads `{}`; only the last layer is the model's output",
                               layers_[i].spec->name))
                    .help = "read it by `from`, or remove it";
    }

    Diagnostics& diagnostics_;
    std::vector<WiredLayer> layers_;
    std::map<std::string, const LayerSpec*> declared_;
    std::map<std::string, int> indices_;
    bool complete_;
    bool sound_ = true;
};

}  // namespace

std::vector<WiredLayer> wire_layers(const ModelSpec& model, bool complete,
                                    Diagnostics& diagnostics) {
    return Wirer(model, complete, diagnostics).take();
}

}  // namespace dtnn::compiler
