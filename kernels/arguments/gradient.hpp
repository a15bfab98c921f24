#pragma once
/// The operators of gradients and weights around an update.
///
///     gradient_square_sum   dst = sum of diff^2 over all elements, in double whatever the type
///     gradient_scale        dst = min(1, clip_norm / (norm + 1e-6)), norm = sqrt(sum of sources);
///                           a norm that is not a number makes dst one that is not either
///                           (torch.nn.utils.clip_grad_norm_). Where the gradients are `shared`,
///                           they are divided by the last source, the sum of the batches' shares,
///                           first: norm / shares, dst / shares; 0 where that sum is. Without
///                           clip_norm dst is 1 or 1 / shares. Where the loss was multiplied by a
///                           scale (`loss_scaled`), they are divided by that as well, and dst is
///                           not a number where the norm is none or infinite.
///     adapt_loss_scale      where factor, dst of gradient_scale, is not a number: scale' = scale /
///     2,
///                           at least 1, updates' = 0; else updates' = updates + 1, and when they
///                           are growth_interval, scale' = 2 scale, at most 2^24, and updates' = 0
///                           (Micikevicius et al., "Mixed precision training", ICLR 2018; numbers
///                           of torch.cuda.amp.GradScaler)
///     accumulate_gradient   sum' = sum + diff
///     take_gradient_sum     total = sum + diff;  sum' = 0
///     weigh_gradient        dst = batch_weight diff
///     moving_average        average' = decay average + (1 - decay) weights
///
/// batch_weight is the batch's share of the samples (or of the labels' weights) of one update, so
/// that the total is the gradient of the mean over all of them, whatever the batches' sizes.
/// Results may overwrite their sources: sum' and average' what they replace, total and dst also
/// diff.

#include <vector>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct GradientSquareSumArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t count = o.source("diff").elements();
    const T* diff = o.source("diff");
    double* dst = o.result("dst");
    double* sums = o.scratch<double>();  ///< one for every chunk
};

template <class T>
struct GradientScaleArguments : FromOperands {
    double clip_norm = o.problem.real("clip_norm", 0);  ///< 0: nothing is clipped
    std::vector<const double*> square_sums;
    const T* shares = o.source("shares");          ///< null: one
    const T* loss_scale = o.source("loss_scale");  ///< null: one
    T* dst = o.result("dst");

    explicit GradientScaleArguments(const Operands& operands) : FromOperands(operands) {
        for (const void* sum : o.repeated())
            square_sums.push_back(static_cast<const double*>(sum));
    }
};

inline constexpr double kLeastLossScale = 1, kMostLossScale = 16777216;

template <class T>
struct AdaptLossScaleArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t growth_interval = o.problem.integer("growth_interval");
    const T *scale = o.source("scale"), *updates = o.source("updates"),
            *factor = o.source("factor");
    T *new_scale = o.result("new_scale"), *new_updates = o.result("new_updates");
};

template <class T>
struct GradientSumArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t count = o.source("sum").elements();
    const T *sum = o.source("sum"), *diff = o.source("diff");
    T* new_sum = o.result("sum");
    T* total = o.result("total");  ///< take_gradient_sum only
};

template <class T>
struct WeighGradientArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t count = o.source("diff").elements();
    const T *diff = o.source("diff"), *batch_weight = o.source("batch_weight");
    T* dst = o.result("dst");
};

template <class T>
struct MovingAverageArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t count = o.source("average").elements();
    double decay = o.problem.real("decay");
    const T *average = o.source("average"), *weights = o.source("weights");
    T* new_average = o.result("average");
};

}  // namespace dtnn::kernels
