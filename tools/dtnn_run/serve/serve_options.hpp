#pragma once
/// What `dtnn-run serve` is asked for beside plan and weights.

#include <string>

namespace dtnn::serve {

struct ServeOptions {
    std::string name;  ///< of the model, to clients; empty: the plan's
    std::string address = "127.0.0.1";
    int port = 8080;         ///< 0: any that is free
    std::string socket;      ///< the path of a Unix socket, in place of address and port
    std::string token_file;  ///< empty: no token is asked for
    double batch_wait_ms = 1;
    int max_batch = 0;  ///< samples; 0: the plan's batch
    int max_connections = 256;
    int max_body_mib = 0;  ///< 0: what a batch takes as JSON
    int client_seconds = 30;
    int http_threads = 0;  ///< 0: as many as compute, at most four
};

}  // namespace dtnn::serve
