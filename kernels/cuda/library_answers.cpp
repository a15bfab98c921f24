/// The work of NVIDIA's libraries on a device, done by the reference kernels on the host.

#include "kernels/cuda/launch.hpp"
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
#define LIBRARY(op, name, Arguments, dtypes, refuses, workspace)                    \
    namespace reference {                                                           \
    template <class T>                                                              \
    void op##_reference(const Arguments<T>& arguments, ThreadTeam& team);           \
    }                                                                               \
    namespace cuda {                                                                \
    template <class T>                                                              \
    void op##_##name(const Arguments<T>& arguments, const Launch& launch) {         \
        if (arguments.engine >= kEnginesPlayed) throw NoSuchEngine{};               \
        launch.on_host([arguments](HostOrder) {                                     \
            ThreadTeam alone(1);                                                    \
            reference::op##_reference(arguments, alone);                            \
        });                                                                         \
    }                                                                               \
    template void op##_##name<float>(const Arguments<float>&, const Launch&);       \
    template void op##_##name<double>(const Arguments<double>&, const Launch&);     \
    template void op##_##name<BFloat16>(const Arguments<BFloat16>&, const Launch&); \
    template void op##_##name<Float16>(const Arguments<Float16>&, const Launch&);   \
    }
#include "kernels/cuda/catalogue.def"
#undef KERNEL
#undef LIBRARY

}  // namespace dtnn::kernels
