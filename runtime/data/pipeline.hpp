#pragma once
/// Prepares batches in a background thread, two deep, in memory that the plan books as staging.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/base/arrangement.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/device/arena.hpp"

namespace dtnn::runtime {

class Pipeline {
  public:
    /// What the two staging places take: samples in `dtype` and 32-bit labels.
    static std::int64_t staging_bytes(const plan::Plan& plan);

    /// Samples are stored in the plan's floating type; `sample` maps channels, height, width to the
    /// place in memory. The source outlives the pipeline, and only the pipeline calls it.
    Pipeline(SampleSource& source, const plan::Plan& plan, Arrangement sample);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Begins a pass: batches of `batch` samples of the split in this order, the last one smaller
    /// if need be, at most `most` of them (0: all). Drops what an earlier pass has left. `order`
    /// stays valid until the pass is over or the next one begins. Allocates nothing.
    void start(Split split, std::span<const std::int64_t> order, std::int64_t batch,
               std::int64_t most = 0);

    /// Waits for the next batch; its number of samples, 0 when the pass is over. Throws what the
    /// source has thrown.
    std::int64_t wait();

    /// Copies the batch that wait() has announced to the program's inputs; `labels` may be null.
    void take(void* source, std::int32_t* labels);

    /// Ends the pass and waits until the source is no longer in use.
    void stop();

  private:
    void work();
    void prepare(std::int64_t number);
    std::int64_t batch_samples(std::int64_t number) const;
    std::byte* slot_source(std::int64_t number) const;
    std::int32_t* slot_labels(std::int64_t number) const;

    SampleSource& source_;
    Arrangement sample_;
    plan::DType dtype_;
    std::int64_t sample_bytes_;
    std::int64_t sample_labels_;  ///< one, or as many as pixels
    std::int64_t largest_batch_;
    std::int64_t classes_;
    Arena staging_;
    Sample loaded_;

    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_; the pass itself changes only while the worker is idle.
    Split split_ = Split::train;
    std::span<const std::int64_t> order_;
    std::int64_t batch_ = 0;
    std::int64_t batches_ = 0;   ///< of the pass
    std::int64_t prepared_ = 0;  ///< batches ready or taken
    std::int64_t taken_ = 0;
    bool busy_ = false;  ///< the worker is preparing a batch
    bool end_ = false;
    std::exception_ptr error_;

    std::thread worker_;  ///< last: it uses all of the above
};

}  // namespace dtnn::runtime
