#pragma once
/// Requests that come at the same time are computed together.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/train/given_predictor.hpp"
#include "tools/dtnn_run/serve/inference.hpp"
#include "tools/dtnn_run/serve/metrics.hpp"

namespace dtnn::serve {

/// A network's program computes its whole batch, however few samples there are, and no sample's
/// prediction depends on the others: what is computed together is the bits of what is computed
/// alone.
class Batcher {
  public:
    struct Limits {
        std::int64_t samples = 1;          ///< of a batch; a request of more is one by itself
        std::chrono::microseconds wait{};  ///< of the oldest request, for others to come
    };
    /// Is called by the thread that computes; must not throw.
    using Deliver = std::function<void(Answer)>;

    /// All of them outlive it.
    Batcher(const NetworkForm& form, runtime::GivenPredictor& network, Limits limits,
            Metrics& metrics);

    /// By any thread.
    void submit(InferenceRequest request, Deliver deliver);
    /// Computes what is submitted, until stop().
    void run();
    /// By any thread. What has been submitted is still computed.
    void stop();

  private:
    struct Waiting {
        InferenceRequest request;
        Deliver deliver;
        std::chrono::steady_clock::time_point since;
    };
    /// Waits for the next batch; nothing: it is over.
    std::vector<Waiting> next();
    void answer(std::span<Waiting> batch);
    /// The predictions for all samples of the batch, one after the other.
    void predict(std::span<const Waiting> batch);

    const NetworkForm& form_;
    runtime::GivenPredictor& network_;
    const Limits limits_;
    Metrics& metrics_;

    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_.
    std::deque<Waiting> queue_;
    std::int64_t samples_ = 0;  ///< of those in the queue
    bool stopped_ = false;

    // Of the thread that computes.
    std::vector<double> predictions_;
    std::vector<std::vector<char>> joined_;  ///< by input
};

}  // namespace dtnn::serve
