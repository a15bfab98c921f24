#pragma once
/// A plan that is run, asked by calls: what is behind a dtnn_network. One thread at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoint/memory_keeper.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/given_predictor.hpp"
#include "runtime/train/loop.hpp"
#include "runtime/train/session.hpp"
#include "tools/dtnn_run/kept_run.hpp"
#include "tools/library/late_source.hpp"

namespace dtnn::library {

struct OpenRequest {
    int threads = 0;         ///< 0: OMP_NUM_THREADS, else the plan's
    std::string weights;     ///< empty: none
    std::string run_folder;  ///< empty: none
    bool replace_run = false;
};

/// How far a call trains: so many epochs or steps more; both 0: to the end.
struct TrainExtent {
    std::int64_t epochs = 0;
    std::int64_t steps = 0;
};

/// True: the training is to stop.
struct TrainListener {
    std::function<bool(const runtime::Progress&)> step;
    std::function<bool(const runtime::EpochResult&)> epoch;
};

struct Trained {
    std::int64_t epoch = 0, step = 0;
    bool ended = false, stopped = false;
};

class Network {
  public:
    using Warnings = std::vector<std::string>;

    Network(const runtime::LoadedPlan& plan, const OpenRequest& request, Warnings& warnings);

    const plan::Plan& plan() const { return loaded_.plan; }
    int threads() const { return threads_; }
    const std::vector<std::string>& class_names() const { return class_names_; }

    /// The predictions for all samples of the arrays, one for each input, to `to`: [samples, dims]
    /// of the predictions' form.
    template <class Real>
    void predict(std::vector<runtime::GivenArray>&& arrays, std::span<Real> to);
    runtime::PassValues evaluate(const std::string& split, Warnings& warnings);
    Trained train(const TrainExtent& extent, const TrainListener& listener, Warnings& warnings);

    /// Indices of plan().parameters that are no state of the optimizer.
    const std::vector<std::size_t>& weights() const { return weights_; }
    /// The logical elements, as many bytes as the parameter has.
    void read_weight(std::size_t parameter, std::span<std::byte> to);
    void write_weight(std::size_t parameter, std::span<const std::byte> from);
    void save_weights(const std::string& path);
    void load_weights(const runtime::WeightRequest& request, Warnings& warnings);

  private:
    void open_data(Warnings& warnings);
    void keep_run(const OpenRequest& request, Warnings& warnings);
    void finish(const runtime::TrainingResult& result);
    bool over() const;
    std::int64_t to_update(std::int64_t step) const;
    /// The executor has run, or its parameters have changed.
    void prepare_again() {
        if (predictor_) predictor_->prepare_again();
    }

    runtime::LoadedPlan loaded_;
    int threads_ = 1;
    LateSource* source_ = nullptr;  ///< the session's
    std::optional<runtime::Session> session_;
    std::vector<std::size_t> weights_;
    std::vector<std::string> class_names_;
    runtime::TrainedNames trained_names_;  ///< those that the weights came with

    std::optional<runtime::GivenPredictor> predictor_;  ///< from the first prediction on

    // Training.
    std::optional<runtime::MemoryKeeper> memory_;
    std::optional<KeptRun> kept_;  ///< in a folder
    Warnings mended_;              ///< what the kept run tells
    runtime::TrainingState state_;
    bool begun_ = false;
    bool finished_ = false;  ///< what comes behind a training is done
};

}  // namespace dtnn::library
