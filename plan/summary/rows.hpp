#pragma once
/// The rows of the layer table: layers, and blocks as the names of layers tell them. For the
/// summary and drawings.

#include <array>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// The facts that the table shows of a layer beyond its record in the plan.
struct LayerFacts {
    /// Least memory traffic of the layer's forward and backward steps in one training step; a step
    /// that executes several layers is counted at the one that it is named after.
    std::int64_t bytes = 0;
    /// Parameters, their optimizer state, and what the layer's forward step writes for one training
    /// batch.
    std::int64_t memory = 0;
    int step = -1;  ///< the forward step of the train program; -1: none
    /// All layers of that step, this one among them, in the plan; null: it has no step.
    const std::vector<int>* together = nullptr;
    std::string kernel;  ///< of that step
    std::array<std::int64_t, 2> receptive_field{};
    /// The fields of its operator, in the operator's order, which has what matters first.
    std::vector<std::string> fields;
    std::set<std::string> written;  ///< those that the spec gives; the others are defaults
    std::vector<Dims> inputs;       ///< shapes of what it reads, as `from` names them
    std::int64_t frozen = 0;        ///< elements of weights that training leaves as they are
};
std::vector<LayerFacts> layer_facts(const Plan& plan);

/// One layer, a collapsed block, or the heading of a block whose layers follow.
struct SummaryRow {
    enum class Kind { layer, block, heading } kind = Kind::layer;
    std::size_t first = 0, last = 0;  ///< layers, inclusive
    std::string path;                 ///< the layer's or the block's full name
    std::string own_name;             ///< its last part
    int depth = 0;                    ///< blocks around it
};

/// Blocks deeper than `depth` (0: no limit) are collapsed. Headings only if wanted. Layers of one
/// block that do not follow each other give several rows.
std::vector<SummaryRow> summary_rows(const Plan& plan, int depth, bool headings);

/// A field's value as users say it: 3x3 for [3, 3].
std::string attribute_words(const AttributeValue& value);

/// The fields of a layer, "filters=64 kernel=3x3", those that matter first.
struct AttributeWords {
    std::string written;  ///< those that the spec gives
    std::string usual;    ///< defaults
};
AttributeWords attribute_words(const Layer& layer, const LayerFacts& facts);

/// The parts of a layer's name, split at `/`.
std::vector<std::string> name_parts(const std::string& name);

}  // namespace dtnn::plan
