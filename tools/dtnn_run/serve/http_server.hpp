#pragma once
/// HTTP/1.1 by Boost.Beast: connections, their deadlines, and the end.

#include <functional>
#include <memory>
#include <string>

#include "tools/dtnn_run/serve/metrics.hpp"
#include "tools/dtnn_run/serve/service.hpp"

namespace dtnn::serve {

struct Listening {
    std::string address = "127.0.0.1";
    int port = 8080;        ///< 0: any that is free
    std::string socket;     ///< the path of a Unix socket, in place of address and port
    int threads = 1;        ///< that read requests and write answers
    int connections = 256;  ///< at most
    /// The most seconds that a client takes for a request's header (from the last answer on), for
    /// its body, and to take an answer.
    int deadline_seconds = 30;
};

/// Whether an address is one of this machine alone. RunError (usage) where it is none.
bool is_loopback(const std::string& address);

/// Listens from the constructor on. SIGTERM, SIGINT, SIGHUP and SIGUSR1 end it: nobody is let in
/// any more, what has begun is answered, idle connections are closed; one of them again, a quarter
/// of a second later or more, ends the program.
class HttpServer {
  public:
    /// Service and metrics outlive it. `ended` is called once, by a thread of the server, when the
    /// last connection has ended after a signal. RunError where it cannot listen.
    HttpServer(const Listening& listening, Service& service, Metrics& metrics,
               std::function<void()> ended);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// "http://127.0.0.1:8080", or "unix:PATH".
    const std::string& where() const;

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace dtnn::serve
