#include "runtime/train/given_predictor.hpp"

#include <numeric>
#include <span>
#include <utility>

#include "runtime/exec/executor.hpp"
#include "runtime/train/session.hpp"

namespace dtnn::runtime {

GivenPredictor::GivenPredictor(Executor& executor)
    : given_(executor.plan().dataset),
      batches_(given_, executor.plan(), sample_arrangements(executor.plan()),
               PreparedBy::who_waits),
      predictor_(executor, batches_, given_) {}

void GivenPredictor::predict(std::vector<GivenArray> arrays,
                             const std::function<void(const PredictedBatch&)>& tell) {
    given_.take(std::move(arrays));
    const auto samples = std::size_t(given_.size(Split::test));
    if (samples > order_.size()) {
        order_.resize(samples);
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
    }
    const bool prepared = std::exchange(prepared_, false);
    predictor_.predict(Split::test, std::span<const std::int64_t>(order_).first(samples), tell,
                       prepared);
    prepared_ = true;
}

}  // namespace dtnn::runtime
