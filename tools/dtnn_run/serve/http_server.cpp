#include "tools/dtnn_run/serve/http_server.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using runtime::Exit;
using runtime::RunError;

/// Of TCP and of Unix sockets.
using Protocol = net::generic::stream_protocol;
using Stream = beast::basic_stream<Protocol>;

constexpr std::uint32_t kMostHeader = 16 * 1024;
/// Bytes that are read at a time.
constexpr std::size_t kRead = 64 * 1024;
/// Connections beyond the limit that are told so, at a time; others wait to be let in.
constexpr std::size_t kTurnedAway = 16;
/// How long the rest of a request that was refused is read and thrown away, so that the client, who
/// may still be sending, sees the answer.
constexpr std::chrono::seconds kLinger{2};
/// The same signal within this time is the same wish (runtime/base/signals.hpp).
constexpr std::chrono::milliseconds kSameSignal{250};

std::string text_of(beast::string_view text) {
    return {text.data(), text.size()};
}

RunError usage(const std::string& fact, const std::string& help) {
    return {Exit::usage, fact, help};
}

net::ip::address address_of(const std::string& text) {
    error_code error;
    net::ip::address address = net::ip::make_address(text, error);
    if (error)
        throw usage(fmt::format("{} is no IP address", text),
                    "give --address 127.0.0.1 for this machine alone, 0.0.0.0 or :: for all");
    return address;
}

/// A socket that is left over from a server that is gone is in nobody's way.
void remove_left_over(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return;
    if (!S_ISSOCK(found.st_mode))
        throw usage(fmt::format("{} is there, and is no socket", path), "name another --socket");
    net::io_context context;
    net::local::stream_protocol::socket other(context);
    error_code error;
    other.connect(path, error);
    if (!error)
        throw RunError(Exit::failed, fmt::format("another server listens at {}", path),
                       "stop it, or name another --socket");
    unlink(path.c_str());
}

}  // namespace

bool is_loopback(const std::string& address) {
    return address_of(address).is_loopback();
}

/// The server: who listens, and who is there.
class HttpServer::Parts {
  public:
    Parts(const Listening& listening, Service& service, Metrics& metrics,
          std::function<void()> ended);
    ~Parts();
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    class Connection;

    const Listening listening_;
    Service& service_;
    Metrics& metrics_;
    std::string where_;
    std::atomic<bool> ending_ = false;

  private:
    void listen();
    void await_signal();
    void accept();
    void add(Protocol::socket socket);
    void remove(Connection* connection);
    void end();

    const std::function<void()> ended_;
    std::mutex mutex_;
    std::unordered_map<Connection*, std::weak_ptr<Connection>> connections_;  ///< by mutex_
    bool accepting_ = false;                                                  ///< by mutex_
    net::io_context context_;  ///< connections end with it at the latest, and use what is above
    net::strand<net::io_context::executor_type> strand_{context_.get_executor()};  ///< of the rest
    net::basic_socket_acceptor<Protocol> acceptor_{strand_};
    net::signal_set signals_{strand_};
    net::steady_timer timer_{strand_};
    std::vector<std::thread> threads_;
};

