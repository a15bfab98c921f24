#pragma once
/// The naive kernels are the yardstick of all tests: plain loops in the order of the formula, sums
/// in double, any physical order of the operands, one thread. This is what they share.

#include "kernels/arguments/arguments.hpp"
#include "kernels/thread_team.hpp"

/// Begins a reference kernel for the two floating types, of the arguments `a` and the threads
/// `team`.
#define DTNN_REFERENCE(op, Arguments) \
    DTNN_DEFINE_KERNEL(op##_reference, Arguments, ThreadTeam, team, DTNN_OF_FLOATS)
/// One that answers for NVIDIA's libraries as well where the host plays a device.
#define DTNN_REFERENCE_OF_VALUES(op, Arguments) \
    DTNN_DEFINE_KERNEL(op##_reference, Arguments, ThreadTeam, team, DTNN_OF_VALUES)
