#pragma once
/// What mpiexec and the ranks print, handed on to this program's own streams by a process of its
/// own. Some launchers end a job whose output cannot be written (Hydra with 255); a job outlives a
/// full disk under its log. A process and not a thread: it goes on when this program is killed, so
/// that mpiexec still has a reader while the ranks write their last checkpoint.

#include <sys/types.h>

#include "base/files.hpp"

namespace dtnn {

class Relay {
  public:
    enum class Streams { handed_on, as_they_are };
    /// Starts the process where streams are handed on. Where the system has no pipes or no process
    /// for it, they stay as they are. Called by a program of one thread.
    explicit Relay(Streams streams);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    /// In a process that is to be mpiexec: standard output and error become the relay's.
    void take_streams() const;
    /// When mpiexec and the ranks have ended: hands on what is left, as long as nobody holds the
    /// streams for more than a few seconds. Whether all of standard output has been written.
    bool finish();

  private:
    pid_t process_ = -1;
    Descriptor out_{-1}, error_{-1};  ///< that are written into
};

}  // namespace dtnn
