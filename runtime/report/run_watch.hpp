#pragma once
/// The files that are written beside history.jsonl while a run goes: history.csv always,
/// TensorBoard's event files on request.

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/exec/executor.hpp"
#include "runtime/report/tensorboard.hpp"

namespace dtnn::runtime {

struct WatchRequest {
    bool tensorboard = false;
    std::int64_t histograms_every = 0;  ///< epochs between histograms of all parameters; 0: none
};

/// Reads the history that the run has just written, so that all forms say the same.
class RunWatch {
  public:
    /// `folder` is the run's. `first_step`: where the run goes on, 0 when it begins.
    RunWatch(const std::string& folder, const Executor& executor, const WatchRequest& request,
             std::int64_t first_step);

    /// After the history has been told of an epoch, or of the evaluation on the test split.
    void update();

  private:
    bool is_removed() const;
    void histograms(std::int64_t epoch);

    std::string folder_;
    const Executor& executor_;
    WatchRequest request_;
    std::unique_ptr<TensorBoard> board_;
    std::int64_t epochs_told_ = 0;
    bool test_told_ = false;
};

}  // namespace dtnn::runtime
