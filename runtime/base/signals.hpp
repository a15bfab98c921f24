#pragma once
/// Ctrl-C, SIGTERM, SIGHUP and SIGUSR1: the first asks the run to stop at the next update; one of
/// them but SIGUSR1 again, a quarter of a second later or more, ends the program at once.

#include <string>

namespace dtnn::runtime {

/// Installs the handlers, and ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file at its
/// limit are ordinary errors. Call once, from main.
void install_signal_handlers();

/// The signal that asked the run to stop, or 0.
int stop_requested();

/// While one lives, a training is under way: a stop is answered where it updates, with a
/// checkpoint, and nowhere else.
class UnderWay {
  public:
    UnderWay();
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
};

/// Throws RunError, Exit::interrupted, when a stop was requested and no training is under way:
/// nothing would be lost. `work` is what is left undone: "reading weights.npz".
void stop_before(const std::string& work);

/// Does what the signal would; 0 takes the request back. For tests.
void request_stop(int signal);

}  // namespace dtnn::runtime
