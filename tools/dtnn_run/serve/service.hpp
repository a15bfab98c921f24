#pragma once
/// What is answered to whom: the paths of the Open Inference Protocol, and /metrics.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/dtnn_run/serve/batcher.hpp"
#include "tools/dtnn_run/serve/http.hpp"
#include "tools/dtnn_run/serve/metrics.hpp"
#include "tools/dtnn_run/serve/network_form.hpp"
#include "tools/dtnn_run/serve/route.hpp"

namespace dtnn::serve {

class Service {
  public:
    /// All but the token outlive it. An empty token: none is asked for. `most_body` are the bytes
    /// of a body at most.
    Service(const NetworkForm& form, Batcher& batcher, Metrics& metrics, std::string token,
            std::uint64_t most_body);

    /// Where a request leads, before its body is read.
    struct Routed {
        Route route = Route::none;
        std::optional<Answer> refused;  ///< why it leads nowhere
    };
    Routed route(const RequestHead& head) const;

    /// Answers at once, or by the thread that computes.
    void answer(Route route, const RequestHead& head, std::vector<char> body,
                const Batcher::Deliver& deliver);

    /// From now on it is not ready: no more requests are to come.
    void end() { ending_ = true; }

  private:
    Answer answer_now(Route route) const;
    bool is_allowed(const std::string& authorization) const;

    const NetworkForm& form_;
    Batcher& batcher_;
    Metrics& metrics_;
    const std::string token_;
    const std::uint64_t most_body_;
    std::atomic<bool> ending_ = false;
};

}  // namespace dtnn::serve