/// A client's connection. One request at a time; all is done in the stream's strand.
class HttpServer::Parts::Connection final : public std::enable_shared_from_this<Connection> {
  public:
    Connection(Parts& server, Protocol::socket socket, bool too_many)
        : server_(server), stream_(std::move(socket)), too_many_(too_many) {
        buffer_.reserve(kRead);
    }
    ~Connection() { server_.remove(this); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void start() {
        net::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->read_head(); });
    }
    /// Ends it if it waits for a request.
    void end_if_idle() {
        net::post(stream_.get_executor(), [self = shared_from_this()] {
            if (self->waits()) self->stream_.close();
        });
    }

  private:
    using Parser = http::request_parser<http::vector_body<char>>;

    bool waits() const { return parser_ && !parser_->got_some() && buffer_.size() == 0; }

    void set_deadline() {
        stream_.expires_after(std::chrono::seconds(server_.listening_.deadline_seconds));
    }

    void read_head() {
        parser_.emplace();
        parser_->header_limit(kMostHeader);
        // The service looks at the length that is announced.
        parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
        if (server_.ending_ && waits()) return stream_.close();
        set_deadline();
        http::async_read_header(
            stream_, buffer_, *parser_,
            [self = shared_from_this()](error_code error, std::size_t) { self->take_head(error); });
    }

    void take_head(error_code error) {
        watch_.restart();
        if (error == beast::error::timeout) {
            if (!waits()) server_.metrics_.dropped();
            return;
        }
        if (error == http::error::header_limit || error == http::error::buffer_overflow)
            return refuse(Status::bad_request,
                          fmt::format("the request's header has more than {} bytes", kMostHeader));
        if (error.category() == make_error_code(http::error::end_of_stream).category() &&
            error != http::error::end_of_stream && error != http::error::partial_message)
            return refuse(Status::bad_request,
                          fmt::format("this is no request of HTTP/1.1: {}", error.message()));
        if (error) return;
        const auto& header = parser_->get();
        head_ = {
            .method = text_of(header.method_string()),
            .target = text_of(header.target()),
            .authorization = text_of(header[http::field::authorization]),
            .origin = text_of(header[http::field::origin]),
            .content_encoding = text_of(header[http::field::content_encoding]),
            .inference_header_content_length = text_of(header["Inference-Header-Content-Length"]),
            .chunked = parser_->chunked(),
            .content_length = parser_->content_length().value_or(0)};
        if (too_many_) {
            route_ = Route::none;
            return refuse(Status::service_unavailable,
                          fmt::format("there are {} connections already (--max-connections); try "
                                      "again later",
                                      server_.listening_.connections));
        }
        Service::Routed routed = server_.service_.route(head_);
        route_ = routed.route;
        if (routed.refused) {
            ends_ = ends_ || !parser_->is_done();
            return write(std::move(*routed.refused));
        }
        if (!beast::iequals(header[http::field::expect], "100-continue")) return read_body();
        set_deadline();
        continue_.emplace(http::status::continue_, parser_->get().version());
        http::async_write(stream_, *continue_,
                          [self = shared_from_this()](error_code failed, std::size_t) {
                              if (!self->is_dropped(failed)) self->read_body();
                          });
    }

    void read_body() {
        set_deadline();
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](error_code error, std::size_t) {
                             if (!self->is_dropped(error)) self->answer();
                         });
    }

    /// Whether nothing more can be done with this client.
    bool is_dropped(error_code error) {
        if (error == beast::error::timeout) server_.metrics_.dropped();
        return bool(error);
    }

    void answer() {
        server_.service_.answer(route_, head_, std::move(parser_->get().body()),
                                [self = shared_from_this()](Answer answer) {
                                    net::post(self->stream_.get_executor(),
                                              [self, answer = std::move(answer)]() mutable {
                                                  self->write(std::move(answer));
                                              });
                                });
    }

    /// What is left of the request is not looked at.
    void refuse(Status status, const std::string& reason) {
        ends_ = true;
        write(error_answer(status, reason));
    }

    void write(Answer answer) {
        server_.metrics_.answered(route_, answer.status, watch_.seconds());
        ends_ = ends_ || server_.ending_ || !parser_->keep_alive();
        response_ = {};
        response_.result(unsigned(answer.status));
        response_.set(http::field::content_type, answer.content_type);
        if (!answer.allow.empty()) response_.set(http::field::allow, answer.allow);
        if (!answer.inference_header_content_length.empty())
            response_.set("Inference-Header-Content-Length",
                          answer.inference_header_content_length);
        if (answer.status == Status::unauthorized)
            response_.set(http::field::www_authenticate, "Bearer");
        if (answer.status == Status::service_unavailable)
            response_.set(http::field::retry_after, "1");
        response_.keep_alive(!ends_);
        response_.body() = std::move(answer.body);
        response_.prepare_payload();
        set_deadline();
        http::async_write(stream_, response_,
                          [self = shared_from_this()](error_code error, std::size_t) {
                              if (self->is_dropped(error)) return;
                              self->ends_ ? self->finish() : self->read_head();
                          });
    }

    /// Closes without cutting the answer off.
    void finish() {
        error_code ignored;
        stream_.socket().shutdown(net::socket_base::shutdown_send, ignored);
        if (parser_->is_done()) return stream_.close();
        stream_.expires_after(kLinger);
        linger();
    }
    void linger() {
        stream_.async_read_some(net::buffer(thrown_away_),
                                [self = shared_from_this()](error_code error, std::size_t) {
                                    if (!error) self->linger();
                                });
    }

    Parts& server_;
    Stream stream_;
    const bool too_many_;
    beast::flat_buffer buffer_;
    std::optional<Parser> parser_;  ///< of the request that is read or answered
    RequestHead head_;
    Route route_ = Route::none;
    bool ends_ = false;  ///< with the answer
    runtime::Stopwatch watch_;
    std::optional<http::response<http::empty_body>> continue_;
    http::response<http::string_body> response_;
    std::array<char, 16 * 1024> thrown_away_;
};

HttpServer::Parts::Parts(const Listening& listening, Service& service, Metrics& metrics,
                         std::function<void()> ended)
    : listening_(listening), service_(service), metrics_(metrics), ended_(std::move(ended)) {
    listen();
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1})
        signals_.add(signal);
    // nohup has it ignored: that is meant.
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) signals_.add(SIGHUP);
    await_signal();
    net::dispatch(strand_, [this] { accept(); });
    for (int i = 0; i < listening_.threads; ++i)
        threads_.emplace_back([this] {
            while (true) {
                try {
                    context_.run();
                    return;
                } catch (const std::exception& error) {
                    // The connection has ended with it.
                    std::fprintf(stderr, "dtnn-run: a connection failed: %s\n",
                                 shown_lines(error.what()).c_str());
                }
            }
        });
}

HttpServer::Parts::~Parts() {
    context_.stop();
    for (std::thread& thread : threads_)
        thread.join();
    if (!listening_.socket.empty()) unlink(listening_.socket.c_str());
}

