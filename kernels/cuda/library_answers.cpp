/// The work of NVIDIA's libraries on a device, done by the reference kernels on the host.

#include "kernels/cuda/kernel.hpp"
#include "kernels/thread_team.hpp"

#define DTNN_ARGUMENTS_HEADERS
#include "kernels/catalogue.def"
#undef DTNN_ARGUMENTS_HEADERS

namespace dtnn::kernels {
namespace cuda {
namespace {

/// As many as the libraries have, all alike.
constexpr int kEnginesPlayed = 3;

}  // namespace
}  // namespace cuda

#define KERNEL(op, name, Arguments, dtypes, refuses, workspace)
#define JOINED(op, name, Arguments, dtypes)
#define LIBRARY(op, name, Arguments, dtypes, refuses, workspace)         \
    namespace reference {                                                \
    DTNN_DECLARE_KERNEL(op##_reference, Arguments, ThreadTeam)           \
    void op##_reference(const Arguments<BFloat16>& a, ThreadTeam& team); \
    void op##_reference(const Arguments<Float16>& a, ThreadTeam& team);  \
    }                                                                    \
    namespace cuda {                                                     \
    DTNN_CUDA_KERNEL_OF_VALUES(op##_##name, Arguments) {                 \
        if (a.engine >= kEnginesPlayed) throw NoSuchEngine{};            \
        launch.on_host([a](HostOrder) {                                  \
            ThreadTeam alone(1);                                         \
            reference::op##_reference(a, alone);                         \
        });                                                              \
    }                                                                    \
    }
#include "kernels/cuda/catalogue.def"
#undef KERNEL
#undef JOINED
#undef LIBRARY

}  // namespace dtnn::kernels
