#include "tools/dtnn_run/serve/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace dtnn::serve {
namespace {

/// A segment of a path that stands for the network's name.
constexpr std::string_view kName = "NAME";

struct Path {
    const char* method;
    const char* path;
    Route route;
    bool needs_token;  ///< those who only watch whether it runs have none
};
constexpr Path kPaths[] = {
    {"GET", "/v2", Route::server, true},
    {"GET", "/v2/health/live", Route::live, false},
    {"GET", "/v2/health/ready", Route::ready, false},
    {"GET", "/v2/models/NAME", Route::model, true},
    {"GET", "/v2/models/NAME/ready", Route::model_ready, true},
    {"POST", "/v2/models/NAME/infer", Route::infer, true},
    {"GET", "/metrics", Route::metrics, true},
};

/// "a%20b" is "a b" (RFC 3986, section 2.1); what is no escape stays as it is.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned code = 0;
        const char* const digits = text.data() + i + 1;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
            out += char(code);
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

/// Whether a path is one of the table's; `name` is then the segment that stands for NAME.
bool matches(std::string_view path, std::string_view pattern, std::string_view& name) {
    const std::size_t place = pattern.find(kName);
    if (place == std::string_view::npos) return path == pattern;
    const std::string_view before = pattern.substr(0, place);
    const std::string_view behind = pattern.substr(place + kName.size());
    if (path.size() <= before.size() + behind.size() || !path.starts_with(before) ||
        !path.ends_with(behind))
        return false;
    name = path.substr(before.size(), path.size() - before.size() - behind.size());
    return name.find('/') == std::string_view::npos;
}

}  // namespace

Service::Service(const NetworkForm& form, Batcher& batcher, Metrics& metrics, std::string token,
                 std::uint64_t most_body)
    : form_(form),
      batcher_(batcher),
      metrics_(metrics),
      token_(std::move(token)),
      most_body_(most_body) {}

/// In a time that does not tell how much of it is right.
bool Service::is_allowed(const std::string& authorization) const {
    constexpr std::string_view kScheme = "bearer ";
    if (lower(authorization.substr(0, kScheme.size())) != kScheme) return false;
    const std::string_view given = std::string_view(authorization).substr(kScheme.size());
    unsigned difference = given.size() == token_.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i)
        difference |= unsigned(given[i] ^ token_[i % token_.size()]);
    return difference == 0;
}

Service::Routed Service::route(const RequestHead& head) const {
    const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
    std::string_view name;
    const Path* const found =
        std::find_if(std::begin(kPaths), std::end(kPaths),
                     [&](const Path& one) { return matches(path, one.path, name); });
    const auto refuse = [&](Status status, const std::string& reason) {
        return Routed{found == std::end(kPaths) ? Route::none : found->route,
                      error_answer(status, reason)};
    };
    const bool needs_token = found == std::end(kPaths) || found->needs_token;
    if (!token_.empty() && needs_token && !is_allowed(head.authorization))
        return refuse(
            Status::unauthorized,
            "this server asks for a token; send the header `Authorization: Bearer TOKEN`");
    // Any page that somebody looks at on this machine could send requests.
    if (token_.empty() && !head.origin.empty())
        return refuse(Status::forbidden,
                      "requests of web pages (with the header Origin) are refused where no token "
                      "is asked for; start the server with --token-file");
    if (found == std::end(kPaths)) {
        std::string paths;
        for (const Path& one : kPaths)
            paths += fmt::format("{}{}", paths.empty() ? "" : ", ", one.path);
        return refuse(Status::not_found, fmt::format("there is no {}; there are {}, where NAME is "
                                                     "`{}`",
                                                     printable(path), paths, form_.name));
    }
    if (!name.empty() && decoded(name) != form_.name)
        return refuse(Status::not_found, fmt::format("there is no model `{}`; this server has `{}`",
                                                     printable(decoded(name)), form_.name));
    if (head.method != found->method) {
        Routed routed = refuse(Status::method_not_allowed,
                               fmt::format("{} is answered to {}, not to {}", found->path,
                                           found->method, printable(head.method)));
        routed.refused->allow = found->method;
        return routed;
    }
    if (head.chunked)
        return refuse(Status::length_required,
                      "the length of the body is not said; send it with Content-Length, not in "
                      "chunks");
    if (head.content_length > most_body_)
        return refuse(Status::content_too_large,
                      fmt::format("the body has {} bytes; at most {} are read (--max-body); ask "
                                  "for fewer samples at a time, or send binary tensors",
                                  head.content_length, most_body_));
    if (!head.content_encoding.empty() && lower(head.content_encoding) != "identity")
        return refuse(Status::unsupported_media_type,
                      fmt::format("the body is encoded by `{}`; send it as it is",
                                  printable(head.content_encoding)));
    return {found->route, {}};
}

Answer Service::answer_now(Route route) const {
    const auto state = [&](const char* what, bool is) {
        return Answer{.status = is ? Status::ok : Status::service_unavailable,
                      .body = write_json(Json{{what, is}})};
    };
    switch (route) {
        case Route::live:
            return state("live", true);
        case Route::ready:
            return state("ready", !ending_);
        case Route::model:
            return form_.metadata();
        case Route::model_ready:
            return {.status = ending_ ? Status::service_unavailable : Status::ok,
                    .body = write_json(Json{{"name", form_.name}, {"ready", !ending_}})};
        case Route::metrics:
            return {.status = Status::ok,
                    .body = metrics_.text(),
                    .content_type = "text/plain; version=0.0.4; charset=utf-8"};
        default:
            return {.status = Status::ok,
                    .body = write_json(Json{{"name", "dtnn-run"},
                                            {"version", DTNN_VERSION},
                                            {"extensions", {"binary_tensor_data"}}})};
    }
}

void Service::answer(Route route, const RequestHead& head, std::vector<char> body,
                     const Batcher::Deliver& deliver) {
    if (route != Route::infer) return deliver(answer_now(route));
    try {
        batcher_.submit(read_inference_request(form_, head, std::move(body)), deliver);
    } catch (const Refused& refused) {
        deliver(error_answer(refused.status(), refused.what()));
    } catch (const std::bad_alloc&) {
        deliver(error_answer(Status::service_unavailable,
                             "there is not enough memory; ask for fewer samples at a time"));
    }
}

}  // namespace dtnn::serve
