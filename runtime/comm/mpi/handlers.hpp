#pragma once
/// Signals, where MPI and the libraries below it mean to have a say.

#include <signal.h>

namespace dtnn::runtime::mpi {

/// For as long as it lives:
/// MPICH takes SIGUSR1 in MPI_Init and calls the handler that was there with no more than the
/// signal's number; the program's looks at where a signal comes from, and would find anything. What
/// MPICH means to learn by the signal (a rank that mpiexec was asked to outlive) is not used here.
class KeepHandlers {
  public:
    KeepHandlers() {
        sigset_t taken;
        sigemptyset(&taken);
        sigaddset(&taken, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &taken, &mask_);
        sigaction(SIGUSR1, nullptr, &handler_);
    }
    ~KeepHandlers() {
        sigaction(SIGUSR1, &handler_, nullptr);
        pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    }
    KeepHandlers(const KeepHandlers&) = delete;
    KeepHandlers& operator=(const KeepHandlers&) = delete;

  private:
    struct sigaction handler_ {};
    sigset_t mask_{};
};

/// A rank that reads another one's memory when that one is killed is ended by UCX, which calls
/// abort(): the innocent rank would be named, and be the reason of a restart. From now on abort()
/// takes a second, in which the launcher, told of the rank that was killed, ends this one. Before
/// MPI begins.
void let_others_abort_first();

}  // namespace dtnn::runtime::mpi
