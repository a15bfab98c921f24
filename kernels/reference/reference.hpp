#pragma once
/// The naive kernels are the yardstick of all tests: plain loops in the order of the formula, sums
/// in double, any physical order of the operands, one thread. This is what they share.

#include "kernels/thread_team.hpp"

/// Instantiates a reference kernel for the two floating types.
#define DTNN_REFERENCE(op, Arguments)                                          \
    template void op##_reference<float>(const Arguments<float>&, ThreadTeam&); \
    template void op##_reference<double>(const Arguments<double>&, ThreadTeam&);
