#pragma once
/// Which MPI a process takes: by the variable DTNN_MPI of the environment, else by who has started
/// the ranks, else by which library of ours is there, MPICH's first.

#include <string>

#include "base/plugin.hpp"
#include "runtime/comm/mpi_flavour.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn::runtime {

/// What DTNN_MPI asks for; null: nothing. RunError (exit 2) where it is no word of a flavour.
const MpiFlavour* asked_mpi();

/// What messages recommend, without anything being opened: the MPI that is open, else the one that
/// is asked for, else the first whose library is there, else MPICH.
const MpiFlavour& likely_mpi();

/// "install MPICH (...) and build libdtnn_mpich.so (CMake's DTNN_MPI), or install the package ..."
std::string how_to_build(const MpiFlavour& flavour);

/// The library by which ranks that a launcher has started meet, opened. RunError where DTNN_MPI
/// asks for an MPI that does not meet by this launcher, or only the library of such a one is there
/// (exit 2: each rank would take itself for rank 0 of 1); where there is none, or none that loads
/// (exit 1).
Plugin open_mpi(const StartedRanks& started);

}  // namespace dtnn::runtime
