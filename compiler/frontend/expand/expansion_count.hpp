#pragma once
/// How many layers a model has, before one of them is made.

#include <cstdint>
#include <unordered_map>

#include "compiler/frontend/expand/model_language.hpp"

namespace dtnn::compiler {

inline constexpr std::int64_t kMaximumLayers = 250'000;  ///< of a model, those of branches included
/// The most repetitions, uses of blocks and layers together that an expansion may walk. Each is one
/// step and one more for every 16 values, 8 parameters of a block, and 256 bytes of text that are
/// read.
inline constexpr std::int64_t kMaximumSteps = 1'000'000;

struct LayerCount {
    std::int64_t layers = 0;
    std::int64_t steps = 0;  ///< layers, repetitions and uses of blocks, see kMaximumSteps
};

/// Counts the layers of a list; beyond 10^18 the count stays there. A use of a block is counted
/// once for all uses with the same arguments, a repetition once for all when its layers do not read
/// its index, so that counting takes at most kMaximumSteps. Where an `if` depends on a shape, its
/// longer side counts. Reports nothing: what is wrong counts as little as possible.
class LayerCounter {
  public:
    explicit LayerCounter(const ModelLanguage& language) : language_(language) {}
    LayerCount count(const SourceNode& list, const Environment& environment);
    LayerCount count_entry(const SourceNode& item, const Environment& environment);
    /// Counting took too long: the model has more than the counts say.
    bool exceeded() const { return walked_ > kMaximumSteps; }

  private:
    LayerCount count_block(const LayerEntry& entry, const Environment& environment);
    LayerCount count_repeat(const LayerEntry& entry, const Environment& environment);
    LayerCount count_choice(const LayerEntry& entry, const Environment& environment);
    const std::vector<std::string>& names_read_in(const SourceNode& list);
    std::int64_t steps_of(const SourceNode& item, const LayerEntry& entry);

    const ModelLanguage& language_;
    Diagnostics unheard_;  ///< the expansion says it
    std::map<std::string, LayerCount> blocks_;
    std::map<const SourceNode*, std::vector<std::string>> names_;
    std::unordered_map<const SourceNode*, std::int64_t> steps_;  ///< of entries by themselves
    std::int64_t walked_ = 0;
    int depth_ = 0;  ///< of blocks
};

/// Reports when a model has more layers or steps than it may; false then.
bool check_layer_count(const SourceNode& list, const ModelLanguage& language,
                       Diagnostics& diagnostics);

/// The fields of a repeat besides its layers.
struct RepeatHead {
    std::optional<std::int64_t> times;  ///< nothing after a diagnostic
    std::string index = "index";
    bool shared = false;  ///< all repetitions have the parameters of the first
};
RepeatHead read_repeat(const LayerEntry& entry, const UseFields& use, Diagnostics& diagnostics);

/// Adds the fields of `repeat` and `if` to `use`, the lists of layers left out. `times` that
/// depends on a shape is reported.
void add_control_fields(const LayerEntry& entry, UseFields& use, const Environment& environment,
                        const SampleShape& input, Diagnostics& diagnostics);

/// The condition of an `if`; nothing after a diagnostic or when it is unknown.
std::optional<bool> read_condition(const LayerEntry& entry, const UseFields& use,
                                   Diagnostics& diagnostics);

}  // namespace dtnn::compiler
