/// In place of http_server.cpp where Boost is not.

#include "runtime/base/run_error.hpp"
#include "tools/dtnn_run/serve/http_server.hpp"

namespace dtnn::serve {

class HttpServer::Parts {};

bool is_loopback(const std::string& /*address*/) {
    throw runtime::RunError(
        runtime::Exit::failed, "this dtnn-run was built without Boost.Beast, which serves HTTP",
        "install Boost's headers (Debian: libboost-dev), run cmake again and build");
}

HttpServer::HttpServer(const Listening& listening, Service& /*service*/, Metrics& /*metrics*/,
                       // NOLINTNEXTLINE(performance-unnecessary-value-param): the server keeps it
                       std::function<void()> /*ended*/) {
    static_cast<void>(is_loopback(listening.address));
}

HttpServer::~HttpServer() = default;

const std::string& HttpServer::where() const {
    static const std::string nowhere;
    return nowhere;
}

}  // namespace dtnn::serve
