#pragma once
/// The layer table of a plan, with totals, memory and work.

#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct Work {
    std::int64_t forward_flops_per_sample = 0;  ///< of the layers, before fusion
    std::int64_t train_step_flops = 0;          ///< one full batch: forward, backward, update
    std::int64_t train_step_bytes = 0;          ///< the least memory traffic of the same steps
    std::int64_t evaluate_step_flops = 0;       ///< one full batch, without the prologue
    std::int64_t evaluate_step_bytes = 0;
    int train_steps = 0;  ///< kernels run for one full batch
    int evaluate_steps = 0;
};
Work work_of(const Plan& plan);

/// "202,458"
std::string grouped(std::int64_t number);
/// "287.3 MiB"
std::string bytes_text(std::int64_t bytes);
/// "1.23 GFLOP"
std::string flops_text(std::int64_t flops);

/// The table fitted to `width` columns (the attributes are cut with "..." first, and left out when
/// there is no room).
std::string summary_text(const Plan& plan, int width);

/// {"version": 1, "name", "layers": [{"index", "name", "type", "parameters", "output_shape",
/// "weights_shape", "attributes"}], "parameters": {"total", "trainable", "bytes"}, "memory": {...},
/// "work": {...}}
std::string summary_json(const Plan& plan);

}  // namespace dtnn::plan
