#pragma once
/// Ends a job of several ranks where MPI is not up, or not in this process.

namespace dtnn::runtime {

/// Tells the launcher over PMI's connection (PMI_FD, inherited) to end the job with this code: the
/// request `cmd=abort` of PMI version 1, as MPICH's mpiexec and Slurm's pmi2 take it. Without it a
/// rank that ends before it has joined the others would leave them waiting, and mpiexec would end
/// with the signal that it ends the others with instead of the code. Nothing where there is no such
/// connection.
void abort_by_launcher(int code);

/// Waits, for a second at most, until the launcher has read and passed on what this process has
/// written: a launcher that is told to end the job drops what it has not.
void let_output_pass();

}  // namespace dtnn::runtime
