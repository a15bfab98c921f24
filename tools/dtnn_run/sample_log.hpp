#pragma once
/// The samples of every step, a line of JSON for each (--log-samples).

#include <cstdint>
#include <string>

#include "runtime/base/files.hpp"
#include "runtime/train/loop.hpp"

namespace dtnn {

/// The log of one rank: FILE, or FILE.RANK where there are several. Samples have the dataset's
/// numbers (in an epoch that draws one more than once, plus the occurrence times the samples of the
/// split).
class SampleLog {
  public:
    /// Opens the file. Nothing of an earlier run stays in it, unless this one goes on with it.
    SampleLog(const std::string& path, int rank, int ranks, bool goes_on);

    /// The run goes on after this step: what it had logged behind it, which comes again, goes.
    void cut_after(std::int64_t step);

    void add(const runtime::BatchSamples& batch);

  private:
    int rank_;
    runtime::LineFile file_;
};

}  // namespace dtnn
