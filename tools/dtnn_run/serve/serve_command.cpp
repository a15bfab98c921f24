/// A network behind HTTP.

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/data/sources/given_samples.hpp"
#include "runtime/train/given_predictor.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/serve/batcher.hpp"
#include "tools/dtnn_run/serve/http_server.hpp"
#include "tools/dtnn_run/serve/metrics.hpp"
#include "tools/dtnn_run/serve/network_form.hpp"
#include "tools/dtnn_run/serve/service.hpp"
#include "tools/dtnn_run/start.hpp"
#include "tools/dtnn_run/trained_network.hpp"

namespace dtnn {
namespace serve {
namespace {

using runtime::Exit;
using runtime::RunError;

/// Its first line. Others than the owner must not be able to read it.
std::string read_token(const std::string& path) {
    constexpr std::int64_t kMostBytes = 4096;
    constexpr std::size_t kLeastCharacters = 16;
    std::string token = runtime::read_file(path, kMostBytes, "a token");
    struct stat found {};
    if (stat(path.c_str(), &found) == 0 && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw RunError(
            Exit::usage, fmt::format("others than its owner can use {}", path),
            fmt::format("chmod 600 {}, after which a new token is the better one", path));
    token.resize(std::min(token.find_first_of("\r\n"), token.size()));
    const bool plain =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (token.size() < kLeastCharacters || !plain)
        throw RunError(Exit::usage,
                       fmt::format("the first line of {} is no token: at least {} characters of "
                                   "ASCII without spaces",
                                   path, kLeastCharacters),
                       fmt::format("openssl rand -hex 32 > {}", path));
    return token;
}

std::string token_of(const ServeOptions& options) {
    if (!options.token_file.empty()) return read_token(options.token_file);
    if (options.socket.empty() && !is_loopback(options.address))
        throw RunError(Exit::usage,
                       fmt::format("{} can be reached from other machines, and no token is asked "
                                   "for",
                                   options.address),
                       "give --token-file FILE, and put a web server with TLS in front");
    return {};
}

/// What a batch takes as JSON, and something beside it.
std::uint64_t most_body(const ServeOptions& options, const NetworkForm& form) {
    constexpr std::uint64_t kMib = 1024 * 1024;
    constexpr std::uint64_t kBytesPerNumber = 24;  // -1.2345678806304932e-05 and a comma
    if (options.max_body_mib > 0) return std::uint64_t(options.max_body_mib) * kMib;
    return kMib + std::uint64_t(form.batch * form.numbers_per_sample) * kBytesPerNumber;
}

/// A first prediction, of zeros, so that the first client does not wait for what is done once.
void warm_up(const NetworkForm& form, runtime::GivenPredictor& network) {
    std::vector<std::vector<char>> zeros;
    std::vector<runtime::GivenArray> arrays;
    for (const plan::Feature& input : form.inputs) {
        const std::int64_t elements = element_count(input.stored_dims);
        if (elements == 0) return;  // images of any size
        runtime::GivenArray array;
        array.header.kind = runtime::NpyHeader::Kind::integer;
        array.header.item_bytes = 1;
        array.header.dims = input.stored_dims;
        array.header.dims.insert(array.header.dims.begin(), 1);
        array.bytes = zeros.emplace_back(std::size_t(elements)).data();
        arrays.push_back(std::move(array));
    }
    network.predict(std::move(arrays), [](const runtime::PredictedBatch&) {});
}

}  // namespace
}  // namespace serve

int serve_command(const Options& options) {
    using namespace serve;  // NOLINT(google-build-using-namespace): this is its command line
    const ServeOptions& wish = options.serve;
    const std::string token = token_of(wish);
    const TrainedNetwork trained = trained_network(options.plan, options.weights);
    const Start start(trained.plan);
    const plan::Plan& plan = start.loaded.plan;
    runtime::TrainedNames names = runtime::read_trained_names(trained.weights);
    runtime::Session session(plan, start.threads,
                             std::make_unique<runtime::GivenSamples>(plan.dataset),
                             runtime::FirstValues::loaded);
    load_wanted_weights(session.executor(), trained.weights, options.weight_options);
    runtime::GivenPredictor network(session.executor());
    const NetworkForm form(wish.name.empty() ? plan.name : wish.name, plan, start.loaded.checksum,
                           runtime::class_names_of(session.source(), plan.dataset, names.classes));
    warm_up(form, network);

    Metrics metrics;
    const Batcher::Limits limits = {
        wish.max_batch > 0 ? std::min<std::int64_t>(wish.max_batch, form.batch) : form.batch,
        std::chrono::microseconds(std::int64_t(1000 * wish.batch_wait_ms))};
    Batcher batcher(form, network, limits, metrics);
    Service service(form, batcher, metrics, token, most_body(wish, form));
    // A thread reads some 25,000 small requests a second.
    constexpr int kMostHttpThreads = 4;
    const int http_threads =
        wish.http_threads > 0 ? wish.http_threads : std::min(start.threads, kMostHttpThreads);
    const HttpServer server({wish.address, wish.port, wish.socket, http_threads,
                             wish.max_connections, wish.client_seconds},
                            service, metrics, [&] { batcher.stop(); });
    std::fprintf(stderr, "dtnn-run: %s at %s, in batches of %lld samples\n",
                 shown(form.name).c_str(), shown(server.where()).c_str(),
                 static_cast<long long>(limits.samples));
    batcher.run();
    return int(runtime::Exit::done);
}

}  // namespace dtnn
