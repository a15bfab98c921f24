#pragma once
/// Ctrl-C, SIGTERM and SIGUSR1: the first asks the run to stop at the next update, SIGTERM
/// or Ctrl-C again, a quarter of a second later or more, ends the program at once.

namespace dtnn::runtime {

/// Installs the handlers, and ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file at its
/// limit are ordinary errors. Call once, from main.
void install_signal_handlers();

/// The signal that asked the run to stop, or 0.
int stop_requested();

/// Does what the signal would; 0 takes the request back. For tests.
void request_stop(int signal);

}  // namespace dtnn::runtime
