#pragma once
/// The most that a machine computes and moves, measured: what the speed of kernels is compared
/// with.

#include "kernels/problem.hpp"

namespace dtnn::kernels {

class ThreadTeam;

/// Floating-point operations a second of all threads of the team together, multiplications and
/// additions on registers alone; of f32 or f64. Takes some hundredths of a second.
double arithmetic_roof(Isa isa, DType dtype, ThreadTeam& team);

/// Bytes a second that all threads of the team together read and write, two streams in and one
/// out, of arrays that no cache holds. Takes some tenths of a second and 96 MiB a thread. The
/// bytes are those of the arrays: what a processor reads before it writes is not counted.
double memory_roof(ThreadTeam& team);

}  // namespace dtnn::kernels
