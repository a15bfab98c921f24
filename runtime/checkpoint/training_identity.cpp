#include "runtime/checkpoint/training_identity.hpp"

#include <algorithm>

#include "plan/json/json.hpp"
#include "plan/rules/local_steps.hpp"
#include "runtime/base/checksum.hpp"

namespace dtnn::runtime {

/// A plan is made with no more in it than what counts, and its text is what is compared.
std::string training_identity(const plan::Plan& plan) {
    plan::Plan same;
    same.target.device = plan.target.device;
    same.target.dtype = plan.target.dtype;
    same.target.isa = plan.target.isa;
    same.training = plan.training;
    // Ranks share a global batch in one way or another: the two numbers are compared where a
    // training goes on (training_state.hpp).
    if (!plan::moves_locally(plan.parallel)) same.training.batch_size = 0;
    // The steps of a whole epoch follow from the samples and the ranks.
    if (plan.training.whole_epochs) same.training.steps_per_epoch = 0;
    // Checkpoints are written more often or less, and nothing else.
    same.training.checkpoint = {};
    same.dataset = plan.dataset;
    // Names of models and datasets may be those of the files that they were written in.
    same.dataset.name.clear();
    same.parallel = plan.parallel;
    const plan::Parallel usual;
    same.parallel.data = usual.data;
    same.parallel.any_ranks = usual.any_ranks;
    same.parallel.reduction = usual.reduction;
    same.parallel.bucket_bytes = usual.bucket_bytes;
    same.parallel.timeout_seconds = usual.timeout_seconds;
    same.parallel.optimizer = usual.optimizer;
    for (const plan::Layer& layer : plan.layers) {
        same.layers.push_back(layer);
        same.layers.back().place = {};
    }
    for (const plan::Parameter& parameter : plan.parameters) {
        if (parameter.optimizer_state) continue;
        plan::Parameter& kept = same.parameters.emplace_back();
        kept.name = parameter.name;
        kept.role = parameter.role;
        kept.trainable = parameter.trainable;
        kept.dtype = parameter.dtype;
        kept.dims = parameter.dims;
        kept.initializer = parameter.initializer;
        kept.layer = parameter.layer;
    }
    return checksum_text(plan::to_json(same));
}

}  // namespace dtnn::runtime
