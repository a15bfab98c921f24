#pragma once
/// An executor's parameters as tensors of a file: logical shape, row-major, by the plan's names or
/// others.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {

/// Views, and the memory of those whose elements do not lie in logical order.
class ParameterTensors {
  public:
    /// plan().parameters[index], under this name. Valid until the parameter changes.
    void add(const Executor& executor, std::size_t index, const std::string& name);
    /// A piece of a state that ranks have in parts; the executor has the whole of it.
    void add(const Executor& executor, const ShardTensor& tensor);
    std::span<const StoredTensor> all() const { return tensors_; }

  private:
    void add(const plan::Parameter& like, const std::byte* physical, const std::string& name);

    std::vector<StoredTensor> tensors_;
    std::vector<std::vector<std::byte>> storage_;
};

/// Writes a tensor's bytes, which are as many as the parameter's, to plan().parameters[index].
void set_parameter(const Executor& executor, std::size_t index, std::span<const std::byte> logical);

/// Writes a tensor's bytes to the executor's whole states, which have room.
void set_shard_tensor(Executor& executor, const ShardTensor& tensor,
                      std::span<const std::byte> logical);

/// The dims of `logical`: those of the weights, or one number.
Dims dims_of(const plan::Plan& plan, const ShardTensor& tensor);

/// The place of the moving average of each of the plan's parameters, where it has one.
std::vector<std::optional<std::size_t>> averages_of(const plan::Plan& plan);

/// The tensors that evaluation reads, under the names of weights: the moving average of every
/// parameter that is no optimizer state, or the parameter itself where it has none.
ParameterTensors evaluated_tensors(const Executor& executor);

/// Makes every moving average its parameter's value, as where a training begins with given weights.
void begin_averages(const Executor& executor);

/// "f32 [3,3,16]"
std::string describe_tensor(DType dtype, const Dims& dims);

}  // namespace dtnn::runtime
