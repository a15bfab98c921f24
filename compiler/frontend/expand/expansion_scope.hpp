#pragma once
/// The names of layers while a model is expanded: how they are made, where `from` looks, and what
/// is said about a name that leads nowhere.

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

inline constexpr int kModelInput = -1;  ///< the first; the others are below
inline constexpr int kUnknownSource = std::numeric_limits<int>::min();  ///< after a diagnostic
/// Of a layer's name, with the blocks and repeats around it: a model may have 250,000 of them.
inline constexpr std::size_t kMaximumNameBytes = 300;

/// The layers whose parameters those of a scope have, each the one that is called like it there.
struct SharedPrefix {
    std::string prefix = {};  ///< empty: each layer has its own
    Span span = {};           ///< where that is said

    /// Of the layers, or the layer, of this path, in a scope of that prefix.
    SharedPrefix counterpart(const std::string& scope, const std::string& path) const {
        if (prefix.empty()) return {};
        return {prefix + path.substr(scope.size()), span};
    }
};

/// Where layers are numbered and looked up: the model, a use of a block, a repetition with a name.
struct LayerScope {
    std::string prefix;  ///< "" or "stage_1/basic_2/"
    const LayerScope* outer =
        nullptr;               ///< null where `from` may not look further: a block's border
    int input = kModelInput;   ///< what `input` means
    SharedPrefix shared = {};  ///< whose parameters its layers have
    const std::set<std::string>* given = nullptr;  ///< names written in the scope's lists
    std::unordered_map<std::string, int> counts;   ///< by type

    std::string path(std::string_view name) const { return prefix + std::string(name); }
};

/// What a layer names another one for.
enum class NameOf { source, shared };

class LayerNames {
  public:
    explicit LayerNames(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    /// The next number of a type in the scope; counts layers with names of their own as well.
    static int count(LayerScope& scope, const std::string& type) { return ++scope.counts[type]; }
    /// The path of an unnamed layer. Steps aside for the names that the scope's lists give.
    std::string make(const LayerScope& scope, const std::string& type, int number) const;

    /// Gives the path to what `index` says (a layer, or the source of one). A path given twice is
    /// reported.
    void declare(const std::string& path, int index, const Span& span);

    /// Whether a path is short enough to be a name; reported when not.
    bool check_length(const std::string& path, const Span& span);

    /// What `from` means, or `share`, which does not take `input`. A name that is not there (yet)
    /// is remembered and reported by `finish`, when it is known which names come later.
    int find(const LayerScope& scope, const std::string& name, const Span& span,
             NameOf name_of = NameOf::source);
    /// The path that a name leads to; nothing where there is none.
    std::optional<std::string> path_of(const LayerScope& scope, const std::string& name) const;
    /// Of a layer, or of the source of what has that path; nothing where there is none.
    std::optional<int> index_of(const std::string& path) const;

    /// The layer that the lookups since `mark` were made for.
    std::size_t mark() const { return missing_.size(); }
    void set_reader(std::size_t mark, int layer);

    /// Reports every name that was not found. With `incomplete`, layers were refused, and a name
    /// that may have been one of theirs is not reported.
    void finish(bool incomplete);

    /// Notes of how a diagnostic made now came about are taken from here.
    Diagnostics& probe() { return probe_; }
    /// The names that the lists of a scope give literally, those of blocks' layers left out.
    const std::set<std::string>& given_in(const SourceNode& list);

  private:
    struct Entry {
        int index;
        Span span;
    };
    struct Missing {
        std::string name;
        NameOf name_of;
        Span span;
        std::vector<std::string> prefixes;  ///< of the scopes looked in, innermost first
        std::vector<Note> chain;
        int reader = kUnknownSource;
    };
    void report(const Missing& missing, bool incomplete);
    const std::vector<std::string>& names_below(const std::string& prefix);

    Diagnostics& diagnostics_;
    Diagnostics probe_;
    std::unordered_map<std::string, Entry> entries_;
    std::vector<Missing> missing_;
    std::map<std::tuple<std::string, int, int>, int> missing_at_;  ///< how many, by place
    std::map<std::string, std::vector<std::string>> below_;
    std::map<const SourceNode*, std::set<std::string>> given_;
};

}  // namespace dtnn::compiler
