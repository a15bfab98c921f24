#pragma once
/// Requests and answers of HTTP as they are served, whoever carries them.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dtnn::serve {

enum class Status : int {
    ok = 200,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    length_required = 411,
    content_too_large = 413,
    unsupported_media_type = 415,
    internal_error = 500,
    service_unavailable = 503
};

/// The header of a request, as far as anybody here asks for it.
struct RequestHead {
    std::string method;
    std::string target;         ///< "/v2/models/NAME/infer"
    std::string authorization;  ///< "Bearer TOKEN"
    std::string origin;         ///< set by browsers
    std::string content_encoding;
    std::string inference_header_content_length;  ///< of the binary tensor extension
    bool chunked = false;                         ///< the body's length is not said
    std::uint64_t content_length = 0;
};

struct Answer {
    Status status = Status::ok;
    std::string body;
    std::string content_type = "application/json";
    std::string allow = {};                            ///< the method that there is, with 405
    std::string inference_header_content_length = {};  ///< of the binary tensor extension
};

/// A request that is refused: what() is the observed fact and the remedy, which the client is told.
class Refused : public std::runtime_error {
  public:
    Refused(Status status, const std::string& reason)
        : std::runtime_error(reason), status_(status) {}
    Status status() const { return status_; }

  private:
    Status status_;
};

/// {"error": REASON}
Answer error_answer(Status status, const std::string& reason);

}  // namespace dtnn::serve
