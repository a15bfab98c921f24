#include "runtime/report/history_writer.hpp"

#include <cmath>
#include <utility>

#include "base/formats.hpp"
#include "base/json.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/machine.hpp"
#include "runtime/report/history_reader.hpp"

namespace dtnn::runtime {
namespace {

Json measures(const PassValues& pass) {
    Json object = Json::object();
    for (const MetricValue& value : pass.values) {
        // No two measures have one name.
        if (value.form == MetricValue::Form::number) {
            add_member(object, value.name, value.number());
        } else if (value.form == MetricValue::Form::list) {
            add_member(object, value.name, value.numbers);
        } else {
            Json rows = Json::array();
            for (auto row = value.numbers.begin(); row != value.numbers.end(); row += value.columns)
                rows.push_back(std::vector<double>(row, row + value.columns));
            add_member(object, value.name, std::move(rows));
        }
    }
    return object;
}

/// Text from outside (paths, messages) may hold any bytes; a line of the history is always UTF-8.
std::string line_of(HistoryEvent kind, const Json& facts) {
    Json line = Json::object({{"event", name_of(kind)}});
    line.update(facts);
    return write_json(line);
}

/// Names of more classes than these would make a line that nobody reads.
constexpr std::size_t kMostNamedClasses = 10'000;

}  // namespace

std::string measures_json(const PassValues& pass) {
    return write_json(measures(pass));
}

HistoryWriter::HistoryWriter(const std::string& path, const plan::Plan& plan, LineFile::Begin begin,
                             std::function<void()> put_back)
    : name_(plan.name), model_(plan.model), file_(path, begin), put_back_(std::move(put_back)) {}

void HistoryWriter::see_to_file() {
    if (file_.put_back() && put_back_) put_back_();
}

void HistoryWriter::add(const std::string& line) {
    see_to_file();
    file_.add(line);
}

void HistoryWriter::start(const std::string& checksum, int threads, double first_step_milliseconds,
                          const std::string& dataset_hash, int ranks,
                          const std::vector<std::string>& class_names) {
    const Machine machine = this_machine();
    Json line = Json({{"format", formats::kHistory.number},
                      {"time", utc_time_stamp()},
                      {"name", name_},
                      {"model", model_},
                      {"plan", checksum},
                      {"dataset", dataset_hash},
                      {"threads", threads},
                      {"ranks", ranks},
                      {"first_step_milliseconds", first_step_milliseconds},
                      {"version", DTNN_VERSION},
                      {"machine",
                       {{"host", machine.host},
                        {"system", machine.system},
                        {"processor", machine.processor},
                        {"processors", machine.processors},
                        {"memory_bytes", machine.memory_bytes}}}});
    if (!class_names.empty() && class_names.size() <= kMostNamedClasses)
        line["class_names"] = class_names;
    add(line_of(HistoryEvent::start, line));
}

void HistoryWriter::epoch(const EpochResult& result) {
    Json validation;
    if (result.validation.samples > 0) validation = measures(result.validation);
    Json step = Json::array(), loss = Json::array(), rate = Json::array();
    for (const CurvePoint& point : result.curve) {
        step.push_back(point.step);
        loss.push_back(std::isfinite(point.loss) ? Json(point.loss) : Json());
        rate.push_back(point.learning_rate);
    }
    add(line_of(HistoryEvent::epoch, {{"epoch", result.epoch},
                                      {"step", result.step},
                                      {"learning_rate", result.learning_rate},
                                      {"train", measures(result.train)},
                                      {"validation", validation},
                                      {"samples_per_second", result.samples_per_second},
                                      {"seconds", result.seconds},
                                      {"steps",
                                       {{"step", std::move(step)},
                                        {"loss", std::move(loss)},
                                        {"learning_rate", std::move(rate)}}}}));
}

void HistoryWriter::evaluate(const PassValues& test) {
    add(line_of(HistoryEvent::evaluate, {{"test", measures(test)}, {"samples", test.samples}}));
}

void HistoryWriter::stopped(const TrainingResult& result) {
    if (result.stop.empty()) return;
    add(line_of(HistoryEvent::stopped, {{"epoch", result.epoch}, {"reason", result.stop}}));
}

void HistoryWriter::restored(const TrainingResult& result) {
    if (!result.restored) return;
    add(line_of(HistoryEvent::restored, {{"epoch", result.restored->epoch},
                                         {result.restored->metric, result.restored->value}}));
}

void HistoryWriter::resume(const TrainingState& state, std::int64_t bytes, int threads, int ranks) {
    file_.cut(bytes);
    if (empty()) return;
    add(line_of(HistoryEvent::resume, {{"time", utc_time_stamp()},
                                       {"epoch", state.epoch},
                                       {"step", state.step},
                                       {"threads", threads},
                                       {"ranks", ranks}}));
}

void HistoryWriter::continued(std::int64_t epoch, std::int64_t epochs,
                              const std::vector<std::string>& spanning) {
    add(line_of(HistoryEvent::continued,
                {{"epoch", epoch}, {"epochs", epochs}, {"spanning", spanning}}));
}

std::int64_t HistoryWriter::flush() {
    see_to_file();
    file_.flush();
    return file_.bytes();
}

void HistoryWriter::interrupted(const TrainingResult& result) {
    add(line_of(HistoryEvent::interrupted, {{"epoch", result.epoch}, {"step", result.step}}));
}

void HistoryWriter::failed(const std::string& error) {
    if (!file_.is_open()) return;
    try {
        see_to_file();
    } catch (const RunError&) {  // NOLINT(bugprone-empty-catch): moved away, it is told there
    }
    file_.add(line_of(HistoryEvent::failed, Json::object({{"error", error}})));
}

}  // namespace dtnn::runtime
