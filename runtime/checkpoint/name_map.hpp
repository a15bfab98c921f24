#pragma once
/// How the names in a file of weights become the names of a plan's parameters, and back.
///
/// A file of one JSON object of patterns (name_pattern.hpp); the first entry that matches a name
/// counts:
///
///     {
///       "features.0.weight": "conv2d_1.weights",
///       "layer{s}.{b}.bn{n}.*": "stage_{s}/residual_{b+1}/batch_norm_{n}.*",
///       "extra.*": null
///     }
///
/// A `*` on the right is the text of the `*` in the same place on the left, a `{x}` the number of
/// that name. null: the tensor is left out. Names that no entry matches stay as they are.
///
/// A map of a family of networks says more:
///
///     {
///       "description": "torchvision's residual networks",
///       "models": {"resnet18": "resnet18", "resnet50": "resnet50"},
///       "layout": "torch",
///       "names": {"conv1.*": "stem_1/conv2d_1.*"}
///     }
///
/// `models` are the plan's models that it is for, and what they are called there; `layout` is how
/// the file arranges axes (weight_layout.hpp). `names` may be a list of such objects: each is
/// applied to what the one before it has made of a name. Entries of a family's map need not match:
/// they serve networks of several depths.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/name_pattern.hpp"

namespace dtnn::runtime {

class NameMap {
  public:
    NameMap() = default;

    /// Reads a map of at most 20,000 entries in 16 steps. A fault of the file is a RunError (exit
    /// 5) that names it and the entry.
    static NameMap read(const std::string& path);
    static NameMap parse(const std::string& text, const std::string& path);

    struct Target {
        bool dropped = false;
        std::string name;
    };
    /// Finds the entry that matches; nothing: none does. Entries that were used are remembered. A
    /// name that no entry matches is looked for without the wrapper's, with which it begins.
    std::optional<Target> find(const std::string& name, const std::string& wrapper = "");

    /// The name in the file that becomes `target`; nothing: no entry says one, or the name would
    /// become another.
    std::optional<std::string> origin(const std::string& target) const;

    /// The entries that find() has never used, as written; of a family's map none.
    std::vector<std::string> unused() const;

    const std::map<std::string, std::string>& models() const { return models_; }
    const std::string& layout() const { return layout_; }  ///< empty: it does not say

  private:
    struct Entry {
        NamePattern from;
        std::optional<NamePattern> to;
        bool used = false;
    };
    using Step = std::vector<Entry>;
    struct Match {
        std::size_t entry = 0;
        std::optional<std::string> name;  ///< nothing: it is left out
    };
    /// An entry whose right side has no number for what is found does not match.
    std::optional<Match> first_match(const Step& step, const std::string& name) const;
    std::optional<Target> find_as_it_is(const std::string& name);
    /// The name that a step makes of a name; nothing where it leaves it out.
    std::optional<std::string> applied(const Step& step, const std::string& name) const;
    std::optional<NamePattern::Found> match(const NamePattern& pattern,
                                            const std::string& name) const;

    std::string path_;
    std::vector<Step> steps_;
    std::map<std::string, std::string> models_;
    std::string layout_;
    bool family_ = false;
    mutable std::int64_t tried_ = 0;  ///< places of names that patterns were tried at
};

}  // namespace dtnn::runtime
