#pragma once
/// Prepares batches in background threads, two ahead, in memory that the plan books as staging; or
/// in the thread that waits for them, where samples are in memory and little is to be done to them.
///
/// The workers share the samples of a pass in small portions, in order. What a sample becomes is a
/// function of seed, epoch, sample and occurrence, and its place in a batch is given, so batches
/// are the same bits for any number of workers.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/staging.hpp"
#include "runtime/base/arrangement.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "runtime/device/arena.hpp"

namespace dtnn::runtime {

/// One pass over samples, in batches. With several ranks, batch n of a rank is batch n * ranks +
/// rank of the order (plan/rules/parallel.hpp): together they see what one rank sees. Samples are
/// mixed with their neighbours in the order, of which the rank prepares those of other batches too.
struct Pass {
    Split split = Split::train;
    /// The samples in order, which stays valid until the pass is over or the next one begins. An
    /// element is index + occurrence * (samples of the split): with over-sampling a sample comes
    /// more than once in an epoch, and each time with other augmentations.
    std::span<const std::int64_t> order = {};
    std::int64_t batch = 0;        ///< samples of a batch; the last one may be smaller
    std::int64_t first_batch = 0;  ///< this rank's first: where a resumed pass goes on
    std::int64_t last_batch = 0;   ///< one behind this rank's last; 0: all
    /// The epoch, from 0, whose augmentations and mixing the samples have. Nothing: samples as they
    /// are.
    std::optional<std::int64_t> epoch = std::nullopt;
    int rank = 0;
    int ranks = 1;
};

/// Where a batch goes: a program's inputs.
struct BatchInputs {
    std::vector<void*> features;
    void* target = nullptr;  ///< null: it has none
    bool labels = false;     ///< the target is of labels (i32); false: of numbers
};

/// Who prepares the samples of a pass.
enum class PreparedBy { threads_of_its_own, who_waits };

class Pipeline {
  public:
    /// What the prepared batches and the workers' samples take (plan/rules/staging.hpp).
    static std::int64_t staging_bytes(const plan::Plan& plan) { return plan::staging_bytes(plan); }

    /// Samples are stored in the types of the plan's inputs; `arrangements` map the logical places
    /// of each (channels, height, width) to those in memory. The source outlives the pipeline. One
    /// thread for each of the plan's data_workers, or none.
    Pipeline(const SampleSource& source, const plan::Plan& plan,
             std::vector<Arrangement> arrangements,
             PreparedBy prepared_by = PreparedBy::threads_of_its_own);
    /// Of a plan with one input.
    Pipeline(const SampleSource& source, const plan::Plan& plan, Arrangement sample)
        : Pipeline(source, plan, std::vector<Arrangement>{std::move(sample)}) {}
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Begins a pass; drops what an earlier one has left. Allocates nothing.
    void start(const Pass& pass);
    /// Samples as they are, `most` batches of them (0: all).
    void start(Split split, std::span<const std::int64_t> order, std::int64_t batch,
               std::int64_t most = 0) {
        start({.split = split, .order = order, .batch = batch, .last_batch = most});
    }

    /// Waits for the next batch; its number of samples, 0 when the pass is over for this rank,
    /// which may be a step earlier than for the first one. Throws what the source has thrown, for
    /// the first sample in the order that it could not give, after the batches before it.
    std::int64_t wait();

    /// Copies the batch that wait() has announced to the program's inputs.
    void take(const BatchInputs& inputs);

    /// Ends the pass and waits until the source is no longer in use.
    void stop();

  private:
    /// A batch that is being prepared, or is ready.
    struct Slot {
        std::vector<std::byte*> rows;  ///< by Pipeline::rows_: those of all samples
        std::int64_t finished = 0;     ///< samples
        bool ready = false;
    };
    /// The elements of a sample that a program takes for one of its inputs.
    struct Row {
        std::int64_t bytes = 0;
        bool reals = true;  ///< in the plan's type; false: integers of 32 bits
    };
    /// What a thread has of its own.
    struct Worker {
        Sample sample;
        SampleScratch scratch;
        Slot partner;  ///< room for one sample, where samples are mixed
        std::thread thread;
    };
    /// Samples of one batch that a worker has taken on.
    struct Portion {
        std::int64_t number = 0;  ///< the batch's number
        std::int64_t begin = 0;   ///< in the order
        std::int64_t end = 0;
    };

    void work(Worker& worker);
    void prepare_portion(Worker& worker, std::unique_lock<std::mutex>& lock);
    void end_workers();
    /// Those of the inputs, then the target's: its classes, and its numbers.
    static std::vector<Row> rows_of(const plan::Plan& plan);
    std::size_t labels_row() const { return rows_.size() - 2; }
    std::size_t numbers_row() const { return rows_.size() - 1; }
    /// Calls use(row) with the row as numbers of the plan's type.
    template <class Use>
    void with_reals(std::byte* row, const Use& use) const {
        if (dtype_ == DType::f64)
            use(reinterpret_cast<double*>(row));
        else
            use(reinterpret_cast<float*>(row));
    }
    void prepare(Worker& worker, std::int64_t position, std::int64_t at, const Slot& slot) const;
    void check_image(const Sample& sample, std::int64_t index) const;
    void store_input(std::size_t i, const SampleArray& array, std::byte* row) const;
    void store_scaled(std::size_t i, const SampleArray& array, std::byte* row) const;
    void store_target(const SampleArray& array, std::int64_t index, std::int64_t at,
                      const Slot& slot) const;
    void mix_with_other_batch(Worker& worker, std::int64_t position, plan::Part batch,
                              const Slot& slot) const;
    void mix_pairs(plan::Part batch, const Slot& slot) const;
    double share_of(std::int64_t position) const;
    bool has_work() const;
    Portion take_portion();
    /// This rank's batch `number`: positions in the order. The numbers of batches are this rank's.
    plan::Part part(std::int64_t number) const;
    std::int64_t batch_samples(std::int64_t number) const { return part(number).count; }
    Slot& slot_of(std::int64_t number) { return slots_[std::size_t(number) % slots_.size()]; }

    const SampleSource& source_;
    const PreparedBy prepared_by_;
    const plan::Dataset dataset_;
    std::vector<Arrangement> arrangements_;
    const bool image_;  ///< the first input is one
    SampleChain chain_;
    DType dtype_;
    std::vector<Row> rows_;
    std::int64_t largest_batch_;
    std::optional<double> mixing_;  ///< alpha of mixup
    std::uint64_t mixing_key_;
    Arena staging_;

    std::mutex mutex_;
    std::condition_variable work_;   ///< told when there may be something to prepare
    std::condition_variable ready_;  ///< told when a batch is ready, or a worker is idle
    // Guarded by mutex_; pass_ changes only while no worker is busy.
    Pass pass_;
    std::vector<Slot> slots_;
    std::int64_t end_ = 0;         ///< the end of the pass, in the order
    std::int64_t batches_ = 0;     ///< this rank's in the pass
    std::int64_t next_batch_ = 0;  ///< the first with samples that no worker has taken on yet
    std::int64_t next_ = 0;        ///< the first of these samples, in the batch
    std::int64_t taken_ = 0;       ///< the batch that wait() gives next
    int busy_ = 0;                 ///< workers that are preparing samples
    bool quit_ = false;
    std::atomic<bool> cancelled_ = false;  ///< nobody waits for the samples in hand
    std::exception_ptr error_;
    std::int64_t error_at_ = 0;  ///< the first sample of the order that has failed

    std::vector<Worker> workers_;  ///< last: they use all of the above
};

}  // namespace dtnn::runtime
