#pragma once
/// A CUDA device as the executor sees it, whoever answers its calls.
///
/// Two streams. On one steps run in the order of the plan; on the other inputs come, into room of
/// their own, while the run before is under way:
///
///     copies:   [host -> room]            [host -> room]
///                     \ arrived            ^ taken   \ arrived
///     compute:         [room -> inputs] [steps] [outputs -> host]  [room -> inputs] [steps] ...
///
/// The steps of a program's first run are put on the stream one by one, because kernels allocate in
/// their first run; the second run captures them as a graph, which is launched from then on.

#include <memory>

#include "runtime/device/cuda/api.hpp"
#include "runtime/device/device.hpp"

namespace dtnn::runtime::cuda {

/// Errors of the API become RunErrors, or DeviceErrors of steps. Everything taken from the API is
/// given back before the API's end.
std::unique_ptr<Device> make_device(std::unique_ptr<Api> api);

/// The machine's device of this number among those that are visible (CUDA_VISIBLE_DEVICES), by
/// libdtnn_cuda.so. RunErrors (exit 5) say what is missing: the library, the driver, a device.
std::unique_ptr<Device> open_cuda(int number);
/// Whether the library is there; the RunError otherwise.
void need_cuda();

}  // namespace dtnn::runtime::cuda
