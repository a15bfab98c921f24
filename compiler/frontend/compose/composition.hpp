#pragma once
/// From files to one tree: finds specs by name or path, merges `extends`, puts references in place
/// and applies --set. Every value keeps the place where it was written.

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

inline constexpr int kMaximumExtends = 16;

class Composer {
  public:
    Composer(const LoadOptions& options, Diagnostics& diagnostics)
        : options_(options), diagnostics_(diagnostics) {}

    struct Loaded {
        const KindInfo* kind = nullptr;
        SourceNode tree;  ///< extends merged; without `kind` and `extends`; with a `name`
        std::string file;
    };

    using KindNames = std::initializer_list<std::string_view>;

    /// A spec named on the command line: a file, or, where there is none, a name on the spec path,
    /// which specs of other kinds than those wanted (none: of any) do not answer. Nothing after a
    /// diagnostic.
    std::optional<Loaded> load_root(const std::string& path, KindNames wanted = {});

    /// The whole job, or model alone: a map with model, dataset, training as maps where they could
    /// be resolved. Settings are applied. False after a diagnostic that makes validation of what is
    /// left pointless.
    bool compose_job(SourceNode& job, const std::string& root_file);

    /// A part of a job by itself, as a job that has nothing else. Settings have the same paths as
    /// in a job, and must lead into the part. Nothing after a diagnostic that makes validation
    /// pointless.
    std::optional<SourceNode> compose_part(Loaded loaded);

  private:
    /// One file, read once per command; null after a diagnostic (made only the first time).
    const SourceNode* read(const std::string& file);
    std::optional<Loaded> load(const std::string& file, const KindInfo* wanted,
                               const Span& reference);
    /// Follows a reference of `kind` written in a file; `what` begins messages: "`model` of job".
    std::optional<SourceNode> resolve(const SourceNode& reference, const KindInfo& kind,
                                      const std::string& what);
    /// Puts operators that the model refers to in their places. False after a diagnostic.
    bool resolve_operators(SourceNode& model);
    /// Puts the spec of a loss that the training names beside the operators of the model; what
    /// is unknown is left out of a job that is not sound. False after a diagnostic.
    bool resolve_loss(SourceNode& job, bool sound);
    /// The files of this name in the first folder of the spec path that has any of these kinds
    /// (none: of any); what is of another goes to `others`.
    std::vector<std::string> on_spec_path(const std::string& name, KindNames wanted,
                                          std::vector<std::string>& others);
    /// The kind that a spec says it is; null where it says none that there is, which is reported
    /// when it is loaded.
    const KindInfo* kind_of(const std::string& file);
    /// Reports that a reference leads to a file of another kind.
    void refuse_other_kind(const Span& reference, const KindInfo& kind, const std::string& file);
    bool merge_extends(SourceNode& tree, const KindInfo& kind);
    /// Reports a map that names the spec that it means in another way than by `extends`.
    bool refuse_named_otherwise(const SourceNode& map, const KindInfo& kind);
    std::optional<std::string> find(const SourceNode& reference, const KindInfo& kind);

    struct Setting {
        std::string argument;  ///< "--set a.b=c"
        std::vector<std::string> path;
        std::vector<Span> spans;
        SourceNode value;
        bool applied = false;
    };
    std::vector<Setting> parse_settings();
    void apply(Setting& setting, SourceNode& job);
    /// Takes the settings out, with a diagnostic each, that do not lead into `part_`.
    void refuse_elsewhere(std::vector<Setting>& settings);

    const LoadOptions& options_;
    Diagnostics& diagnostics_;
    std::map<std::string, std::optional<SourceNode>> files_;
    std::vector<std::string> loading_;  ///< the files whose `extends` are being followed
    std::string root_file_;
    const KindInfo* part_ = nullptr;  ///< what alone is composed
};

/// Takes the field out that says the same in another way as `key`, which is about to be set:
/// `batch_size` of each rank or of all.
void drop_alternative(SourceNode& map, std::string_view key);

/// Merges `over` onto `base`: maps field by field, everything else replaced. A variant's field (an
/// optimizer, a layer) replaces another variant as a whole.
SourceNode merge(SourceNode base, SourceNode over, const FieldTable* table);

}  // namespace dtnn::compiler
