#pragma once
/// Ctrl-C and SIGTERM: the first asks the run to stop at the next step, the second ends the program
/// at once.

namespace dtnn::runtime {

/// Installs the handlers, and ignores SIGPIPE so that a closed pipe is an ordinary error. Call
/// once, from main.
void install_signal_handlers();

/// The signal that asked the run to stop, or 0.
int stop_requested();

/// As if the signal had come; 0 takes the request back. For tests.
void request_stop(int signal);

}  // namespace dtnn::runtime
