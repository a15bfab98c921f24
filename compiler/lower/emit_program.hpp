#pragma once
/// One program of a plan: steps, tensors, its own buffers and exchanges, out of a lowered program.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/lower/emit_plan.hpp"
#include "compiler/lower/persistent_region.hpp"

namespace dtnn::compiler {

/// Why kernels were not chosen: few different lists, many steps.
class RefusalTable {
  public:
    explicit RefusalTable(plan::Plan& plan) : plan_(plan) {}

    int index_of(const LoweredStep& step) {
        if (!step.refusals) return -1;
        const auto [known, added] = by_list_.try_emplace(step.refusals, 0);
        if (!added) return known->second;
        std::vector<std::string> texts = {fmt::format("{}", step.refusals->seconds)};
        for (const plan::Refusal& refusal : step.refusals->kernels)
            texts.insert(texts.end(),
                         {refusal.kernel, refusal.reason, fmt::format("{}", refusal.seconds)});
        const auto [equal, fresh] =
            by_text_.try_emplace(std::move(texts), int(plan_.refusals.size()));
        if (fresh) plan_.refusals.push_back(*step.refusals);
        return known->second = equal->second;
    }

  private:
    plan::Plan& plan_;
    std::unordered_map<std::shared_ptr<const plan::Refusals>, int> by_list_;
    std::map<std::vector<std::string>, int> by_text_;
};

/// Parameters that are updated in parts, as marks.
struct EmittedShard {
    std::string name;
    std::string buffer;
    std::vector<int> parameters;
    std::vector<int> states;
    std::int64_t part = 0;        ///< elements
    std::int64_t part_bytes = 0;  ///< the same
};

/// The program with the buffers that are its own. Their offsets count from the start of the
/// transient region, their indices from the first of them, until those before them are known; the
/// collectives' parameters are marks.
struct EmittedProgram {
    plan::Program program;
    std::vector<plan::Buffer> buffers;
    std::vector<EmittedShard> shards;
};

/// Makes the program, number `index` of a plan for so many ranks that share the work in this way;
/// returns the bytes of its transient region. Takes names and attributes out of the lowered
/// program, because nobody reads them there again.
std::int64_t emit_program(LoweredProgram& lowered, const PersistentRegion& persistent,
                          RefusalTable& refusals, int index, int ranks,
                          const plan::Parallel& parallel, EmittedProgram& emitted);

}  // namespace dtnn::compiler