void HttpServer::Parts::listen() {
    const auto open = [&](const Protocol::endpoint& endpoint, const std::string& help) {
        try {
            acceptor_.open(endpoint.protocol());
            if (listening_.socket.empty())
                acceptor_.set_option(net::socket_base::reuse_address(true));
            acceptor_.bind(endpoint);
            acceptor_.listen();
        } catch (const boost::system::system_error& error) {
            throw RunError(Exit::failed,
                           fmt::format("cannot listen at {}: {}", where_, error.code().message()),
                           help);
        }
    };
    if (listening_.socket.empty()) {
        const net::ip::tcp::endpoint wanted(address_of(listening_.address),
                                            std::uint16_t(listening_.port));
        const auto name = [](const net::ip::tcp::endpoint& endpoint) {
            const std::string host = endpoint.address().to_string();
            return endpoint.address().is_v6() ? fmt::format("http://[{}]:{}", host, endpoint.port())
                                              : fmt::format("http://{}:{}", host, endpoint.port());
        };
        where_ = name(wanted);
        open(wanted, "choose another --port, 0 for any that is free, or another --address");
        net::ip::tcp::endpoint found;
        const Protocol::endpoint local = acceptor_.local_endpoint();
        std::memcpy(found.data(), local.data(), std::min(found.capacity(), local.size()));
        where_ = name(found);
        return;
    }
    where_ = "unix:" + listening_.socket;
    remove_left_over(listening_.socket);
    std::optional<net::local::stream_protocol::endpoint> wanted;
    try {
        wanted.emplace(listening_.socket);
    } catch (const boost::system::system_error&) {
        throw usage(fmt::format("{} is too long for the path of a socket", listening_.socket),
                    "name a --socket of fewer than 108 bytes");
    }
    // For its owner alone; no other thread makes files yet.
    const mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
    try {
        open(*wanted, "name a --socket in a folder that you can write to");
    } catch (...) {
        umask(before);
        throw;
    }
    umask(before);
}

void HttpServer::Parts::await_signal() {
    signals_.async_wait([this](error_code error, int) {
        if (error) return;
        std::fprintf(stderr, "dtnn-run: a signal: what has begun is answered\n");
        end();
        // Behind this time the next one ends the program, as the system does it.
        timer_.expires_after(kSameSignal);
        timer_.async_wait([this](error_code cancelled) {
            if (!cancelled) signals_.clear();
        });
    });
}

void HttpServer::Parts::accept() {
    {
        const std::lock_guard lock(mutex_);
        accepting_ =
            !ending_ && connections_.size() < std::size_t(listening_.connections) + kTurnedAway;
        if (!accepting_) return;
    }
    acceptor_.async_accept(net::make_strand(context_),
                           [this](error_code error, Protocol::socket socket) {
                               if (error == net::error::operation_aborted) return;
                               if (!error) {
                                   add(std::move(socket));
                                   return accept();
                               }
                               // There are no descriptors left, say; some come back when
                               // connections end.
                               timer_.expires_after(std::chrono::milliseconds(100));
                               timer_.async_wait([this](error_code cancelled) {
                                   if (!cancelled) accept();
                               });
                           });
}

void HttpServer::Parts::add(Protocol::socket socket) {
    error_code ignored;
    if (listening_.socket.empty()) socket.set_option(net::ip::tcp::no_delay(true), ignored);
    std::shared_ptr<Connection> connection;
    {
        const std::lock_guard lock(mutex_);
        const bool too_many = connections_.size() >= std::size_t(listening_.connections);
        connection = std::make_shared<Connection>(*this, std::move(socket), too_many);
        connections_.emplace(connection.get(), connection);
        metrics_.connection(1);
    }
    connection->start();
}

void HttpServer::Parts::remove(Connection* connection) {
    bool resume = false, last = false;
    {
        const std::lock_guard lock(mutex_);
        connections_.erase(connection);
        metrics_.connection(-1);
        resume = !std::exchange(accepting_, true) && !ending_;
        last = ending_ && connections_.empty();
    }
    if (resume) net::post(strand_, [this] { accept(); });
    if (last) ended_();
}

void HttpServer::Parts::end() {
    std::vector<std::shared_ptr<Connection>> all;
    service_.end();
    error_code ignored;
    acceptor_.close(ignored);
    bool last = false;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        last = connections_.empty();
        for (const auto& [key, connection] : connections_)
            if (std::shared_ptr<Connection> one = connection.lock()) all.push_back(std::move(one));
    }
    for (const std::shared_ptr<Connection>& connection : all)
        connection->end_if_idle();
    if (last) ended_();
}

HttpServer::HttpServer(const Listening& listening, Service& service, Metrics& metrics,
                       std::function<void()> ended)
    : parts_(std::make_unique<Parts>(listening, service, metrics, std::move(ended))) {}

HttpServer::~HttpServer() = default;

const std::string& HttpServer::where() const {
    return parts_->where_;
}

}  // namespace dtnn::serve
