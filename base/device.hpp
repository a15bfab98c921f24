#pragma once
/// Marks functions that are called on devices as well as on the host.

#if defined(__CUDACC__)
#define DTNN_DEVICE __host__ __device__
#else
#define DTNN_DEVICE
#endif
