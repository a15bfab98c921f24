#pragma once
/// The content of a dataset, by looking at its samples.

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/transforms/sample_chain.hpp"

namespace dtnn::runtime {

/// How many numbers are spread.
struct NumberSpread {
    double mean = 0;
    double standard_deviation = 0;  ///< of these numbers, not an estimate
    double least = 0;
    double greatest = 0;
};

struct SplitSurvey {
    std::int64_t samples = 0;  ///< the split's
    std::int64_t seen = 0;     ///< how many of them were looked at
    /// Label kind `classes`: samples, or pixels, of each class. `multiple`: samples that have each.
    /// `input`: none.
    std::vector<std::int64_t> class_counts;
    std::int64_t ignored = 0;          ///< pixels that do not count
    std::vector<NumberSpread> values;  ///< label kind `values`: of each
};

struct DataSurvey {
    SplitSurvey train;
    SplitSurvey test;
    /// The extents before the transforms, over all samples that were looked at.
    Dims smallest, largest;  ///< height and width, each by itself
    /// The spread of every channel of the training samples, behind the transforms and before
    /// normalize.
    std::vector<NumberSpread> channels;
};

/// Looks at `most` samples of each split (0: all), drawn without regard to their order, which may
/// be that of the classes. A sample that cannot be read is a RunError that names it.
DataSurvey survey(const SampleSource& source, const plan::Plan& plan, std::int64_t most);

}  // namespace dtnn::runtime
