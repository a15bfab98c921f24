#include "runtime/report/tensorboard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/protobuf_message.hpp"
#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kBuckets = 64;

// Numbers of the fields.
namespace event {
enum { wall_time = 1, step = 2, file_version = 3, graph_def = 4, summary = 5, session_log = 7 };
}
namespace session_log {
enum { status = 1 };
constexpr std::int64_t kStart = 1;
}  // namespace session_log
namespace summary {
enum { value = 1 };
}
namespace summary_value {
enum { tag = 1, simple_value = 2, histo = 5 };
}
namespace histogram_proto {
enum { min = 1, max = 2, num = 3, sum = 4, sum_squares = 5, bucket_limit = 6, bucket = 7 };
}
namespace graph_def {
enum { node = 1, versions = 4 };
}
namespace node_def {
enum { name = 1, op = 2, input = 3, attr = 5 };
}
namespace map_entry {
enum { key = 1, value = 2 };
}
namespace attr_value {
enum { list = 1, s = 2, i = 3, b = 5 };
constexpr int list_shape = 7;  // AttrValue.ListValue.shape
}  // namespace attr_value
namespace tensor_shape {
enum { dim = 2 };
constexpr int dim_size = 1;
}  // namespace tensor_shape

double wall_time_now() {
    using namespace std::chrono;  // NOLINT(google-build-using-namespace): durations only
    return duration<double>(system_clock::now().time_since_epoch()).count();
}

ProtobufMessage event_at(std::int64_t step) {
    ProtobufMessage message;
    message.real(event::wall_time, wall_time_now());
    if (step != 0) message.integer(event::step, step);
    return message;
}

std::string free_path(const std::string& folder) {
    create_folders(folder);
    const std::string base =
        fmt::format("{}/events.out.tfevents.{}.dtnn", folder, std::int64_t(wall_time_now()));
    std::string path = base;
    std::error_code ignored;
    for (int number = 2; std::filesystem::exists(path, ignored); ++number)
        path = fmt::format("{}-{}", base, number);
    return path;
}

ProtobufMessage shape_attribute(std::span<const std::int64_t> dims) {
    ProtobufMessage shape, list, attribute;
    // The batch is any number of samples.
    shape.message(tensor_shape::dim, ProtobufMessage().integer(tensor_shape::dim_size, -1));
    for (const std::int64_t extent : dims)
        shape.message(tensor_shape::dim, ProtobufMessage().integer(tensor_shape::dim_size, extent));
    list.message(attr_value::list_shape, shape);
    return attribute.message(attr_value::list, list);
}

ProtobufMessage attribute_of(const AttributeValue& value) {
    ProtobufMessage message;
    if (const auto* truth = std::get_if<bool>(&value))
        message.integer(attr_value::b, *truth ? 1 : 0);
    else if (const auto* whole = std::get_if<std::int64_t>(&value))
        message.integer(attr_value::i, *whole);
    else if (const auto* text = std::get_if<std::string>(&value))
        message.text(attr_value::s, *text);
    else if (const auto* real = std::get_if<double>(&value))
        message.text(attr_value::s, fmt::format("{}", *real));
    else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        message.text(attr_value::s, fmt::format("[{}]", fmt::join(*list, ", ")));
    else if (const auto* reals = std::get_if<std::vector<double>>(&value))
        message.text(attr_value::s, fmt::format("[{}]", fmt::join(*reals, ", ")));
    return message;
}

ProtobufMessage node(const std::string& name, const std::string& op,
                     std::span<const std::string> inputs, std::span<const std::int64_t> shape,
                     const Attributes& attributes) {
    ProtobufMessage message;
    message.text(node_def::name, name).text(node_def::op, op);
    for (const std::string& input : inputs)
        message.text(node_def::input, input);
    const auto attribute = [&](const std::string& key, const ProtobufMessage& value) {
        ProtobufMessage entry;
        entry.text(map_entry::key, key).message(map_entry::value, value);
        message.message(node_def::attr, entry);
    };
    attribute("_output_shapes", shape_attribute(shape));
    for (const auto& [key, value] : attributes)
        attribute(key, attribute_of(value));
    return message;
}

}  // namespace

TensorBoard::TensorBoard(const std::string& folder, std::int64_t first_step)
    : file_(free_path(folder)) {
    file_.add(event_at(0).text(event::file_version, "brain.Event:2").bytes());
    if (first_step > 0) {
        ProtobufMessage log;
        log.integer(session_log::status, session_log::kStart);
        file_.add(event_at(first_step).message(event::session_log, log).bytes());
    }
}

void TensorBoard::scalars(std::int64_t step, const Scalars& values) {
    ProtobufMessage all;
    for (const auto& [tag, value] : values) {
        ProtobufMessage one;
        one.text(summary_value::tag, tag).single(summary_value::simple_value, float(value));
        all.message(summary::value, one);
    }
    file_.add(event_at(step).message(event::summary, all).bytes());
}

void TensorBoard::histogram(std::int64_t step, const std::string& tag,
                            std::span<const double> values) {
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    double count = 0, sum = 0, squares = 0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
        ++count;
        sum += value;
        squares += value * value;
    }
    if (count == 0) return;
    const std::size_t buckets = least < greatest ? kBuckets : 1;
    const double width = (greatest - least) / double(buckets);
    std::vector<double> limits(buckets), counts(buckets);
    for (std::size_t i = 0; i < buckets; ++i)
        limits[i] = i + 1 == buckets ? greatest : least + width * double(i + 1);
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        const std::size_t place = width > 0 ? std::size_t((value - least) / width) : 0;
        ++counts[std::min(place, buckets - 1)];
    }
    ProtobufMessage histogram, one, all;
    histogram.real(histogram_proto::min, least)
        .real(histogram_proto::max, greatest)
        .real(histogram_proto::num, count)
        .real(histogram_proto::sum, sum)
        .real(histogram_proto::sum_squares, squares)
        .reals(histogram_proto::bucket_limit, limits)
        .reals(histogram_proto::bucket, counts);
    one.text(summary_value::tag, tag).message(summary_value::histo, histogram);
    all.message(summary::value, one);
    file_.add(event_at(step).message(event::summary, all).bytes());
}

void TensorBoard::graph(const plan::Plan& plan) {
    ProtobufMessage graph;
    for (const plan::Feature& input : plan.dataset.inputs)
        graph.message(graph_def::node, node(input.name.empty() ? "input" : input.name,
                                            "Placeholder", {}, input.dims, {}));
    for (const plan::Layer& layer : plan.layers)
        graph.message(graph_def::node, node(layer.name, layer.type, layer.from, layer.output_shape,
                                            layer.attributes));
    constexpr int kProducerField = 1, kProducer = 22;
    graph.message(graph_def::versions, ProtobufMessage().integer(kProducerField, kProducer));
    file_.add(event_at(0).text(event::graph_def, graph.bytes()).bytes());
}

}  // namespace dtnn::runtime
